import ast
import json
import shutil
import subprocess
import sys
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


@pytest.fixture(autouse=True)
def needs_the_jar(jar: Path) -> None:
    assert jar.exists()


def written(folder: Path, *command: str, cwd: Path | None = None, faults: int = 1) -> Path:
    fired = [
        FiredFault(java_site(f"shop.Bank::pay::Socket.send#{number}"), 8, 5, EFFECT, "", 3, 0, "main", (), None, "", 0)
        for number in range(faults)
    ]
    workload = Workload(command or ("java", "Main"), timeout_s=90, cwd=cwd, env={"MODE": "it's $HOME"})
    case = FailureCase(("org.shop",), (), ("work",), "", workload, parse_oracle("log:it's lost"), language=Language.JVM)
    return write_replay(folder, case, fired)


def shell_lines(script: Path) -> list[str]:
    return [line.strip() for line in script.read_text().splitlines()]


def test_what_is_copied_imports_nothing_but_itself_and_the_standard_library(tmp_path: Path) -> None:
    vendor = written(tmp_path).parent / "vendor"
    known = sys.stdlib_module_names | {"cutset"}

    assert (vendor / "cutset/reproduce/jvm/cutset-jvm.jar").exists()
    for path in vendor.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= known, path


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (
            ("/opt/java", "-ea", "-cp", "/my lib/*:/b", "org.Main", "a b", "CLASS"),
            ["java=/opt/java", "class_path='/my lib/*:/b'", '"$java" -ea -cp "$class_path" org.Main \'a b\' CLASS'],
        ),
        (("java", "Main"), ["java=java", "class_path=''", '"$java" -cp "$class_path" Main']),
        (("/bin/serve.sh", "x"), ["java=", "class_path=", "/bin/serve.sh x"]),
    ],
)
def test_the_shell_script_has_the_command_with_java_and_class_path_as_variables(
    tmp_path: Path, command: tuple[str, ...], lines: list[str]
) -> None:
    *variables, run = lines

    found = shell_lines(written(tmp_path, *command))

    assert set(variables) <= set(found)
    assert f'{run} >"$folder/run.log" 2>&1 </dev/null &' in found


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_whatever_is_in_the_case_the_shell_script_can_be_read(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    for command in (("java", "-cp", "it's", "Main", "$x"), ("/bin/serve.sh", "`x`")):
        script = written(tmp_path, *command, cwd=tmp_path, faults=2)

        assert subprocess.run([shell, "-n", script], check=False).returncode == 0
        assert "@" not in script.read_text().replace('"$@"', "").replace("/@OUT@", "")


def test_the_plan_of_the_shell_script_has_all_faults_and_a_place_for_its_folder(tmp_path: Path) -> None:
    plan = json.loads(written(tmp_path, faults=2).with_name("plan.json").read_text())

    assert plan["out"] == "/@OUT@"
    assert [row[:4] for row in plan["sites"]] == [
        [0, "shop.Bank", "pay", "Socket.send"],
        [1, "shop.Bank", "pay", "Socket.send"],
    ]
    assert plan["ground"] == [[0, 5, EFFECT, ""]]
    assert plan["window"] == [[1, 5, EFFECT, ""]]


def test_writing_again_leaves_nothing_of_the_earlier_replay(tmp_path: Path) -> None:
    (written(tmp_path).parent / "vendor/cutset/old.py").write_text("")

    written(tmp_path)

    assert not (tmp_path / "vendor/cutset/old.py").exists()
