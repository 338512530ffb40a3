"""Inflates what others compressed (gzip, zlib), within a limit: whole, with all of its members, or not at all."""

import zlib

from cutset.errors import InputError

MAX_MEMBERS = 1000  # a sender that flushes now and then has a few; 64 MB of empty ones would take seconds
_STEP_BYTES = 16 * 1024  # that are inflated at once: to 16 MB in the worst case
_EITHER = zlib.MAX_WBITS | 32  # finds out whether it is gzip or zlib


def inflate(data: bytes, *, limit: int) -> bytes | None:
    """The inflated data, or None if it is larger than the limit."""
    pieces, size, at = [], 0, 0
    for number in range(MAX_MEMBERS):
        stream = zlib.decompressobj(_EITHER)
        while not stream.eof:
            step = data[at : at + _STEP_BYTES]
            if not step:
                raise InputError(f"The gzip body of {len(data)} bytes is truncated")
            try:
                pieces.append(stream.decompress(step))
            except zlib.error as error:
                problem = "has bytes after its end that are not gzip" if number else "is not gzip, as it says"
                raise InputError(f"The body of {len(data)} bytes {problem}: {error}") from None
            size += len(pieces[-1])
            if size > limit:
                return None
            at += len(step) - len(stream.unused_data)
        if at == len(data):
            return b"".join(pieces)
    raise InputError(f"The gzip body of {len(data)} bytes has more than {MAX_MEMBERS} members")
