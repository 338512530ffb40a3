"""The command of a workload, and what it means in another folder.

Rounds run in folders of their own, so that what the command names in the user's folder is named absolutely first. What
only a language can tell of a command is in a file of that language, with the functions of `CommandReader`.
"""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cutset.errors import UsageError


@dataclass(frozen=True, slots=True)
class GivenCommand:
    """What a case says of the command that it runs."""

    words: tuple[str, ...]
    env: Mapping[str, str]  # the whole of it
    cwd: Path | None  # None: a new folder for each round, where nothing is
    runtime: str | None  # the interpreter, or the JVM
    class_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadCommand:
    """The same, found: what runs it and where that finds code; files, and modules or classes, that it names."""

    words: tuple[str, ...]
    runtime: str
    search_path: tuple[str, ...]
    scripts: tuple[str, ...]
    modules: tuple[str, ...]


class CommandReader(Protocol):
    """What a language knows of the commands that run its programs."""

    @property
    def PATH_VARIABLE(self) -> str: ...  # noqa: N802 - a module is one

    def absolute_words(self, words: Sequence[str], folder: Path) -> list[str]: ...

    def looked_in(self, words: Sequence[str], places: Sequence[str], folder: Path) -> list[str]:
        """Where a command that is started in the folder looks for code besides, if `places` are in the variable."""
        ...

    def find_command(self, given: GivenCommand) -> WorkloadCommand: ...

    def find_sources(self, name: str, search_path: Sequence[str]) -> list[str]:
        """As the analysis takes them; what is not there is an error."""
        ...

    def find_drivers(self, names: Sequence[str], command: WorkloadCommand, sources: Sequence[str]) -> list[str]:
        """Those that are named, which must be there, and those that the command tells."""
        ...


def is_path(name: str) -> bool:
    """Of a source or driver; else it is the name of a package, module or class."""
    return name.endswith((".py", ".jar")) or "/" in name or not name.strip(".")


def split_command(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"The command `{text}` cannot be split into words: {error}") from error
    if not words:
        raise UsageError("The command of the workload is empty", hint="As in `--run 'python workload.py'`")
    return words


def absolute_words(words: Sequence[str], folder: Path) -> list[str]:
    """Words that name files or folders of the folder, also as in `tests/test_a.py::test_b` and `--config=a.ini`."""
    first = str(folder / words[0]) if "/" in words[0] else words[0]  # else it is looked for on PATH, as in a shell
    rest = (absolute_word(word, folder) for word in words[1:])
    return [os.path.normpath(first) if "/" in first else first, *rest]


def absolute_word(word: str, folder: Path) -> str:
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    name, colons, part = value.partition("::")
    if not name or not exists(folder / name):
        return word
    return f"{option}{equals}{os.path.normpath(folder / name)}{colons}{part}"


def exists(path: Path) -> bool:
    with suppress(OSError):  # a word may be a whole program, which is too long for a name
        return path.exists()
    return False


def find_program(name: str, env: Mapping[str, str], folder: Path) -> str:
    """As a shell in the folder does. Links are left alone: what a virtual environment is, its Python's name tells."""
    found = shutil.which(folder / name if "/" in name else name, path=env.get("PATH"))
    if found is None:
        where = "is no program" if "/" in name else "is on no folder of PATH"
        raise UsageError(f"The workload does not start: `{name}` {where}", hint="Name it by its absolute path")
    return str(Path(found).absolute())
