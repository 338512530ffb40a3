"""The elements of the arrays that JSON documents of any size hold, one by one, however damaged the documents are.

A file may be one document or many: JSON lines, concatenated, pretty-printed. Lines that are a document each are decoded
whole; of others no more than one element is in memory. Damage costs the element that it is in: a regular expression
finds where an element ends, which fails within a few bytes of a lost quote or bracket (text outside of quotes, a line
break within), and reading goes on where the next element or line starts. What has been read in vain is limited, so
that no input takes more than time in proportion to its size.
"""

import codecs
import json
import re
from collections.abc import Collection, Generator, Iterator
from typing import Any, BinaryIO

import orjson

from cutset.traces.files.json_grammar import (
    CONTAINER,
    KEY,
    LEFTOVER,
    MALFORMED,
    SCALAR,
    SPACE,
    START,
    UNCLOSED_STRING,
    DamageError,
    end_of,
    is_whole,
    walk,
)
from cutset.traces.tally import ReadTally

CHUNK_BYTES = 1 << 20
MAX_ELEMENT_BYTES = 64 << 20
_OVERLAP = 4096  # bytes in which the start of an element, cut by the end of a chunk, is found again

TRUNCATED = "truncated JSON"
TOO_LARGE = f"JSON element over {MAX_ELEMENT_BYTES >> 20} MB"
NOT_UTF8 = "text that is not UTF-8 (kept, with replacements)"


def elements(stream: BinaryIO, tally: ReadTally, arrays: Collection[str]) -> Iterator[tuple[Any, str]]:
    """Each element with its place, such as `data[17]` or `line 3, data[17]`.

    Elements are those of the documents that are arrays, and of the arrays under the keys `arrays` (`data`; or
    `trace.batches`, of an object in an object). A document that is an object without any such key is an element itself.
    """
    return _Reader(stream, tally, arrays).elements()


_Elements = Generator[tuple[Any, str], None, bool]  # what it returns: whether there was a place for any


