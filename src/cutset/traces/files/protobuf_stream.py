"""The fields of protobuf messages of any size, one by one, as far as the messages are whole.

A file holds one message, or many with the length of each in four bytes before it, as the OpenTelemetry Collector's file
exporter writes them. Messages behind one another without lengths are, in protobuf, one message.
"""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

from cutset.traces.tally import ReadTally

MAX_FIELD_BYTES = 64 << 20

MALFORMED = "malformed protobuf"
TRUNCATED = "truncated protobuf"
TOO_LARGE = f"protobuf field over {MAX_FIELD_BYTES >> 20} MB"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_FIRST_FIELD = b"\x0a"  # number 1, with a length: the tag that OTLP's outermost messages start with


class _EndError(Exception):
    """The bytes end in the middle of something."""


class _MalformedError(Exception):
    """No protobuf has these bytes."""


def first_fields(stream: BinaryIO, tally: ReadTally) -> Iterator[tuple[bytes, bool, str]]:
    """Of each message every field 1: its bytes, whether they are all there, and its place."""
    source = _Source(stream)
    if source.peek(1) == _FIRST_FIELD:
        yield from _first_fields(source, tally)
        return
    while head := source.take(4):
        place, length = source.offset, int.from_bytes(head)
        if length > MAX_FIELD_BYTES:
            tally.skip(TOO_LARGE, f"byte {place}")
            with suppress(_EndError):
                source.pass_over(length)
            continue
        message = source.take(length)
        is_torn = len(head) < 4 or len(message) < length
        if is_torn:
            tally.skip(TRUNCATED, f"byte {place}")
        yield from _first_fields(_Source(BytesIO(message), place), ReadTally() if is_torn else tally)  # counted once


def fields(message: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Number, bytes and wholeness of the fields that have a length, up to the first that is torn or malformed."""
    try:
        for number, content, is_whole, _ in _fields(_Source(BytesIO(message))):
            yield number, content, is_whole
    except (_EndError, _MalformedError):
        return


def _first_fields(source: "_Source", tally: ReadTally) -> Iterator[tuple[bytes, bool, str]]:
    place = f"byte {source.offset}"
    try:
        for number, content, is_whole, offset in _fields(source):
            place = f"byte {offset}"
            if not is_whole:
                tally.skip(TOO_LARGE if len(content) == MAX_FIELD_BYTES else TRUNCATED, place)
            if number == 1:
                yield content, is_whole, place
    except _EndError:
        tally.skip(TRUNCATED, place)
    except _MalformedError:
        tally.skip(MALFORMED, place)


def _fields(source: "_Source") -> Iterator[tuple[int, bytes, bool, int]]:
    while source.peek(1):
        offset = source.offset
        tag = source.varint()
        wire_type = tag & 7
        if wire_type == _VARINT:
            source.varint()
        elif wire_type in _SIZES:
            source.pass_over(_SIZES[wire_type])
        elif wire_type == _BYTES and tag >> 3:
            length = source.varint()
            content = source.take(min(length, MAX_FIELD_BYTES))
            yield tag >> 3, content, len(content) == length, offset
            source.pass_over(length - MAX_FIELD_BYTES)
        else:
            raise _MalformedError


class _Source:
    def __init__(self, stream: BinaryIO, offset: int = 0) -> None:
        self.offset = offset
        self._stream = stream
        self._ahead = b""

    def peek(self, count: int) -> bytes:
        while len(self._ahead) < count and (piece := self._stream.read(count - len(self._ahead))):
            self._ahead += piece
        return self._ahead[:count]

    def take(self, count: int) -> bytes:
        """As many bytes, or fewer at the end."""
        pieces = [self._ahead[:count]]
        self._ahead = self._ahead[count:]
        missing = count - len(pieces[0])
        while missing and (piece := self._stream.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
        self.offset += count - missing
        return b"".join(pieces)

    def pass_over(self, count: int) -> None:
        while count > 0:
            passed = len(self.take(min(count, 1 << 20)))
            if not passed:
                raise _EndError
            count -= passed

    def varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)
            if not byte:
                raise _EndError
            number |= (byte[0] & 127) << shift
            if byte[0] < 128:
                return number
        raise _MalformedError
