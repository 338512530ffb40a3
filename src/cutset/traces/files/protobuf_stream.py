"""The fields of protobuf messages of any size, one by one, as far as the messages are whole.

A file holds one message, or many with the length of each in four bytes before it, as the OpenTelemetry Collector's file
exporter writes them. Messages behind one another without lengths are, in protobuf, one message.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO, TypeVar

from google.protobuf.message import DecodeError

from cutset.traces.files.in_order import Position, UnlikeError
from cutset.traces.tally import ReadTally

MAX_FIELD_BYTES = 64 << 20

MALFORMED = "malformed protobuf"
TRUNCATED = "truncated protobuf"
TOO_LARGE = f"protobuf field over {MAX_FIELD_BYTES >> 20} MB"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_FIRST_FIELD = b"\x0a"  # number 1, with a length: the tag that OTLP's outermost messages start with


Item = TypeVar("Item")
_Field = tuple[bytes, bool, str]  # its bytes, whether they are all there, and its place


class _EndError(Exception):
    """The bytes end in the middle of something."""


class _MalformedError(Exception):
    """No protobuf has these bytes."""


def first_fields(stream: BinaryIO, tally: ReadTally) -> Iterator[_Field]:
    """Of each message every field 1."""
    source = _Source(stream)
    for _, _, found in _messages(source, tally, is_framed=source.peek(1) != _FIRST_FIELD):
        yield from found


def batches(
    stream: BinaryIO,
    tally: ReadTally,
    *,
    read: Callable[[bytes, bool, str], Iterable[Item]],
    decode: Callable[[bytes], list[Item]],
    position: Position = (),
) -> Iterator[tuple[list[Item], Position]]:
    """What messages hold, some at a time, and the position behind them: a stream from there on gives all the rest.

    `decode` is for a message that holds what it should, and raises `UnlikeError` or `DecodeError`, without any effect,
    for another; of that one, `read` gives what each field 1 holds, as `first_fields` has them.
    """
    source = _Source(stream, int(position[0]) if position else 0)
    is_framed = bool(position[1]) if position else source.peek(1) != _FIRST_FIELD
    items: list[Item] = []
    for message, is_whole, found in _messages(source, tally, is_framed=is_framed):
        try:
            items += decode(message)
        except (DecodeError, UnlikeError):
            for field in found:
                items += read(*field)
        if is_whole:
            yield items, (source.offset, int(is_framed))
            items = []
    if items:
        yield items, (source.offset, int(is_framed))


def _messages(
    source: "_Source", tally: ReadTally, *, is_framed: bool
) -> Iterator[tuple[bytes, bool, Iterable[_Field]]]:
    """Messages, whether they are all there, and their fields 1; without frames, each such field is a message."""
    if not is_framed:
        for field in _first_fields(source, tally):
            content, is_whole, _ = field
            yield _FIRST_FIELD + _varint(len(content)) + content, is_whole, (field,)
        return
    while head := source.take(4):
        place, length = source.offset, int.from_bytes(head)
        if length > MAX_FIELD_BYTES:
            tally.skip(TOO_LARGE, f"byte {place}")
            with suppress(_EndError):
                source.pass_over(length)
            continue
        message = source.take(length)
        is_whole = len(head) == 4 and len(message) == length
        if not is_whole:
            tally.skip(TRUNCATED, f"byte {place}")
        # What is torn has been counted already.
        yield message, is_whole, _first_fields(_Source(BytesIO(message), place), tally if is_whole else ReadTally())


def fields(message: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Number, bytes and wholeness of the fields that have a length, up to the first that is torn or malformed."""
    try:
        yield from _fields(_Source(BytesIO(message)))
    except (_EndError, _MalformedError):
        return


def _first_fields(source: "_Source", tally: ReadTally) -> Iterator[_Field]:
    try:
        for number, content, is_whole in _fields(source):
            place = f"byte {source.field}"
            if not is_whole:
                tally.skip(TOO_LARGE if len(content) == MAX_FIELD_BYTES else TRUNCATED, place)
            if number == 1:
                yield content, is_whole, place
    except _EndError:
        tally.skip(TRUNCATED, f"byte {source.field}")
    except _MalformedError:
        tally.skip(MALFORMED, f"byte {source.field}")


def _fields(source: "_Source") -> Iterator[tuple[int, bytes, bool]]:
    while source.peek(1):
        source.field = source.offset
        tag = source.varint()
        wire_type = tag & 7
        if wire_type == _VARINT:
            source.varint()
        elif wire_type in _SIZES:
            source.pass_over(_SIZES[wire_type])
        elif wire_type == _BYTES and tag >> 3:
            length = source.varint()
            content = source.take(min(length, MAX_FIELD_BYTES))
            yield tag >> 3, content, len(content) == length
            source.pass_over(length - MAX_FIELD_BYTES)
        else:
            raise _MalformedError


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


class _Source:
    def __init__(self, stream: BinaryIO, offset: int = 0) -> None:
        self.offset = offset
        self.field = offset  # where the field starts that is read now
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
