import base64
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.errors import UsageError
from cutset.inject.ecdsa import new_private_key
from cutset.inject.signing import public_key_of


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cutset", "agent", "run", *arguments]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("CUTSET_")}
    return subprocess.run(command, env={**bare, **environment}, capture_output=True, text=True, check=False)


def test_the_command_runs_with_the_agent_and_its_exit_code_is_ours() -> None:
    program = "import os, sys; print(os.environ['CUTSET_SERVICE'], 'cutset_agent.hooks' in sys.modules); sys.exit(7)"
    done = run("--service", "orders", "--", sys.executable, "-c", program, CUTSET_KEY="key" * 11)
    assert (done.stdout, done.returncode) == ("orders True\n", 7)


def test_without_a_key_it_says_what_to_do() -> None:
    done = run("--", sys.executable, "-c", "pass")
    assert done.returncode == 2
    assert "`CUTSET_KEY` is not set" in done.stderr


def test_a_command_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSET_KEY", "key" * 11)
    result = CliRunner().invoke(app, ["agent", "run", "--", "no-such-command"])
    assert isinstance(result.exception, UsageError)
    assert "no-such-command" in result.exception.message


def test_alone_it_shows_its_help_and_no_error() -> None:
    done = subprocess.run([sys.executable, "-m", "cutset", "agent"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Run a command with the agent in it" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(("option", "agreed"), [((), "None"), (("--allow-uncontained",), "1")])
def test_faults_that_reach_others_are_to_be_agreed_to(option: tuple[str, ...], agreed: str) -> None:
    program = "import os; print(os.environ.get('CUTSET_UNCONTAINED'))"
    done = run(*option, "--", sys.executable, "-c", program, CUTSET_KEY="key" * 11)
    assert done.stdout == f"{agreed}\n"


def test_of_a_private_key_the_service_gets_the_public_one_alone() -> None:
    pem = new_private_key()
    program = "import os; print(os.environ.get('CUTSET_KEY'), os.environ.get('CUTSET_PUBLIC_KEY'))"
    public = base64.b64encode(public_key_of(pem)).decode()
    for given in ({"CUTSET_KEY": pem.decode()}, {"CUTSET_KEY": "x" * 32, "CUTSET_PUBLIC_KEY": public}):
        assert run("--", sys.executable, "-c", program, **given).stdout == f"None {public}\n"
    done = run("--", sys.executable, "-c", program, CUTSET_PUBLIC_KEY="none")
    assert (done.returncode, "holds no public key" in done.stderr) == (2, True)
