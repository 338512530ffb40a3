"""A failure to reproduce, as its user gives it: in a `case.yaml`, by options of the same names, or by both.

Names of files are as seen from the folder of the `case.yaml`, or from the current one where they are options.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import with_config

from cutset.config import jvm_command, python_command
from cutset.config.workload_command import CommandReader, GivenCommand, WorkloadCommand, is_path, split_command
from cutset.config.yaml import STRICT, given, read_yaml, validate
from cutset.errors import UsageError
from cutset.model.expect import Expect, Minutes, Name, NotNegative, Positive
from cutset.model.reproduction.result import Language
from cutset.model.reproduction.site import FaultKind
from cutset.process.supervise import inherited_environment
from cutset.reproduce.jvm.class_path import absolute_entries
from cutset.reproduce.oracle.expression import Oracle, parse_oracle, quiet_seconds, with_files
from cutset.reproduce.oracle.symptoms import seconds_of
from cutset.reproduce.python.interpreter import is_python
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName
from cutset.store.codec import to_jsonable

DEFAULT_TIMEOUTS = {Language.PYTHON: "60s", Language.JVM: "3m"}  # what runs on a JVM is mostly a server, or several
STANDARD_INPUT = "-"  # in place of the name of a log
_REQUIRED = ("run", "source", "log", "oracle")
_COMMANDS: dict[Language, CommandReader] = {Language.PYTHON: python_command, Language.JVM: jvm_command}

Duration = Annotated[Any, Expect("a time such as `60s` or `2m`", lambda value: seconds_of(str(value)))]


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class CaseFile:
    """As it is written; None stands for what was not given."""

    run: Name | None = None  # the command that exercises the system
    source: tuple[Name, ...] | None = None  # packages, modules, files or jars in question
    log: Name | None = None  # of the failure
    oracle: Name | None = None
    timeout: Duration | None = None  # of a round
    cwd: Name | None = None  # not given: a new folder for each round
    env: Mapping[str, str] | None = None
    driver: tuple[Name, ...] | None = None  # further scripts that drive the system: read, but without faults
    language: Language | None = None
    python: Name | None = None
    java: Name | None = None
    class_path: tuple[Name, ...] | None = None  # besides that of the command; of a start script, which has none, all
    log_from: Name | None = None  # where a round's log is
    log_pattern: str | None = None
    prints: bool | None = None  # what `print` writes is log, too; None: the log decides
    rounds: Positive | None = None
    minutes: Minutes | None = None  # no round begins later; 0: no limit
    jobs: Positive | None = None
    closer: NotNegative | None = None  # rounds after the first reproduction
    strategy: SiteStrategyName | None = None
    faults: tuple[FaultKind, ...] | None = None
    second_fault: bool | None = None
    minimise: bool | None = None


def read_case(options: CaseFile, path: Path | None) -> CaseFile:
    """What options, and a file if there is one, say together: options win, single variables of the environment do."""
    file = CaseFile() if path is None else validate(path, CaseFile, read_yaml(path))
    language = language_of(replace(file, **given(options)))
    above = anchored(replace(options, language=language), Path.cwd())
    if path is None:
        return above
    below = anchored(replace(file, language=language), path.absolute().parent)
    both = given(above)
    if above.env and below.env:
        both["env"] = {**below.env, **above.env}
    return replace(below, **both)


def kept_case(path: Path) -> CaseFile:
    """As `case_text` wrote it."""
    return validate(path, CaseFile, read_yaml(path))


def language_of(case: CaseFile) -> Language:
    """As it is given, or by what is given for one of them alone, or by the command, or by the sources."""
    program = split_command(case.run)[0] if case.run else ""
    if case.language:
        return case.language
    if case.java or case.class_path or jvm_command.starts_jvm(program):
        return Language.JVM
    by_jars = not (case.python or is_python(program)) and any(name.endswith(".jar") for name in case.source or ())
    return Language.JVM if by_jars else Language.PYTHON


def case_text(case: CaseFile) -> str:
    """As a file that can be read again."""
    return yaml.safe_dump(to_jsonable(given(case)), sort_keys=False, allow_unicode=True, width=120)


def anchored(case: CaseFile, folder: Path) -> CaseFile:
    """The same case, as seen from any other folder."""

    def absolute(name: str) -> str:
        return os.path.normpath(folder / name)

    def is_there(name: str) -> str:
        if not Path(absolute(name)).is_file():
            raise UsageError(f"oracle `{case.oracle}`: there is no file `{absolute(name)}`")
        return absolute(name)

    names: dict[str, Any] = {name: absolute(value) for name in ("log", "cwd") if (value := getattr(case, name))}
    if case.log == STANDARD_INPUT:
        names["log"] = STANDARD_INPUT
    names |= {name: absolute(value) for name in ("python", "java") if (value := getattr(case, name)) and "/" in value}
    if case.source:
        names["source"] = tuple(absolute(name) if is_path(name) else name for name in case.source)
    if case.driver:
        names["driver"] = tuple(
            absolute(name) if is_path(name) or Path(absolute(name)).exists() else name for name in case.driver
        )
    if case.class_path:
        names["class_path"] = tuple(entry for text in case.class_path for entry in absolute_entries(text, folder))
    if case.oracle:
        names["oracle"] = str(with_files(parse_oracle(case.oracle), is_there))
    if case.cwd is None:
        names |= _anchored_run(case, folder)
    return replace(case, **names)


def _anchored_run(case: CaseFile, folder: Path) -> dict[str, Any]:
    """A round's folder is new and empty: what the command and PYTHONPATH name in this one is named absolutely."""
    commands = _COMMANDS[language_of(case)]
    env, run, variable = dict(case.env or {}), case.run, commands.PATH_VARIABLE
    entries = env.get(variable, os.environ.get(variable, "") if run else "").split(os.pathsep)
    places = [os.path.normpath(folder / entry) for entry in entries if entry]
    if run:
        words = split_command(run)
        run = shlex.join(commands.absolute_words(words, folder))
        places = commands.looked_in(words, places, folder)
    if places:
        env[variable] = os.pathsep.join(dict.fromkeys(places))
    return {"run": run, "env": env or None}


