import os
import sys
from pathlib import Path

import pytest

from cutset.errors import UsageError
from cutset.reproduce.python.interpreter import is_python, modules_path


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("python", True),
        ("/usr/bin/python3.11", True),
        ("pypy3", True),
        ("python3.13t", True),
        ("pytest", False),
        ("ipython", False),
        ("/opt/python/bin/run", False),
    ],
)
def test_an_interpreter_is_known_by_its_name(program: str, expected: bool):
    assert is_python(program) is expected


def test_it_tells_where_it_looks_for_modules(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    found = modules_path(sys.executable, {**os.environ, "PYTHONPATH": f"mine{os.pathsep}/of/others"}, tmp_path)
    assert found[:2] == [str(tmp_path / "mine"), "/of/others"]
    assert any(path.endswith("site-packages") for path in found)


@pytest.mark.parametrize("program", ["/no/such/python", "/bin/false"])
def test_what_is_no_python_is_a_mistake_of_the_user(tmp_path: Path, program: str):
    with pytest.raises(UsageError, match="does not tell where it looks for modules"):
        modules_path(program, {}, tmp_path)