class _Reader:
    def __init__(self, stream: BinaryIO, tally: ReadTally, arrays: Collection[str]) -> None:
        self._stream = stream
        self._tally = tally
        self._arrays = frozenset(arrays)
        self._parents = {path.rpartition(".")[0] for path in arrays}
        self._buffer = b""
        self._at = 0
        self._held: int | None = None  # from where the document is kept, as it may be an element itself
        self._ended = False
        self._read = 0  # bytes
        self._in_vain = 0  # bytes
        self._line, self._counted = 1, 0  # the line of the position up to which lines are counted
        self._document_line = 1
        self._document_start = b""  # if it starts a line: a line that starts alike is another document
        self._path, self._index = "", -1
        self._example = b""  # how an element starts, preferably one without damage
        self._has_good_example = False

    def elements(self) -> Iterator[tuple[Any, str]]:
        in_array = False
        while True:
            try:
                if in_array:
                    yield from self._elements()
                    in_array = self._recover(self._at)  # the rest of a damaged document says nothing new
                elif self._peek():
                    yield from self._document()
                else:
                    return
            except DamageError as damage:
                self._tally.skip(damage.reason, self._place())
                self._in_vain += damage.until - self._at
                affordable = self._in_vain <= self._read + CHUNK_BYTES
                in_array = self._recover(self._at + 1 if affordable else max(damage.until, self._at + 1))

    def _document(self) -> Iterator[tuple[Any, str]]:
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = self._at
        self._document_line, self._path, self._index = self._line, "", -1
        starts_line = self._at == 0 or self._buffer[self._at - 1] == ord("\n")
        if starts_line and (document := self._decoded_line()) is not None:
            found = yield from self._inside(document, "")
            if not found:
                yield document, self._place()
            return
        start = START.match(self._buffer, self._at) if starts_line else None
        self._document_start = start[0] if start else b""
        match self._peek():
            case b"[":
                self._at += 1
                yield from self._elements()
            case b"{":
                self._held = self._at
                found = yield from self._members("")
                if not found:
                    yield from self._held_document()
            case b"," | b"]" | b"}":
                self._at = end_of(LEFTOVER, self._buffer, self._at)
            case _:
                raise DamageError(MALFORMED, self._at + 1)

    def _decoded_line(self) -> dict[str, Any] | list[Any] | None:
        if len(self._buffer) - self._at < CHUNK_BYTES:
            self._more()
        end = self._buffer.find(b"\n", self._at)
        if end < 0:
            if not self._ended:
                return None
            end = len(self._buffer)
        try:
            document = orjson.loads(memoryview(self._buffer)[self._at : end])
        except orjson.JSONDecodeError:
            return None
        if not isinstance(document, dict | list):
            return None
        self._at = end
        return document

    def _inside(self, document: dict[str, Any] | list[Any], path: str) -> _Elements:
        """The elements of a decoded document."""
        if isinstance(document, list):
            self._path = path
            for self._index, element in enumerate(document):
                yield element, self._place()
            return True
        found = False
        for key, value in document.items():
            name = f"{path}.{key}" if path else key
            if name in self._arrays:
                found = True
                if isinstance(value, list):
                    yield from self._inside(value, name)
            elif name in self._parents and isinstance(value, dict):
                found |= yield from self._inside(value, name)
        return found

    def _members(self, path: str) -> _Elements:
        """The elements inside the object that starts here."""
        found = False
        self._at += 1
        while (byte := self._peek()) != b"}":
            if byte == b",":
                self._at += 1
                continue
            if byte in (b"{", b"["):  # instead of a key
                self._ensure_no_document_starts(byte)
            key = self._key()
            name = f"{path}.{key}" if path else key
            value = self._peek()
            if not value:
                raise DamageError(TRUNCATED, self._at)
            self._ensure_no_document_starts(self._document_start)
            if name in self._arrays:
                found, self._held = True, None
                if value == b"[":
                    self._at += 1
                    self._path, self._index = name, -1
                    yield from self._elements()
                    continue
            elif name in self._parents and value == b"{":
                found |= yield from self._members(name)
                continue
            end = self._end_of_value()
            self._at = self._at if end is None else end
        self._at += 1
        return found

    def _key(self) -> str:
        while (match := KEY.match(self._buffer, self._at)) is None:
            unclosed = end_of(UNCLOSED_STRING, self._buffer, self._at)
            if unclosed == self._at or len(self._buffer) - unclosed > _OVERLAP:
                raise DamageError(MALFORMED if self._at < len(self._buffer) else TRUNCATED, unclosed)
            if not self._more():
                raise DamageError(TRUNCATED, len(self._buffer))
        self._at = match.end()
        return match[1][1:-1].decode(errors="replace")

    def _held_document(self) -> Iterator[tuple[Any, str]]:
        if self._held is None:
            self._tally.skip(TOO_LARGE, self._place())
            return
        start, self._held = self._held, None
        try:
            yield self._decode(self._buffer[start : self._at]), self._place()
        except (ValueError, RecursionError):
            self._tally.skip(MALFORMED, self._place())

    def _elements(self) -> Iterator[tuple[Any, str]]:
        """Those up to the end of the array that we are in."""
        while (byte := self._peek()) != b"]":
            if byte == b",":
                self._at += 1
                continue
            if not byte:
                raise DamageError(TRUNCATED, self._at)
            self._index += 1
            self._ensure_no_document_starts(self._document_start)
            if not self._example:
                self._example = self._buffer[self._at : self._at + _OVERLAP]
            end = self._end_of_value()
            if end is None:
                self._tally.skip(TOO_LARGE, self._place())
                continue
            piece = self._buffer[self._at : end]
            try:
                element = self._decode(piece)
            except (ValueError, RecursionError):
                if not is_whole(piece):
                    raise DamageError(MALFORMED, end) from None
                self._tally.skip(MALFORMED, self._place())
                self._at = end
                continue
            if not self._has_good_example:
                self._example, self._has_good_example = piece[:_OVERLAP], True
            self._at = end
            yield element, self._place()
        self._at += 1

    def _ensure_no_document_starts(self, start: bytes) -> None:
        """Behind a line that was cut off, the next document may look like a part of that line's."""
        if start and self._buffer.startswith(start, self._at) and self._buffer[self._at - 1] == ord("\n"):
            self._at -= 1
            raise DamageError(TRUNCATED, self._at)

    def _end_of_value(self) -> int | None:
        """Where the value that starts here ends; None if it was too large, and has been passed over."""
        if self._buffer[self._at] not in b"[{":
            return self._end_of_scalar()
        match = CONTAINER.match(self._buffer, self._at)
        if match is None and self._more():
            match = CONTAINER.match(self._buffer, self._at)
        if match is not None:
            return match.end()
        open_brackets, before, scanned, too_large = bytearray(), b"[", 0, False
        while True:
            end, before = walk(self._buffer, self._at + scanned, open_brackets, before)
            if not open_brackets:
                break
            scanned = end - self._at
            if scanned > MAX_ELEMENT_BYTES:
                self._at, scanned, too_large = end, 0, True
            if len(self._buffer) - end > MAX_ELEMENT_BYTES:  # one string
                raise DamageError(TOO_LARGE, len(self._buffer))
            if not self._more():
                raise DamageError(TRUNCATED, len(self._buffer))
        if too_large or end - self._at > MAX_ELEMENT_BYTES:
            self._at = end
            return None
        return end

    def _end_of_scalar(self) -> int:
        while (match := SCALAR.match(self._buffer, self._at)) is None or match.end() == len(self._buffer):
            unclosed = end_of(UNCLOSED_STRING, self._buffer, self._at)
            if match is None and unclosed < len(self._buffer):
                raise DamageError(MALFORMED, unclosed + 1)
            if len(self._buffer) - self._at > MAX_ELEMENT_BYTES:
                raise DamageError(TOO_LARGE, len(self._buffer))
            if not self._more():
                if match is not None:
                    break
                raise DamageError(TRUNCATED, len(self._buffer))
        return match.end()

    def _decode(self, piece: bytes) -> Any:
        try:
            return orjson.loads(piece)
        except orjson.JSONDecodeError:
            pass
        # What orjson refuses and others write: halves of surrogate pairs, NaN, control characters, broken UTF-8.
        try:
            return json.loads(piece.decode(), strict=False)
        except UnicodeDecodeError:
            element = json.loads(piece.decode(errors="replace"), strict=False)
            self._tally.skip(NOT_UTF8, self._place())
            return element

    def _recover(self, start: int) -> bool:
        """Go on where something starts, at `start` or later; whether that is an element (and not a document)."""
        self._held = None
        self._at = start
        example = START.match(self._example)
        element = rb"|[,\[][ \t\r\n]*+(?=" + re.escape(example[0]) + rb")" if example else b""
        beginning = re.compile(rb"\n(?=[\[{])" + element)
        while (match := beginning.search(self._buffer, max(0, self._at - 1))) is None:
            self._at = max(self._at, len(self._buffer) - _OVERLAP)
            if not self._more():
                self._at = len(self._buffer)
                return False
        self._at = match.end()
        return match[0] != b"\n"

    def _peek(self) -> bytes:
        """The next byte that is not white space; none at the end."""
        while True:
            self._at = end_of(SPACE, self._buffer, self._at)
            if self._at < len(self._buffer) or not self._more():
                return self._buffer[self._at : self._at + 1]

    def _more(self) -> bool:
        """Read on, and forget what lies behind, but for the byte before: it says whether a line starts here."""
        if self._ended:
            return False
        if self._held is not None and len(self._buffer) - self._held > MAX_ELEMENT_BYTES:
            self._held = None
        first = max(0, (self._at if self._held is None else self._held) - 1)
        self._line += self._buffer.count(b"\n", self._counted, first)
        self._counted = max(0, self._counted - first)
        self._at -= first
        self._held = None if self._held is None else self._held - first
        pieces, missing = [self._buffer[first:]], max(CHUNK_BYTES, len(self._buffer) - first)
        while missing > 0 and (piece := self._stream.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
        self._ended = missing > 0
        self._buffer = b"".join(pieces)
        if self._read == 0 and self._buffer.startswith(codecs.BOM_UTF8):
            self._buffer = self._buffer[len(codecs.BOM_UTF8) :]
        self._read += sum(map(len, pieces[1:]))
        return len(pieces) > 1

    def _place(self) -> str:
        inside = f"{self._path}[{self._index}]" if self._index >= 0 else ""
        if inside and self._document_line == 1:
            return inside
        return f"line {self._document_line}, {inside}" if inside else f"line {self._document_line}"