# -- what a search needs -----------------------------------------------------------------------------------------------


def search_settings(case: CaseFile) -> ReproductionSettings:
    names = {field.name for field in fields(ReproductionSettings)}
    return ReproductionSettings(**{name: value for name, value in given(case).items() if name in names})


def find_command(case: CaseFile) -> WorkloadCommand:
    """Of an anchored one."""
    language = language_of(case)
    env = inherited_environment() | dict(case.env or {})
    words, runtime = tuple(split_command(case.run or "")), case.java if language is Language.JVM else case.python
    return _COMMANDS[language].find_command(GivenCommand(words, env, _folder(case.cwd), runtime, case.class_path or ()))


def build_workload(case: CaseFile, words: Sequence[str], oracle: Oracle | None = None) -> Workload:
    return Workload(
        command=tuple(words),
        timeout_s=seconds_of(str(case.timeout or DEFAULT_TIMEOUTS[language_of(case)])),
        cwd=_folder(case.cwd),
        env=case.env or {},
        log=case.log_from or "output",
        quiet_s=quiet_seconds(oracle) if oracle else 0.0,
    )


def build_case(case: CaseFile) -> FailureCase:
    """Of an anchored one."""
    if missing := [name for name in _REQUIRED if not getattr(case, name)]:
        options = ", ".join(f"`--{name}`" for name in missing)
        raise UsageError(
            f"To reproduce a failure, {options} must be given",
            hint="By options, or by these keys of a case.yaml; `cutset reproduce --init` helps to write one",
        )
    command, oracle, language = find_command(case), parse_oracle(case.oracle or ""), language_of(case)
    paths, commands = command.search_path, _COMMANDS[language]
    sources = dict.fromkeys(found for name in case.source or () for found in commands.find_sources(name, paths))
    return FailureCase(
        sources=tuple(sources),
        search_path=paths,
        drivers=tuple(dict.fromkeys(commands.find_drivers(case.driver or (), command, tuple(sources)))),
        failure_log=read_failure_log(case.log or ""),
        workload=build_workload(case, command.words, oracle),
        oracle=oracle,
        log_pattern=case.log_pattern,
        prints=case.prints,
        runtime=command.runtime,
        language=language,
    )


def _folder(name: str | None) -> Path | None:
    if name is None:
        return None
    if not Path(name).is_dir():
        raise UsageError(f"There is no folder `{name}` for the workload to run in", hint="Correct `--cwd`")
    return Path(name)


def read_failure_log(name: str) -> str:
    where = "on standard input" if name == STANDARD_INPUT else f"`{name}`"
    try:
        content = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read the failure log {where}: {error.strerror}", hint="Correct `--log`") from error
    if b"\0" in content:
        at = content.index(b"\0")
        raise UsageError(
            f"The failure log {where} is no text: the byte at offset {at} is 0",
            hint="Unpack it if it is compressed, and save it as UTF-8",
        )
    text = content.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise UsageError(f"The failure log {where} is empty", hint="Is it the log of the failure?")
    return text
