"""The single checks of an oracle: each kind, given its argument, is a judge of what a round left behind.

A wrong argument is refused by a ValueError that says what the kind needs.
"""

import asyncio
import importlib.util
import re
import secrets
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from cutset.model.reproduction.event import OracleAnswer
from cutset.process.keeper import MARKER, Ending, Job
from cutset.process.supervise import inherited_environment, supervise
from cutset.reproduce.logs.dialect import LogDialect
from cutset.reproduce.rounds.runner import OUTPUT_LIMIT, RoundRecord, meta_of

COMMAND_SECONDS = 120.0  # for a command to look at what a round left; longer is a mistake
SHOWN_CHARACTERS = 160  # of a line quoted in a reason

_STUMBLED = "Traceback (most recent call last):"  # of a Python that runs a script of the user's
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0}


@dataclass(frozen=True, slots=True)
class OracleVerdict:
    answer: OracleAnswer
    reason: str


Judge = Callable[[RoundRecord, LogDialect], Awaitable[OracleVerdict]]
_PlainJudge = Callable[[RoundRecord, LogDialect], OracleVerdict]


def opposite(verdict: OracleVerdict) -> OracleVerdict:
    swapped = {OracleAnswer.YES: OracleAnswer.NO, OracleAnswer.NO: OracleAnswer.YES}
    return OracleVerdict(swapped.get(verdict.answer, verdict.answer), verdict.reason)


def seconds_of(duration: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|)", duration)
    if not match or not float(match[1]):
        raise ValueError("a time, as in `hang:30s`")
    return float(match[1]) * _UNITS[match[2]]


def _log(argument: str) -> _PlainJudge:
    pattern = _regex(argument)

    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        for path, number, line in _lines(record):
            if pattern.search(line):
                return OracleVerdict(OracleAnswer.YES, f"{path.name}:{number}: {_shown(line)}")
        return _not_seen(record, f"no line matches `{argument}`")

    return judge


def _missing(argument: str) -> _PlainJudge:
    log = _log(argument)
    return lambda record, dialect: opposite(log(record, dialect))


def _exception(argument: str) -> _PlainJudge:
    name, _, message = argument.partition(":")
    if not re.fullmatch(r"[\w.]+", name):
        raise ValueError("the name of a type, as in `exception:ConnectionError: reset by peer`")
    pattern = _regex(message.strip() or ".*")

    def judge(record: RoundRecord, dialect: LogDialect) -> OracleVerdict:
        lines = ((f"{path.name}:{number}", line) for path, number, line in _lines(record))
        for where, raised, text in dialect.exceptions(lines):
            if f".{raised}".endswith(f".{name.removeprefix('builtins.')}") and pattern.search(text):
                return OracleVerdict(OracleAnswer.YES, f"{where}: {_shown(f'{raised}: {text}'.removesuffix(': '))}")
        return _not_seen(record, f"no stack trace ends with `{argument}`")

    return judge


def _exit(argument: str) -> _PlainJudge:
    match = re.fullmatch(r"(!?)(\d{1,3})", argument)
    if not match:
        raise ValueError("an exit code, or `!` and an exit code that it is not, as in `exit:!0`")
    code, must_differ = int(match[2]), bool(match[1])

    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        if record.ended is not Ending.EXITED:
            return _not_seen(record, f"it did not exit: it {_how_it_ended(record)}")
        return _plain((record.exit_code == code) is not must_differ, f"it {_how_it_ended(record)}")

    return judge


def _signal(argument: str) -> _PlainJudge:
    try:
        wanted = signal.Signals(int(argument)) if argument.isdecimal() else signal.Signals[_signal_name(argument)]
    except (KeyError, ValueError):
        raise ValueError("the number or the name of a signal, as in `signal:9` or `signal:SIGSEGV`") from None
    return lambda record, _: _plain(record.signal == wanted, f"it {_how_it_ended(record)}")


def _signal_name(argument: str) -> str:
    return "SIG" + argument.upper().removeprefix("SIG")


def _hang(argument: str) -> _PlainJudge:
    silence = seconds_of(argument) if argument else 0.0

    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        reason = f"it {_how_it_ended(record)}, without output for the last {record.silent_s:.1f} s"
        if record.ended not in (Ending.HUNG, Ending.TIMED_OUT):
            return _not_seen(record, f"it {_how_it_ended(record)}")
        if record.wall_s < silence:
            return OracleVerdict(
                OracleAnswer.CANNOT_TELL, f"{reason}: the time limit is too short to see {argument} of it"
            )
        return _plain(record.silent_s >= silence, reason)

    return judge


def _file(argument: str) -> _PlainJudge:
    if state := re.fullmatch(r"(.*\S)\s+(exists|missing)", argument, re.DOTALL):
        return _file_state(state[1], should_exist=state[2] == "exists")
    if content := re.fullmatch(r"(\S+)\s+(.+)", argument, re.DOTALL):
        return _file_content(content[1], _regex(content[2], re.MULTILINE))
    raise ValueError("a file and what is expected of it: `exists`, `missing` or a regular expression")


def _file_state(name: str, *, should_exist: bool) -> _PlainJudge:
    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        if found := _files(record, name):
            return _plain(should_exist, f"`{found[0]}` exists")
        return _plain(not should_exist, f"`{name}` is missing")

    return judge


