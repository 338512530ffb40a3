"""Recognises the symptom of a failure in what a round left behind (ANDURIL §3: the oracle).

    oracle    = both { "or" both }
    both      = single { "and" single }
    single    = "not" single | "(" oracle ")" | kind [ ":" argument ]

    log:REGEX                       a line of the log or of the output matches
    missing:REGEX                   none does, as it would in a good run
    exception:TYPE[: REGEX]         a traceback ends with this type, by its last names, and a message that matches
    exit:CODE, exit:!CODE           the workload exited so; a signal is not 0 either
    signal:NUMBER or NAME           it died of it
    hang, hang:30s                  it had to be ended; after so long without output
    file:PATH exists|missing|REGEX  a file in the folder where it ran (`*` and `**` are understood) has a match
    command:SHELL                   exits with 0; 1 is no, all else is that it cannot tell; it runs where the workload
                                    ran, and $ROUND is the round's folder, with run.log and meta.json
    python:FILE::FUNCTION           returns true, or a pair with a reason, for the mapping that meta.json has

An argument extends to the next ` and `, ` or ` or `)`, parentheses and brackets of its own aside. Otherwise it is put
in quotes, single or double, and doubles those within. A check that cannot tell is neither true nor false: `cannot tell
and no` is no, `cannot tell or yes` is yes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from cutset.errors import InputError
from cutset.model.reproduction.event import OracleAnswer
from cutset.process.keeper import Ending
from cutset.reproduce.logs.dialect import LogDialect
from cutset.reproduce.oracle.symptoms import KINDS, OracleVerdict, opposite, seconds_of
from cutset.reproduce.rounds.runner import RoundRecord


@dataclass(frozen=True, slots=True)
class Check:
    kind: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{_quoted(self.argument)}" if self.argument else self.kind


@dataclass(frozen=True, slots=True)
class Not:
    part: "Oracle"

    def __str__(self) -> str:
        return f"not {_grouped(self.part)}"


@dataclass(frozen=True, slots=True)
class Both:
    """All of two or more."""

    parts: "tuple[Oracle, ...]"

    def __str__(self) -> str:
        return " and ".join(map(_grouped, self.parts))


@dataclass(frozen=True, slots=True)
class Either:
    """Any of two or more."""

    parts: "tuple[Oracle, ...]"

    def __str__(self) -> str:
        return " or ".join(map(_grouped, self.parts))


Oracle = Check | Not | Both | Either


def quiet_seconds(oracle: Oracle) -> float:
    """How long a silence the oracle must see before a round may be ended for it; 0 if none will do."""
    match oracle:
        case Check("hang", argument) if argument:
            return seconds_of(argument)
        case Not(part):
            return quiet_seconds(part)
        case Both(parts) | Either(parts):
            return max(map(quiet_seconds, parts))
    return 0.0


def with_files(oracle: Oracle, renamed: Callable[[str], str]) -> Oracle:
    """The same oracle, with other names for the files of the user's that it runs."""
    match oracle:
        case Check("python", argument):
            name, _, function = argument.rpartition("::")
            return Check("python", f"{renamed(name)}::{function}")
        case Not(part):
            return Not(with_files(part, renamed))
        case Both(parts) | Either(parts):
            return replace(oracle, parts=tuple(with_files(part, renamed) for part in parts))
    return oracle


async def judge(oracle: Oracle, record: RoundRecord, dialect: LogDialect) -> OracleVerdict:
    if record.ended in (Ending.LOST, Ending.CANCELLED):
        return OracleVerdict(OracleAnswer.CANNOT_TELL, f"the round was {record.ended}: {'; '.join(record.problems)}")
    match oracle:
        case Check(kind, argument):
            return await KINDS[kind](argument)(record, dialect)
        case Not(part):
            return opposite(await judge(part, record, dialect))
        case Both(parts):
            return await _combine(parts, record, dialect, OracleAnswer.NO)
        case Either(parts):
            return await _combine(parts, record, dialect, OracleAnswer.YES)


async def _combine(
    parts: tuple[Oracle, ...], record: RoundRecord, dialect: LogDialect, decisive: OracleAnswer
) -> OracleVerdict:
    """The first decisive answer; else that it cannot be told, if any cannot; else the opposite, for all reasons."""
    others = []
    for part in parts:
        verdict = await judge(part, record, dialect)
        if verdict.answer is decisive:
            return verdict
        others.append(verdict)
    unknown = [verdict for verdict in others if verdict.answer is OracleAnswer.CANNOT_TELL]
    same = unknown or others
    return OracleVerdict(same[0].answer, "; ".join(verdict.reason for verdict in same))


