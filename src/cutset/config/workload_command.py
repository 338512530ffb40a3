"""The command of a workload: what it means in another folder, which Python runs it, and where that finds modules.

Rounds run in folders of their own, so that what the command names in the user's folder is named absolutely first.
"""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from cutset.errors import UsageError
from cutset.reproduce.python.interpreter import is_python, modules_path

# `#!/usr/bin/env python3`, and pip's way to name an interpreter whose path is too long for the first form.
_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(\S+)[^\n]*(?:\n'''exec' \"?([^\"\n]+?)\"? \"\$0\")?")
_MODULE_OR_CODE = re.compile(r"-[bBdEiIOPqRsSuvVx]*([mc])(.*)", re.DOTALL)  # `-m`, `-um`, `-mshop`
_WITH_VALUE = {"-X", "-W", "--check-hash-based-pycs"}  # options of Python that take the next word


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
    rest = [word if before == "-m" else _absolute_word(word, folder) for before, word in pairwise(words)]
    return [os.path.normpath(first) if "/" in first else first, *rest]


def _absolute_word(word: str, folder: Path) -> str:
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    name, colons, part = value.partition("::")
    if not name or not _exists(folder / name):
        return word
    return f"{option}{equals}{os.path.normpath(folder / name)}{colons}{part}"


def _exists(path: Path) -> bool:
    with suppress(OSError):  # a word may be a whole program, which is too long for a name
        return path.exists()
    return False


def runs_module(words: Sequence[str]) -> bool:
    """Whether Python looks in the current folder: `python -m shop`, `python -c 'import shop'`."""
    return is_python(words[0]) and _target(words)[:1] in (["-m"], ["-c"])


def modules_named(words: Sequence[str]) -> list[str]:
    """The package or module that Python is to run: `shop` of `python -m shop.worker`."""
    target = _target(words) if is_python(words[0]) else []
    return [target[1].partition(".")[0]] if target[:1] == ["-m"] and len(target) > 1 else []


def files_named(words: Sequence[str], folder: Path) -> list[str]:
    """The Python files among the words: the script, or tests."""
    paths = (folder / word.partition("::")[0] for word in words[1:])
    return [str(path) for path in paths if path.suffix == ".py" and _exists(path)]


def interpreter_of(program: str, env: Mapping[str, str], folder: Path) -> str:
    """The Python that runs a program: itself, or what its first line says."""
    if is_python(program):
        return program
    with Path(program).open("rb") as file:
        shebang = _SHEBANG.match(file.read(4096))
    if shebang:
        named = os.fsdecode(shebang[2] or shebang[1])
        if is_python(named):
            return find_program(named, env, folder)
    raise UsageError(
        f"It cannot be told which Python runs the workload: `{program}` is neither one nor a script of one",
        hint="Name that interpreter with `--python PATH`: its search path tells where the sources are",
    )


def find_program(name: str, env: Mapping[str, str], folder: Path) -> str:
    """As a shell in the folder does. Links are left alone: what a virtual environment is, its Python's name tells."""
    found = shutil.which(folder / name if "/" in name else name, path=env.get("PATH"))
    if found is None:
        where = "is no program" if "/" in name else "is on no folder of PATH"
        raise UsageError(f"The workload does not start: `{name}` {where}", hint="Name it by its absolute path")
    return str(Path(found).absolute())


def _target(words: Sequence[str]) -> list[str]:
    """What Python is to run, and its arguments: a script, or `-m`, or `-c`."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if match := _MODULE_OR_CODE.fullmatch(rest[0]):
            return [f"-{match[1]}", *filter(None, [match[2]]), *rest[1:]]
        del rest[: 2 if rest[0] in _WITH_VALUE else 1]
    return rest


def check_script(words: Sequence[str], cwd: Path | None) -> None:
    """What Python is to run must be there; without a folder to run in, that is a new one, where nothing is."""
    script = next(iter(_target(words)), "-") if is_python(words[0]) else "-"
    if script.startswith("-"):
        return
    if not (cwd or Path(script).is_absolute()) or not _exists(Path(cwd or "/", script)):
        raise UsageError(
            f"The workload does not start: the script `{script}` does not exist",
            hint=f"It is looked for in {f'`{cwd}`' if cwd else 'the folder of the command'}: correct `--run`",
        )


def search_path(interpreter: str, words: Sequence[str], env: Mapping[str, str], cwd: Path | None) -> tuple[str, ...]:
    """`sys.path` as the command has it; without a folder to run in, that is a new one, where nothing is found."""
    own = modules_path(interpreter, env, cwd or Path("/"))
    if runs_module(words):
        own = [str(cwd), *own] if cwd else own
    elif is_python(words[0]) and (script := _target(words)[:1]):
        own = [str(Path(cwd or "/", *script).resolve().parent), *own]
    return tuple(dict.fromkeys(own))
