import os
import sys
from pathlib import Path

import pytest

from cutset.config.python_command import (
    absolute_words,
    check_script,
    files_named,
    interpreter_of,
    modules_named,
    runs_module,
    search_path,
)
from cutset.config.workload_command import find_program, split_command
from cutset.errors import UsageError


def script(path: Path, first_line: str) -> str:
    path.write_text(f"{first_line}\nprint('hello')\n")
    path.chmod(0o755)
    return str(path)


def test_a_module_to_run_and_a_program_on_the_path_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "python").mkdir()

    assert absolute_words(["python", "-m", "shop", "shop"], tmp_path) == ["python", "-m", "shop", f"{tmp_path}/shop"]
    assert absolute_words(["bin/serve"], tmp_path) == [f"{tmp_path}/bin/serve"]


@pytest.mark.parametrize(
    ("command", "is_module"),
    [
        ("python -m shop", True),
        ("python3.12 -X dev -um shop", True),
        ("python -Wignore -mshop x", True),
        ("python -c 'import shop'", True),
        ("python shop.py -m x", False),
        ("pytest -m slow", False),
        ("python", False),
    ],
)
def test_python_is_seen_to_look_for_modules_in_the_current_folder(command: str, is_module: bool) -> None:
    assert runs_module(split_command(command)) is is_module


def test_the_interpreter_is_the_program_or_in_its_first_line(tmp_path: Path) -> None:
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    python = find_program("python", env, tmp_path)
    long = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''"

    assert interpreter_of(python, env, tmp_path) == python
    assert interpreter_of(script(tmp_path / "a", f"#!{sys.executable}"), env, tmp_path) == sys.executable
    assert interpreter_of(script(tmp_path / "b", "#!/usr/bin/env python"), env, tmp_path) == python
    assert interpreter_of(script(tmp_path / "c", long), env, tmp_path) == sys.executable


def test_a_program_of_another_kind_does_not_tell_its_python(tmp_path: Path) -> None:
    program = script(tmp_path / "run", "#!/bin/sh")

    with pytest.raises(UsageError, match="cannot be told which Python") as error:
        interpreter_of(program, os.environ, tmp_path)
    assert "--python" in error.value.hint


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()

    for command in (
        f"python -X dev {tmp_path}/here.py",
        "python -m nope",
        "python -mnope x",
        "pytest nope.py",
        "python",
    ):
        check_script(split_command(command), None)
    check_script(["python", "here.py"], tmp_path)
    for cwd, name in ((None, "here.py"), (tmp_path, "nope.py"), (tmp_path, "/nope.py")):
        with pytest.raises(UsageError, match=f"the script `{name}` does not exist"):
            check_script(["python", name], cwd)


def test_the_search_path_is_that_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}/lib"}

    by_script = search_path(sys.executable, ["python", "-X", "dev", f"{tmp_path}/app/main.py"], env, None)
    by_module = search_path(sys.executable, ["python", "-m", "app"], env, tmp_path)
    other = search_path(sys.executable, ["pytest", "tests"], env, None)

    assert by_script[:2] == (f"{tmp_path}/app", f"{tmp_path}/lib")
    assert by_module[:2] == (str(tmp_path), f"{tmp_path}/lib")
    assert other[0] == f"{tmp_path}/lib"


def test_what_is_no_python_does_not_tell_a_search_path() -> None:
    with pytest.raises(UsageError, match="`/bin/false` does not tell where it looks for modules"):
        search_path("/bin/false", ["x"], os.environ, None)


def test_python_files_of_the_command_drive_the_system(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").touch()

    assert files_named(["pytest", "test_a.py::test_b", "absent.py", "-q"], tmp_path) == [f"{tmp_path}/test_a.py"]


@pytest.mark.parametrize(
    ("words", "modules"),
    [
        (["python", "-um", "shop.worker", "x"], ["shop"]),
        (["python3", "work.py", "-m", "x"], []),
        (["./run", "-m", "x"], []),
    ],
)
def test_the_module_that_python_is_to_run_is_known(words: list[str], modules: list[str]) -> None:
    assert modules_named(words) == modules
