"""Which calls of a request depend on each other's data (CAST §3.4.2), by what their payloads share and by their order.

*Producer–consumer*: a call's answer brings a value that nothing before it had, and a later call sends it. If the first
fails, the second has nothing to send: the first is where to inject. *Dual write*: two calls that change something in
different places send the same data. If the second fails, the two places differ, and often nobody notices.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.exchange import Operation
from cutset.model.writing import SQL_WRITES, WRITE_METHODS

LEAST_LETTERS = 4  # of a value that tells: `id`, `1` and `eur` are everywhere
LEAST_DIGITS = 3  # of a number
DUAL_WRITE_SHARE = 0.5  # of the values of the smaller payload that the other one must have, too
MOST_VALUES = 2_000  # of one payload: a long list of products tells no more than its beginning

_WORD = re.compile(r"[\w.@-]+")
_TELLING = re.compile(rf"(?=.*[^\d.]).{{{LEAST_LETTERS},}}|[\d.]{{{LEAST_DIGITS},}}")
_SQL_LITERAL = re.compile(r"'([^']*)'|\b(\d[\d.]*)\b")
_IS_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|BEGIN|COMMIT)\b", re.IGNORECASE)
_SQL_WRITES = re.compile(rf"\s*(?:{'|'.join(sorted(SQL_WRITES))})\b", re.IGNORECASE)
_WRITES = re.compile(
    r"(?:(?:m|h|p|get)?set(?:ex|nx)?|h?del(?:ete)?|unlink|expire|(?:h|z)?incr\w*|decr\w*|[lr]push|[sz]?add|xadd|append"
    rf"|{WRITE_METHODS})",
    re.IGNORECASE,
)


class Pattern(StrEnum):
    PRODUCER_CONSUMER = "producer–consumer"
    DUAL_WRITE = "dual write"


@dataclass(frozen=True, slots=True)
class Dependency:
    pattern: Pattern
    first: int  # positions among the operations: the producer, or the primary write
    second: int
    shared: tuple[str, ...]  # some of the values


def is_write(operation: Operation) -> bool:
    """As far as the name of its method, or the statement that it sends, says."""
    if statement := statement_of(operation.request):
        return _SQL_WRITES.match(statement) is not None
    return _WRITES.fullmatch(operation.endpoint.split("/", 2)[-1]) is not None


def dependencies(operations: Sequence[Operation], known: bytes = b"") -> list[Dependency]:
    """Of one request's operations in order of start. `known` is what the request itself brought."""
    sent = [_values(operation.request) for operation in operations]
    received = [_values(operation.response) for operation in operations]
    found: list[Dependency] = []
    seen = _values(known)
    for first, operation in enumerate(operations):
        new = received[first] - seen - sent[first]
        for second in range(first + 1, len(operations)):
            if shared := new & sent[second]:
                found.append(Dependency(Pattern.PRODUCER_CONSUMER, first, second, _some(shared)))
            if _is_dual_write(operation, operations[second], sent[first], sent[second]):
                shared = sent[first] & sent[second]
                found.append(Dependency(Pattern.DUAL_WRITE, first, second, _some(shared)))
        seen = seen | received[first] | sent[first]
    return found


def _is_dual_write(
    first: Operation, second: Operation, sent_first: frozenset[str], sent_second: frozenset[str]
) -> bool:
    if first.endpoint.split("/")[:2] == second.endpoint.split("/")[:2]:
        return False  # one store, which has transactions for that
    smaller = min(len(sent_first), len(sent_second))
    enough = smaller > 0 and len(sent_first & sent_second) >= DUAL_WRITE_SHARE * smaller
    return enough and is_write(first) and is_write(second)


def _some(values: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda value: (-len(value), value))[:3])


def _values(payload: bytes) -> frozenset[str]:
    """What a payload says, without the names in it: JSON's leaves, a statement's literals, words of other text."""
    text = payload.decode(errors="replace")
    values: set[str] = set()
    for value in _candidates(text):
        if _TELLING.fullmatch(value):
            values.add(value)
        if len(values) >= MOST_VALUES:
            break
    return frozenset(values)


def _candidates(text: str) -> Iterator[str]:
    document = _json(text)
    if statement := statement_of(text.encode()):
        # The statement's own words are no data.
        yield from (string or number for string, number in _SQL_LITERAL.findall(statement))
        yield from _leaves(document.get("parameters")) if isinstance(document, dict) else ()
    elif isinstance(document, dict | list):
        yield from _leaves(document)
    else:
        yield from _WORD.findall(text)


def statement_of(payload: bytes) -> str:
    """What a database was asked, if the payload is SQL, or JSON with the `query` and its `parameters`."""
    text = payload.decode(errors="replace")
    document = _json(text)
    query = document.get("query") if isinstance(document, dict) else text
    return query if isinstance(query, str) and _IS_SQL.match(query) else ""


def _json(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _leaves(document: object) -> Iterator[str]:
    to_visit = [document]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, dict):
            to_visit.extend(value.values())
        elif isinstance(value, list):
            to_visit.extend(value)
        elif isinstance(value, str):
            yield value
            yield from _WORD.findall(value)
        elif value is not None and not isinstance(value, bool):
            yield str(value)
