"""Commands that run Python programs: which interpreter, where it finds modules, scripts and modules that it runs."""

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from cutset.config.workload_command import GivenCommand, WorkloadCommand, absolute_word, exists, find_program
from cutset.config.workload_command import absolute_words as all_absolute
from cutset.errors import InputError, UsageError
from cutset.model.wording import did_you_mean, sentences
from cutset.reproduce.python.interpreter import is_python, modules_path
from cutset.reproduce.python.source import find_files

PATH_VARIABLE = "PYTHONPATH"
_NEAR = 5  # names that an error proposes
# `#!/usr/bin/env python3`, and pip's way to name an interpreter whose path is too long for the first form.
_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(\S+)[^\n]*(?:\n'''exec' \"?([^\"\n]+?)\"? \"\$0\")?")
_MODULE_OR_CODE = re.compile(r"-[bBdEiIOPqRsSuvVx]*([mc])(.*)", re.DOTALL)  # `-m`, `-um`, `-mshop`
_WITH_VALUE = {"-X", "-W", "--check-hash-based-pycs"}  # options of Python that take the next word


def absolute_words(words: Sequence[str], folder: Path) -> list[str]:
    """But for the name of a module."""
    first = all_absolute(words[:1], folder)
    return [*first, *(word if before == "-m" else absolute_word(word, folder) for before, word in pairwise(words))]


def looked_in(words: Sequence[str], places: Sequence[str], folder: Path) -> list[str]:
    return [str(folder), *places] if runs_module(words) else list(places)


def find_command(given: GivenCommand) -> WorkloadCommand:
    """Asks the workload's Python where it finds modules."""
    folder = given.cwd or Path("/")
    words = (find_program(given.words[0], given.env, folder), *given.words[1:])
    check_script(words, given.cwd)
    python = given.runtime or interpreter_of(words[0], given.env, folder)
    paths = search_path(python, words, given.env, given.cwd)
    return WorkloadCommand(words, python, paths, tuple(files_named(words, folder)), tuple(modules_named(words)))


def find_drivers(names: Sequence[str], command: WorkloadCommand, sources: Sequence[str]) -> list[str]:  # noqa: ARG001
    for name in names:
        if not Path(name).exists():
            raise UsageError(f"There is no driver `{name}`", hint="Correct `--driver`")
    return [*names, *command.scripts]


def find_sources(name: str, search_path: Sequence[str]) -> list[str]:
    """The name as the analysis takes it. A folder that is no package stands for the packages in it, as `src` does."""
    folder = Path(name)
    if "/" in name and folder.is_dir() and not any(folder.glob("*.py")):
        packages = sorted(str(path.parent) for path in folder.glob("*/__init__.py"))
        if packages:
            return packages
    try:
        find_files(name, search_path)
    except InputError as error:
        if "/" in name:
            raise
        by_path = f"What is in a folder is named by its path, as in `./{name}`."
        question = did_you_mean(name, _importable(search_path), most=_NEAR)
        raise UsageError(error.message, hint=sentences(question, error.hint, by_path)) from error
    return [name]


def _importable(paths: Sequence[str]) -> set[str]:
    found = set()
    for folder in map(Path, paths):
        if folder.is_dir():
            found |= {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
    return found


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
    return [str(path) for path in paths if path.suffix == ".py" and exists(path)]


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
        hint="Name that interpreter with `--python PATH`: its search path tells where the sources are. If it starts a "
        "JVM, name its class path with `--class-path`",
    )


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
    if not (cwd or Path(script).is_absolute()) or not exists(Path(cwd or "/", script)):
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
