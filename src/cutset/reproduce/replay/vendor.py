"""Copies a module of ours, and all of ours that it imports, to where they run without Cutset."""

import ast
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("cutset", "cutset_agent")


def copy_needed(start: str, vendor: Path) -> None:
    for module, path in _needed(start).items():
        name = module.replace(".", "/") + ("/__init__.py" if path.name == "__init__.py" else ".py")
        copy_file(path, vendor / name)


def copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def file_of(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None, f"{module} is gone"
    assert spec.origin is not None
    return Path(spec.origin)


def _needed(start: str) -> dict[str, Path]:
    """A module and all of ours that it imports, near and far, with the packages around them."""
    found: dict[str, Path] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module] = file_of(module)
            waiting += [*_imports(found[module]), *filter(None, [module.rpartition(".")[0]])]
    return found


def _imports(path: Path) -> Iterator[str]:
    for node in _loaded(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in _PACKAGES:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = [module for module in modules if _is_package(node.module) and find_spec(module)]
            yield from inside or [node.module]


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: not functions, nor what is for type checkers alone."""
    yield node
    for part in ast.iter_child_nodes(node):
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
        yield from _loaded(part)


def _is_package(module: str) -> bool:
    return file_of(module).name == "__init__.py"
