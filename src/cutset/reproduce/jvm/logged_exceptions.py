"""The exceptions that a log shows: in stack traces, and named in messages."""

import re
from collections.abc import Iterable, Iterator

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.printed_traces import printed_exceptions

_NAMED = re.compile(
    r"(?<![\w.$/])(?P<type>(?:[a-z_][\w$-]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)(?:\$\w+)?)(?![\w.$])"
    r"(?:\((?P<remote>[\w.$]+)\))?(?:: ?(?P<message>[^\n]*))?"
)


def exceptions_in(records: Iterable[LogRecord]) -> list[tuple[str, str]]:
    """In order, once each: type and message. Causes come before what wraps them."""
    found: dict[tuple[str, str], None] = {}
    for record in records:
        found |= dict.fromkeys(_in_text(record.message))
        for exception in printed_exceptions(record.traceback):
            if "." in exception.type:
                found[exception.type, exception.message] = None
    return list(found)


def caught_by_writer(record: LogRecord) -> str:
    """The type of the exception that a record tells of: at the head of its trace, or first in its message. "": none."""
    *_, head = [each.type for each in printed_exceptions(record.traceback) if not each.suppressed] or [""]
    named = _NAMED.search(record.message)
    return head if "." in head else named["type"] if named else ""


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    """As `toString` shows them; one may be the message of another."""
    for named in _NAMED.finditer(text):
        message = named["message"] or ""
        yield from _in_text(message)
        yield named["type"], message
