"""A failure to reproduce, as its user gives it: in a `case.yaml`, by options of the same names, or by both.

Names of files are as seen from the folder of the `case.yaml`, or from the current one where they are options.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import with_config

from cutset.config.workload_command import (
    absolute_words,
    check_script,
    files_named,
    find_program,
    interpreter_of,
    runs_module,
    search_path,
    split_command,
)
from cutset.config.yaml import STRICT, read_yaml, validate
from cutset.errors import InputError, UsageError
from cutset.model.expect import Expect, Name, NotNegative, Positive
from cutset.model.wording import did_you_mean, sentences
from cutset.reproduce.explorer import ExplorerSettings
from cutset.reproduce.oracle import Both, Check, Either, Not, Oracle, parse_oracle, quiet_seconds
from cutset.reproduce.runner import Workload
from cutset.reproduce.settings import Case, FaultKind, SearchSettings
from cutset.reproduce.source import find_files, is_path
from cutset.reproduce.strategies import StrategyName
from cutset.reproduce.symptoms import seconds_of

DEFAULT_TIMEOUT = "60s"
_REQUIRED = ("run", "source", "log", "oracle")
_NEAR = 5  # names that an error proposes

Duration = Annotated[Any, Expect("a time such as `60s` or `2m`", lambda value: seconds_of(str(value)))]


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class CaseFile:
    """As it is written; None stands for what was not given."""

    run: Name | None = None  # the command that exercises the system
    source: tuple[Name, ...] | None = None  # packages, modules or files in question
    log: Name | None = None  # of the failure
    oracle: Name | None = None
    timeout: Duration | None = None  # of a round
    cwd: Name | None = None  # not given: a new folder for each round
    env: Mapping[str, str] | None = None
    driver: tuple[Name, ...] | None = None  # further scripts that drive the system: read, but without faults
    python: Name | None = None
    log_from: Name | None = None  # where a round's log is
    log_pattern: str | None = None
    prints: bool | None = None  # what `print` writes is log, too
    rounds: Positive | None = None
    jobs: Positive | None = None
    closer: NotNegative | None = None  # rounds after the first reproduction
    strategy: StrategyName | None = None
    faults: tuple[FaultKind, ...] | None = None
    second_fault: bool | None = None
    minimise: bool | None = None


def load_case_file(path: Path) -> CaseFile:
    return anchored(validate(path, CaseFile, read_yaml(path)), path.absolute().parent)


def write_case_file(case: CaseFile, path: Path) -> None:
    path.write_text(yaml.safe_dump(_given(case), sort_keys=False, allow_unicode=True, width=120))


def merged(below: CaseFile, above: CaseFile) -> CaseFile:
    """What is given above wins; single variables of the environment do."""
    given = {name: getattr(above, name) for name in _given(above)}
    if above.env and below.env:
        given["env"] = {**below.env, **above.env}
    return replace(below, **given)


def _given(case: CaseFile) -> dict[str, Any]:
    """In the words of the file."""
    found = {field.name: value for field in fields(case) if (value := getattr(case, field.name)) is not None}
    for name, value in found.items():
        match value:
            case tuple():
                found[name] = list(map(str, value))
            case StrategyName():
                found[name] = str(value)
            case Mapping():
                found[name] = dict(value)
    return found


def anchored(case: CaseFile, folder: Path) -> CaseFile:
    """The same case, as seen from any other folder."""
    names = {name: os.path.normpath(folder / value) for name in ("log", "cwd") if (value := getattr(case, name))}
    if case.python and "/" in case.python:
        names["python"] = os.path.normpath(folder / case.python)
    case = replace(case, **names)
    if case.source:
        case = replace(case, source=tuple(_anchored_source(name, folder) for name in case.source))
    if case.driver:
        case = replace(case, driver=tuple(os.path.normpath(folder / name) for name in case.driver))
    if case.oracle:
        case = replace(case, oracle=str(_anchored_oracle(parse_oracle(case.oracle), folder)))
    return _anchored_run(case, folder) if case.cwd is None else case


def _anchored_source(name: str, folder: Path) -> str:
    return os.path.normpath(folder / name) if is_path(name) else name


def _anchored_oracle(oracle: Oracle, folder: Path) -> Oracle:
    match oracle:
        case Check("python", argument):
            name, _, function = argument.rpartition("::")
            path = os.path.normpath(folder / name)
            if not Path(path).is_file():
                raise UsageError(f"oracle `{oracle}`: there is no file `{path}`")
            return Check("python", f"{path}::{function}")
        case Not(part):
            return Not(_anchored_oracle(part, folder))
        case Both(parts):
            return Both(tuple(_anchored_oracle(part, folder) for part in parts))
        case Either(parts):
            return Either(tuple(_anchored_oracle(part, folder) for part in parts))
    return oracle


def _anchored_run(case: CaseFile, folder: Path) -> CaseFile:
    """A round's folder is new and empty: what the command and PYTHONPATH name in this one is named absolutely."""
    env = dict(case.env or {})
    entries = env.get("PYTHONPATH", os.environ.get("PYTHONPATH", "") if case.run else "").split(os.pathsep)
    places = [os.path.normpath(folder / entry) for entry in entries if entry]
    if case.run:
        words = split_command(case.run)
        case = replace(case, run=shlex.join(absolute_words(words, folder)))
        if runs_module(words):
            places.insert(0, str(folder))
    if places:
        env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(places))
    return replace(case, env=env or None)


