"""Tests mirror the source, as mitmproxy's `test/filename_matching.py` has it.

`src/cutset/x/y.py` is tested by `tests/cutset/x/test_y.py`, and a test file of the mirrored tree is named after a
source file (`y.py`, also `y.lua` or `Y.yaml`; its package, for `__init__.py`), or begins with such a name:
`test_y_under_load.py`. Files that only declare something, as protocols and plain dataclasses do, need none.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from checks.sources import PRODUCT, product_files, python_files

UNTESTED = {"__init__.py", "__main__.py"}  # a name and an entry: what they call is tested where it is
A_TEST = "test_"  # one that users get, and that ours run


def does_something(source: str) -> bool:
    """Whether there is a function with a body: what only declares types and constants has nothing to test."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, functions)
        for line in node.body
    )


def untested_files(root: Path) -> dict[str, str]:
    sources = [path for path in product_files(root) if _needs_tests(path)]
    tests = {path.relative_to(root): mirrored(path, root) for path in sources}
    return {str(path): f"{path} has no {test}" for path, test in tests.items() if not (root / test).exists()}


def _needs_tests(path: Path) -> bool:
    return path.name not in UNTESTED and not path.name.startswith(A_TEST) and does_something(path.read_text())


def stray_tests(root: Path) -> dict[str, str]:
    """Tests whose source file has moved away, and left them behind."""
    homes = {mirrored(path, root).with_suffix("") for path in _any_files(root)}
    strays = {}
    for package in {home.parts[1] for home in homes}:
        for path in python_files(root, f"tests/{package}"):
            test = path.relative_to(root)
            if test.name.startswith(A_TEST) and not any(_belongs(test, home) for home in homes):
                source = Path(*test.parts[1:-1]) / test.name.removeprefix(A_TEST)
                strays[str(test)] = f"{test} tests no source file: there is no {source}"
    return strays


def mirrored(source: Path, root: Path) -> Path:
    """Where the tests of a source file are, seen from the root."""
    folder = next(root / each for each in PRODUCT if source.is_relative_to(root / each))
    inside = source.relative_to(folder)
    return Path("tests") / inside.parent / f"{A_TEST}{inside.name}"


def _any_files(root: Path) -> Iterator[Path]:
    for folder in PRODUCT:
        for path in (root / folder).rglob("*.*"):
            if "__pycache__" not in path.parts and path.is_file():
                yield path.with_name(f"{path.parent.name}.py") if path.name == "__init__.py" else path


def _belongs(test: Path, home: Path) -> bool:
    name = home.name.lower()
    return test.parent == home.parent and (test.stem == name or test.stem.startswith(f"{name}_"))
