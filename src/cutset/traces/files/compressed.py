"""Files as if they were not compressed: gzip and zstd, known by their first bytes, as far as they are whole.

Memory stays bounded whatever a file inflates to: it is inflated in small steps. A damaged file gives what comes before
the damage, and is counted.
"""

import io
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Protocol

import zstandard

from cutset.traces.tally import ReadTally

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

_READ_BYTES = 1 << 20
_STEP_BYTES = 1024  # that are inflated at once: to 1 MB in the worst case of gzip, and 32 MB in that of zstd


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def with_head(stream: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """The first bytes, and a stream that still has them."""
    pieces = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    head = b"".join(pieces)
    return head, _buffered(_chained(head, stream))


def inflated(stream: BinaryIO, tally: ReadTally) -> BinaryIO:
    head, stream = with_head(stream, 8)
    if head.startswith(GZIP):
        return _buffered(_inflate(stream, "gzip", tally))
    if head[4:] == ZSTD:
        return _buffered(_inflate(_buffered(_without_lengths(stream)), "zstd", tally))
    if head.startswith(ZSTD):
        return _buffered(_inflate(stream, "zstd", tally))
    return stream


def content_from(file: BinaryIO, offset: int, tally: ReadTally) -> BinaryIO:
    """The content of a file from that byte on; what is compressed is inflated up to there."""
    file.seek(0)
    head = file.read(8)
    if not (head.startswith((GZIP, ZSTD)) or head[4:] == ZSTD):
        file.seek(offset)
        return file
    file.seek(0)
    stream = inflated(file, tally)
    while offset and (piece := stream.read(min(offset, _READ_BYTES))):
        offset -= len(piece)
    return stream


def _inflate(stream: BinaryIO, name: str, tally: ReadTally) -> Iterator[bytes]:
    """All members (of gzip) or frames (of zstd), one behind the other."""
    decoder, is_between, size = _decoder(name), True, 0
    data = b""
    while data := (data or stream.read(_STEP_BYTES)):
        if is_between:
            data = data.lstrip(b"\0")  # with which some tools fill up blocks
            if not data:
                continue
        try:
            piece = decoder.decompress(data)
        except (zlib.error, zstandard.ZstdError):
            tally.skip(f"corrupt {name}", f"byte {size} of the content")
            return
        size += len(piece)
        yield piece
        is_between = decoder.eof
        data = decoder.unused_data
        if is_between:
            decoder = _decoder(name)
    if not is_between:
        tally.skip(f"truncated {name}", f"byte {size} of the content")


def _decoder(name: str) -> _Decoder:
    return zlib.decompressobj(zlib.MAX_WBITS | 16) if name == "gzip" else zstandard.ZstdDecompressor().decompressobj()


def _without_lengths(stream: BinaryIO) -> Iterator[bytes]:
    """What the OpenTelemetry Collector's file exporter compresses: before each frame, its length in four bytes."""
    while head := stream.read(4):
        length = int.from_bytes(head)
        while length and (piece := stream.read(min(length, _READ_BYTES))):
            length -= len(piece)
            yield piece


def _chained(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while piece := stream.read(_READ_BYTES):
        yield piece


def _buffered(pieces: Iterator[bytes]) -> BinaryIO:
    return io.BufferedReader(_Pieces(pieces))


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: "WriteableBuffer") -> int:
        while not self._rest and (piece := next(self._pieces, None)) is not None:
            self._rest = memoryview(piece)
        view = memoryview(target).cast("B")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
