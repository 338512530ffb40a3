"""Nothing but the command line uses the command line: benchmarks, examples and tests of anything else use `app`.

Inside the product, the layers of import-linter say so (pyproject.toml); this is for what is outside it.
"""

import ast
from pathlib import Path

from checks.sources import python_files

CLI = "cutset.cli"
OUTSIDE = ("benchmarks", "examples", "tests", "docs")
ITS_OWN = (Path("tests/cutset/cli"), Path("docs/command_reference.py"))  # its tests, and what writes its reference


def cli_imports(root: Path) -> dict[str, str]:
    found = {}
    for path in python_files(root, *OUTSIDE):
        inside = path.relative_to(root)
        if any(map(inside.is_relative_to, ITS_OWN)):
            continue
        if lines := [line for line, module in imported_modules(ast.parse(path.read_text())) if _is_cli(module)]:
            found[str(inside)] = f"{inside}:{lines[0]} imports {CLI}"
    return found


def imported_modules(tree: ast.Module) -> list[tuple[int, str]]:
    """Lines and names of all that is imported, also inside functions; `from a import b` may mean a.b."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, alias.name) for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                found += [(node.lineno, f"{module}.{alias.name}") for alias in names]
    return found


def _is_cli(module: str) -> bool:
    return module == CLI or module.startswith(f"{CLI}.")
