"""What may be the symptom of a failure, by its log alone: oracles to choose from when a case is begun."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.dialect import LogDialect
from cutset.reproduce.logs.levels import HARMLESS
from cutset.reproduce.logs.values import sanitise
from cutset.reproduce.oracle.expression import Check, Oracle

LONGEST = 100  # characters of a message: what follows is rarely the same again
MOST_MESSAGES = 3  # of a kind
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")
_VARYING = re.compile(  # addresses, identities of Java's objects, ids, paths
    r"0x[0-9a-fA-F]+|(?<=\w@)[0-9a-f]{4,8}\b|\b[0-9a-fA-F-]{12,}\b|\d{5,}|(?<!\w)/[^\s:,;]+"
)


@dataclass(frozen=True, slots=True)
class ProposedOracle:
    oracle: Oracle
    why: str


def proposed_oracles(log: str, records: Sequence[LogRecord], dialect: LogDialect) -> list[ProposedOracle]:
    """The likeliest first, each once: what the log ends with, exceptions, errors and warnings; all the latest first."""
    found: dict[str, ProposedOracle] = {}
    for proposed in (*_messages(records[-1:], "the last message of the log"), *_others(log, records, dialect)):
        found.setdefault(str(proposed.oracle), proposed)
    return list(found.values())


def _others(log: str, records: Sequence[LogRecord], dialect: LogDialect) -> Iterator[ProposedOracle]:
    lines = ((str(number), line) for number, line in enumerate(log.splitlines(), start=1))
    raised = [(name, text, where) for where, name, text in dialect.exceptions(lines)]
    for name, text, where in list(reversed(raised))[:MOST_MESSAGES]:
        argument = f"{name}: {_pattern(text)}" if text else name
        yield ProposedOracle(Check("exception", argument), f"the stack trace that ends in line {where}")
    alarming = {sanitise(each.message): each for each in records if each.level not in HARMLESS}  # the last of each
    yield from _messages(sorted(alarming.values(), key=lambda each: -each.line)[:MOST_MESSAGES], "")
    yield ProposedOracle(Check("exit", "!0"), "the command exits with an error; a log does not tell")
    yield ProposedOracle(Check("hang"), "it never ends; a log does not tell")


def _messages(records: Sequence[LogRecord], why: str) -> Iterator[ProposedOracle]:
    for record in records:
        if text := record.message.partition("\n")[0].strip():
            yield ProposedOracle(Check("log", _pattern(text)), why or f"{record.level.lower()}, line {record.line}")


def _pattern(text: str) -> str:
    """Matches the text, whatever addresses, long numbers and paths are in it then."""
    line = text.partition("\n")[0][:LONGEST].rstrip()
    parts = (_SPECIAL.sub(r"\\\1", part) for part in _VARYING.split(line))
    return ".*".join(parts)
