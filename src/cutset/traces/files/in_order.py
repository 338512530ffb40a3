"""What the readers of files that are in order have in common: many spans at a time, and going on where they were.

Each format has a plain reader, which skips and counts what is malformed, and a faster one for what is in order, which
gives up on the block that it reads as soon as anything is not. Both give the same spans.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

import msgspec
import orjson

from cutset.model.span import LabelValues, SpanRow
from cutset.traces.conventions import are_ids
from cutset.traces.tally import ReadTally

NOTHING = msgspec.Raw()  # of a field that is not there
REMEMBERED = 1 << 14  # labels of spans, and the bytes that they come from
LATEST_NS = 2**63 - 1  # the year 2262; columns of stores hold no more

# From where to go on, if not at the beginning: first, before which byte of the content.
Position = Sequence[int | str | bool]
Batches = Iterator[tuple[list[SpanRow], Position]]  # spans, some at a time, and the position behind them
Reader = Callable[[BinaryIO, ReadTally, Position], Batches]  # of a stream that is at that position's byte
_BATCH_ROWS = 5_000


class UnlikeError(Exception):
    """A block holds what only the plain reader can read, or skip and count."""


def decoded(raw: bytes) -> Any:
    return orjson.loads(raw) if raw else None


class Pair(msgspec.Struct, gc=False):
    """An attribute of OTLP's, a tag of Jaeger's."""

    key: str
    value: msgspec.Raw = NOTHING


_PAIRS = msgspec.json.Decoder(list[Pair] | None)


def pairs_of(attributes: bytes) -> list[Pair]:
    return (_PAIRS.decode(attributes) or []) if attributes else []


def ids(texts: Sequence[str], digits: int, normal: Callable[[str], str]) -> Sequence[str]:
    if are_ids(texts, digits):
        return texts
    found = [normal(text) for text in texts]
    if not all(found):
        raise UnlikeError
    return found


def parents(texts: list[str], normal: Callable[[str], str]) -> list[str]:
    """Likewise; "" for a root."""
    return texts if are_ids([text for text in texts if text], 16) else [normal(text) for text in texts]


def rows(  # noqa: PLR0917 -- the columns, in their order
    trace_ids: Sequence[str],
    span_ids: Sequence[str],
    parent_ids: Sequence[str],
    starts: Sequence[int],
    ends: Sequence[int],
    labels: Sequence[LabelValues],
) -> list[SpanRow]:
    """A span that has not ended (yet) has an end of 0."""
    if starts and not (min(starts) >= 0 <= min(ends) and max(starts) <= LATEST_NS >= max(ends)):
        raise UnlikeError
    return list(zip(trace_ids, span_ids, parent_ids, starts, map(max, starts, ends), labels, strict=True))


def by_reading_again(read: Callable[[BinaryIO, ReadTally], Iterator[SpanRow]]) -> Reader:
    """For a format whose reader has more in mind than a position: what was before is read once more, and dropped."""

    def read_rows(stream: BinaryIO, tally: ReadTally, position: Position = ()) -> Batches:
        counted = _CountedElsewhere(ReadTally())
        found = read(stream, counted)
        before = int(position[1]) if position else 0
        deque(islice(found, before), maxlen=0)
        counted.elsewhere = tally
        while batch := list(islice(found, _BATCH_ROWS)):
            before += len(batch)
            is_last = len(batch) < _BATCH_ROWS  # then all is counted that comes behind it: to go on must not, once more
            yield batch, (0, before + is_last)

    return read_rows


class _CountedElsewhere(ReadTally):
    def __init__(self, elsewhere: ReadTally) -> None:
        super().__init__()
        self.elsewhere = elsewhere

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        self.elsewhere.skip(reason, where, count)