def parse_oracle(text: str) -> Oracle:
    oracle, at = _parse_either(text, 0)
    if text[at:].strip():
        _refuse(text, at, "expected `and`, `or` or the end", hint=_QUOTE_HINT)
    return oracle


_QUOTE_HINT = (
    'Put an argument in quotes if it contains ` and `, ` or `, quotes or lone parentheses: log:"salt and pepper"'
)
_BARE = re.compile(r"[\w.:/!?*+^$#@%=~,{}|<>;& -]+")  # what never needs quotes, connectives aside
_CONNECTIVE = re.compile(r"\s+(?:and|or)(?=[\s()]|$)")
_CHARACTER_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def _parse_either(text: str, at: int) -> tuple[Oracle, int]:
    parts, at = _parse_chain(text, at, "or", _parse_both)
    return (parts[0] if len(parts) == 1 else Either(parts)), at


def _parse_both(text: str, at: int) -> tuple[Oracle, int]:
    parts, at = _parse_chain(text, at, "and", _parse_single)
    return (parts[0] if len(parts) == 1 else Both(parts)), at


def _parse_chain(
    text: str, at: int, connective: str, parse: Callable[[str, int], tuple[Oracle, int]]
) -> tuple[tuple[Oracle, ...], int]:
    part, at = parse(text, at)
    parts = [part]
    while match := re.compile(rf"\s*{connective}(?=[\s()]|$)").match(text, at):
        part, at = parse(text, match.end())
        parts.append(part)
    return tuple(parts), at


def _parse_single(text: str, at: int) -> tuple[Oracle, int]:
    at = _skip_spaces(text, at)
    if match := re.compile(r"not(?=[\s(])").match(text, at):
        part, at = _parse_single(text, match.end())
        return Not(part), at
    if text.startswith("(", at):
        oracle, end = _parse_either(text, at + 1)
        end = _skip_spaces(text, end)
        if not text.startswith(")", end):
            _refuse(text, end, f"expected `)` for the `(` at character {at + 1}", hint=_QUOTE_HINT)
        return oracle, end + 1
    return _parse_check(text, at)


def _parse_check(text: str, at: int) -> tuple[Check, int]:
    match = re.compile(r"([a-z]+)(:\s*)?").match(text, at)
    if not match or match[1] not in KINDS:
        _refuse(text, at, f"expected a check, one of {', '.join(KINDS)}", hint=_QUOTE_HINT)
    end = match.end()
    argument, end = _parse_argument(text, end) if match[2] else ("", end)
    try:
        KINDS[match[1]](argument)
    except ValueError as error:
        _refuse(text, match.end(), f"`{match[1]}` needs {error}")
    return Check(match[1], argument), end


def _parse_argument(text: str, at: int) -> tuple[str, int]:
    quote = text[at : at + 1]
    if quote in ("'", '"'):
        match = re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*){quote}").match(text, at)
        if not match:
            _refuse(text, at, f"the {quote} is not closed")
        return match[1].replace(2 * quote, quote), match.end()
    end, depth = at, 0
    while end < len(text) and not (depth == 0 and (text[end] == ")" or _CONNECTIVE.match(text, end))):
        depth += (text[end] == "(") - (text[end] == ")")
        if text[end] == "\\":
            end += 2
        elif match := _CHARACTER_CLASS.match(text, end):
            end = match.end()
        else:
            end += 1
    if depth:
        _refuse(text, at, "a `(` in this argument is not closed", hint=_QUOTE_HINT)
    return text[at:end].strip(), min(end, len(text))


def _skip_spaces(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def _refuse(text: str, at: int, problem: str, hint: str = "") -> NoReturn:
    found = text[at:].strip()
    what = f"found `{found[:40]}`" if found else "it ends there"
    raise InputError(f"oracle `{text}`, at character {at + 1}: {problem}; {what}", hint=hint)


def _quoted(argument: str) -> str:
    if _BARE.fullmatch(argument) and argument == argument.strip() and not _CONNECTIVE.search(argument + " "):
        return argument
    quote = "'" if '"' in argument and "'" not in argument else '"'
    return quote + argument.replace(quote, 2 * quote) + quote


def _grouped(part: Oracle) -> str:
    return f"({part})" if isinstance(part, Both | Either) else str(part)
