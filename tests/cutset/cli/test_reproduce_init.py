"""A case.yaml that is begun, as a user meets it."""

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.errors import UsageError

EXAMPLE = Path(__file__).parents[3] / "examples/reproduce"
RUN = f"{shlex.quote(sys.executable)} workload.py"
BEGIN = ["reproduce", "--init", "--run", RUN, "--log", "failure.log"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__", ".cutset", "*.yaml"))
    monkeypatch.chdir(tmp_path / "example")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def test_on_a_terminal_two_answers_make_a_case_that_can_be_searched_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutset.cli.reproduce_init.is_terminal", lambda: True)

    begun = CliRunner().invoke(app, ["reproduce", "--init"], input=f"{RUN}\nfailure.log\n\n\n")

    assert begun.exit_code == 0, begun
    assert "What is the symptom?\n  1  log:6 of 12 orders are on disk  the last message of the log\n" in begun.output
    assert (
        "Which package is in question?\n  1  outbox  the workload imports it; the failure log names it" in begun.output
    )
    assert "✓ the oracle recognises the failure log" in begun.output
    assert begun.output.endswith("Next: `cutset reproduce case.yaml`\n")
    assert "oracle: log:6 of 12 orders are on disk\n" in Path("case.yaml").read_text()
    assert list((folder / "temporary").iterdir()) == []
    searched = CliRunner().invoke(app, ["reproduce", "case.yaml", "--closer", "0"])
    assert searched.exit_code == 0, searched.output


def test_answers_may_be_of_ones_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.cli.reproduce_init.is_terminal", lambda: True)

    begun = CliRunner().invoke(app, BEGIN, input="log:wrote\n1, ./workload.py\n")

    assert begun.exit_code == 1
    assert "✗ without a fault, the oracle holds: run.log:1" in begun.output
    assert "Correct case.yaml first" in begun.output
    assert "source:\n- outbox\n- ./workload.py\n" in Path("case.yaml").read_text()


def test_what_cannot_be_an_answer_is_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.cli.reproduce_init.is_terminal", lambda: True)

    begun = CliRunner().invoke(app, BEGIN, input="99\nlogg:wrote\n1\noutbx\noutbox\n")

    assert begun.exit_code == 0, begun.output
    assert "error: There is no proposal 99" in begun.output
    assert "error: oracle `logg:wrote`, at character 1" in begun.output
    assert "Did you mean `outbox`?" in begun.output
    assert "oracle: log:6 of 12 orders are on disk\n" in Path("case.yaml").read_text()


def test_without_a_terminal_options_say_it_all_and_what_is_likely_is_told(folder: Path) -> None:
    lacking = CliRunner().invoke(app, [*BEGIN, "--source", "outbox"])
    complete = CliRunner().invoke(app, [*BEGIN, "first.yaml", "--source", "outbox", "--oracle", "log:6 of 12"])

    assert isinstance(lacking.exception, UsageError)
    assert "`--oracle 'log:6 of 12 orders are on disk'` (the last message of the log)" in lacking.exception.hint
    assert complete.exit_code == 0
    assert Path("first.yaml").exists()


def test_nothing_is_overwritten_and_nobody_is_asked_for_nothing(folder: Path) -> None:
    Path("case.yaml").write_text("")

    begun = CliRunner().invoke(app, BEGIN)

    assert isinstance(begun.exception, UsageError)
    assert "`case.yaml` is there already" in begun.exception.message
    assert "What is the symptom" not in begun.output


def test_there_must_be_a_command_and_a_log(folder: Path) -> None:
    begun = CliRunner().invoke(app, ["reproduce", "--init", "--run", RUN])

    assert isinstance(begun.exception, UsageError)
    assert begun.exception.message.startswith("`--log` must be given")