# -- what a search needs -----------------------------------------------------------------------------------------------


def search_settings(case: CaseFile) -> SearchSettings:
    given = {name: getattr(case, name) for name in ("rounds", "jobs", "closer", "second_fault", "minimise")}
    if case.faults is not None:
        given["kinds"] = frozenset(case.faults)
    if case.strategy is not None:
        given["explorer"] = ExplorerSettings(strategy=case.strategy)
    return SearchSettings(**{name: value for name, value in given.items() if value is not None})


def build_case(case: CaseFile) -> Case:
    """Of an anchored one. Asks the workload's Python where it finds modules."""
    if missing := [name for name in _REQUIRED if not getattr(case, name)]:
        options = ", ".join(f"`--{name}`" for name in missing)
        raise UsageError(
            f"To reproduce a failure, {options} must be given", hint="By options, or by these keys of a case.yaml"
        )
    assert case.run is not None
    assert case.oracle is not None
    assert case.source is not None
    words, oracle, cwd = split_command(case.run), parse_oracle(case.oracle), Path(case.cwd) if case.cwd else None
    if cwd is not None and not cwd.is_dir():
        raise UsageError(f"There is no folder `{cwd}` for the workload to run in", hint="Correct `--cwd`")
    folder, own_env = cwd or Path("/"), case.env or {}
    env = {name: value for name, value in os.environ.items() if not name.startswith("CUTSET_")} | dict(own_env)
    words[0] = find_program(words[0], env, folder)
    check_script(words, cwd)
    interpreter = case.python or interpreter_of(words[0], env, folder)
    paths = search_path(interpreter, words, env, cwd)
    drivers = dict.fromkeys((*(case.driver or ()), *files_named(words, folder)))
    for name in case.driver or ():
        if not Path(name).exists():
            raise UsageError(f"There is no driver `{name}`", hint="Correct `--driver`")
    return Case(
        sources=tuple(dict.fromkeys(found for name in case.source for found in _sources(name, paths))),
        search_path=paths,
        drivers=tuple(drivers),
        failure_log=_read_failure_log(Path(case.log or "")),
        workload=Workload(
            command=tuple(words),
            timeout_s=seconds_of(str(case.timeout or DEFAULT_TIMEOUT)),
            cwd=cwd,
            env=own_env,
            log=case.log_from or "output",
            quiet_s=quiet_seconds(oracle),
        ),
        oracle=oracle,
        log_pattern=case.log_pattern,
        prints=bool(case.prints),
    )


def _sources(name: str, paths: Sequence[str]) -> list[str]:
    """The name as the analysis takes it. A folder that is no package stands for the packages in it, as `src` does."""
    folder = Path(name)
    if "/" in name and folder.is_dir() and not any(folder.glob("*.py")):
        packages = sorted(str(path.parent) for path in folder.glob("*/__init__.py"))
        if packages:
            return packages
    try:
        find_files(name, paths)
    except InputError as error:
        if "/" in name:
            raise
        by_path = f"What is in a folder is named by its path, as in `./{name}`."
        question = did_you_mean(name, _importable(paths), most=_NEAR)
        raise UsageError(error.message, hint=sentences(question, error.hint, by_path)) from error
    return [name]


def _importable(paths: Sequence[str]) -> set[str]:
    found = set()
    for folder in map(Path, paths):
        if folder.is_dir():
            found |= {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
    return found


def _read_failure_log(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read the failure log `{path}`: {error.strerror}", hint="Correct `--log`") from error
    if b"\0" in content:
        at = content.index(b"\0")
        raise UsageError(
            f"The failure log `{path}` is no text: the byte at offset {at} is 0",
            hint="Unpack it if it is compressed, and save it as UTF-8",
        )
    text = content.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise UsageError(f"The failure log `{path}` is empty", hint="Is it the log of the failure?")
    return text
