"""Functions of the user's own that a configuration names: `tests/oracle.py:is_good`, or `package.module:is_good`.

They are looked for in the folder of the configuration, modules also where Python finds them. A file is executed when
its function is called for the first time, never when a configuration is merely read. What is wrong with it is told with
its line, as everything that is wrong with a configuration.
"""

import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from cutset.errors import UsageError

FUNCTION = re.compile(r"(?:(?P<file>[^:]+\.py)|(?P<module>[A-Za-z_]\w*(?:\.\w+)*)):(?P<name>[A-Za-z_]\w*)")


def function_file(text: str, folder: Path) -> Path:
    match = FUNCTION.fullmatch(text)
    assert match is not None, text
    if match["module"]:
        return _module_file(text, match["module"], folder)
    path = (folder / match["file"]).absolute()
    if not path.is_file():
        raise UsageError(f"`{text}`: there is no file `{path}`", hint="Paths count from the file that names them")
    return path


def _module_file(text: str, module: str, folder: Path) -> Path:
    with _importing_from(folder.absolute()):
        try:
            found = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            found = None
    if found is None or not found.origin or not Path(found.origin).is_file():
        raise UsageError(f"`{text}`: there is no module `{module}`", hint=f"It is looked for in `{folder}` first")
    return Path(found.origin)


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def named_function(text: str, folder: Path) -> Callable[..., Any]:
    """Loads it when it is called. `text` is of the form `file.py:name` or `module:name`."""
    function_file(text, folder)  # raises, if there is none

    def call(*arguments: Any) -> Any:
        return loaded_function(text, folder)(*arguments)

    return call


@cache
def loaded_function(text: str, folder: Path) -> Callable[..., Any]:
    path, name = function_file(text, folder), text.rpartition(":")[2]
    found = getattr(_module(path, text.rpartition(":")[0], folder.absolute()), name, None)
    if not callable(found):
        raise UsageError(f"`{path}` has no function `{name}`", hint="Name one that is defined there")
    return found  # type: ignore[no-any-return]


@cache
def _module(path: Path, named: str, folder: Path) -> ModuleType:
    # Beside it may be what it imports, as for any script.
    with _importing_from(folder, path.parent):
        try:
            return _executed(path) if named.endswith(".py") else importlib.import_module(named)
        except Exception as error:
            raise UsageError(
                f"`{path}`, line {_line_in(path, error)}: {type(error).__name__}: {error}",
                hint="It is executed like any script: see whether `python` runs it",
            ) from error


def _executed(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"cutset_user_{digest_of(path)}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importing_from(*folders: Path) -> Iterator[None]:
    names = [str(folder) for folder in folders]
    sys.path[:0] = names
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in names:
            sys.path.remove(name)


def _line_in(path: Path, error: Exception) -> int:
    if isinstance(error, SyntaxError) and error.lineno:
        return error.lineno
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return (frames or [1])[-1] or 1
