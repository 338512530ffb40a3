import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.samples.java_samples import java_site

from cutset.model.reproduction.result import Language
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.jvm.replay_script import write_replay
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

EFFECT = "java.io.IOException(\"a 'quote', a $variable, an ü\")"


JAVA = ("/opt/java", "-ea", "-cp", "/it's a lib/*:/b", "org.Main", "a b", "$x")
SCRIPT = ("/bin/serve.sh", "`x`")


def written(folder: Path, command: Sequence[str], cwd: Path | None = None) -> Path:
    """With two faults: the second on top of the first."""
    fired = [
        FiredFault(java_site(f"shop.Bank::pay::Socket.send#{number}"), 8, 5, EFFECT, "", 3, 0, "main", (), None, "", 0)
        for number in range(2)
    ]
    case = FailureCase(
        sources=("org.shop",),
        search_path=(),
        drivers=("work",),
        failure_log="",
        workload=Workload(tuple(command), timeout_s=90, cwd=cwd, env={"MODE": "it's $HOME"}),
        oracle=parse_oracle("log:it's lost"),
        language=Language.JVM,
    )
    return write_replay(folder, case, fired)


@pytest.fixture(scope="module")
def script(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert jar.exists()
    return written(tmp_path_factory.mktemp("java"), JAVA)


def commands_in(script: Path) -> list[str]:
    return [line.strip() for line in script.read_text().splitlines()]


def test_what_is_copied_imports_nothing_but_itself_and_the_standard_library(script: Path) -> None:
    vendor = script.parent / "vendor"
    known = sys.stdlib_module_names | {"cutset"}

    assert (vendor / "cutset/reproduce/jvm/cutset-jvm.jar").exists()
    for path in vendor.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= known, path


def test_the_shell_script_has_the_command_with_java_and_class_path_as_variables(script: Path) -> None:
    run = """"$java" -ea -cp "$class_path" org.Main 'a b' '$x' >"$folder/run.log" 2>&1 </dev/null &"""

    assert {"java=/opt/java", """class_path='/it'"'"'s a lib/*:/b'""", run} <= set(commands_in(script))


def test_the_shell_script_of_a_start_script_has_its_command(script: Path, tmp_path: Path) -> None:
    other = written(tmp_path, SCRIPT, cwd=tmp_path)

    assert {f"cd {tmp_path} || exit", """/bin/serve.sh '`x`' >"$folder/run.log" 2>&1 </dev/null &"""} <= set(
        commands_in(other)
    )
    for shell in filter(shutil.which, ("sh", "dash", "bash")):
        for path in (script, other):
            assert subprocess.run([shell, "-n", path], check=False).returncode == 0
            assert "@" not in path.read_text().replace('"$@"', "").replace("/@OUT@", "")


def test_the_plan_of_the_shell_script_has_all_faults_and_a_place_for_its_folder(script: Path) -> None:
    plan = json.loads(script.with_name("plan.json").read_text())

    assert plan["out"] == "/@OUT@"
    assert [row[:4] for row in plan["sites"]] == [
        [0, "shop.Bank", "pay", "Socket.send"],
        [1, "shop.Bank", "pay", "Socket.send"],
    ]
    assert plan["ground"] == [[0, 5, EFFECT, ""]]
    assert plan["window"] == [[1, 5, EFFECT, ""]]


def test_writing_again_leaves_nothing_of_the_earlier_replay(script: Path) -> None:
    (script.parent / "vendor/cutset/old.py").write_text("")

    written(script.parent, JAVA)

    assert not (script.parent / "vendor/cutset/old.py").exists()