def _file_content(name: str, pattern: re.Pattern[str]) -> _PlainJudge:
    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        for path in _files(record, name):
            if path.is_file() and (match := pattern.search(path.read_text(errors="replace"))):
                return OracleVerdict(OracleAnswer.YES, f"{path.name}: {_shown(match[0])}")
        return OracleVerdict(OracleAnswer.NO, f"nothing in `{name}` matches `{pattern.pattern}`")

    return judge


def _python(argument: str) -> _PlainJudge:
    name, _, function = argument.rpartition("::")
    if not name or not function.isidentifier():
        raise ValueError("a file and a function in it, as in `python:checks.py::orders_are_lost`")

    def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        path = Path(name).absolute()
        spec = importlib.util.spec_from_file_location(f"oracle_{path.stem}", path)
        try:
            assert spec is not None, "it is no Python file"
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            result = getattr(module, function)(meta_of(record))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            return OracleVerdict(OracleAnswer.CANNOT_TELL, f"`{argument}` raised {type(error).__name__}: {error}")
        match result:
            case bool():
                return _plain(result, f"`{argument}` says so")
            case (bool() as holds, reason):
                return _plain(holds, str(reason))
        return OracleVerdict(
            OracleAnswer.CANNOT_TELL, f"`{argument}` returned {result!r}: neither a bool nor a bool and a reason"
        )

    return judge


def _command(argument: str) -> Judge:
    if not argument:
        raise ValueError("a command for the shell, as in `command:grep -q lost state.json`")

    async def judge(record: RoundRecord, _: LogDialect) -> OracleVerdict:
        marker = secrets.token_hex(8)
        output = record.folder / f"oracle-{marker}.log"
        report = await supervise(
            Job(
                command=("sh", "-c", argument),
                cwd=str(record.work),
                env=inherited_environment() | {"ROUND": str(record.folder), MARKER: marker},
                stdout=str(output),
                stderr=str(output),
                grace_s=0.0,
                timeout_s=COMMAND_SECONDS,
                output_limit=OUTPUT_LIMIT,
            )
        )
        said = output.read_text(errors="replace").strip()
        last_line = _shown(said.rpartition("\n")[2]) or "it said nothing"
        # An interpreter that stumbles over a script of the user's exits with 1 as well.
        if report.status in (0, 1) and not (report.status and _STUMBLED in said):
            return _plain(report.status == 0, f"{last_line} (exit {report.status} of `{argument}`)")
        how = f"exit {report.status}" if report.ended is Ending.EXITED else f"{report.ended} {report.problem}".strip()
        return OracleVerdict(OracleAnswer.CANNOT_TELL, f"{last_line} ({how} of `{argument}`)")

    return judge


def _in_a_thread(kind: Callable[[str], _PlainJudge]) -> Callable[[str], Judge]:
    """Logs are long, and a user's function may take its time."""

    def with_argument(argument: str) -> Judge:
        judge = kind(argument)
        return lambda record, dialect: asyncio.to_thread(judge, record, dialect)

    return with_argument


KINDS: dict[str, Callable[[str], Judge]] = {
    "log": _in_a_thread(_log),
    "missing": _in_a_thread(_missing),
    "exception": _in_a_thread(_exception),
    "exit": _in_a_thread(_exit),
    "signal": _in_a_thread(_signal),
    "hang": _in_a_thread(_hang),
    "file": _in_a_thread(_file),
    "command": _command,
    "python": _in_a_thread(_python),
}


def _plain(holds: bool, reason: str) -> OracleVerdict:  # noqa: FBT001
    return OracleVerdict(OracleAnswer.YES if holds else OracleAnswer.NO, reason)


def _not_seen(record: RoundRecord, reason: str) -> OracleVerdict:
    if record.ended is Ending.FLOODED:
        return OracleVerdict(OracleAnswer.CANNOT_TELL, f"{reason}, but the round was ended for too much output")
    return OracleVerdict(OracleAnswer.NO, reason)


def _regex(argument: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    if not argument:
        raise ValueError("a regular expression")
    try:
        return re.compile(argument, flags)
    except re.error as error:
        raise ValueError(f"a regular expression, and `{argument}` is none: {error}") from None


def _shown(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"


def _how_it_ended(record: RoundRecord) -> str:
    if record.signal is not None:
        return f"died of signal {record.signal} ({signal.strsignal(record.signal)})"
    if record.exit_code is not None:
        return f"exited with {record.exit_code}"
    return f"{record.ended} after {record.wall_s:.1f} s"


def _files(record: RoundRecord, pattern: str) -> list[Path]:
    return [record.work / name for name in sorted(glob(pattern, root_dir=record.work, recursive=True))]  # noqa: PTH207


def _lines(record: RoundRecord) -> Iterator[tuple[Path, int, str]]:
    """Of the log and of what it printed, without colours."""
    for path in dict.fromkeys((*record.logs, *record.outputs)):
        if path.is_file():
            with path.open(errors="replace") as file:
                for number, line in enumerate(file, 1):
                    yield path, number, _ANSI.sub("", line.rstrip("\n"))
