"""The elements of the arrays that JSON documents of any size hold, one by one, however damaged the documents are.

A file may be one document or many: JSON lines, concatenated, pretty-printed. Lines that are a document each are decoded
whole; of others no more than one element is in memory. Damage costs the element that it is in: a regular expression
finds where an element ends, which fails within a few bytes of a lost quote or bracket (text outside of quotes, a line
break within), and reading goes on where the next element or line starts. What has been read in vain is limited, so
that no input takes more than time in proportion to its size.

Most files are in order, and most of their elements alike: who knows what elements look like decodes whole *blocks* of
them at once, many times as fast. A block with anything out of the ordinary is read element by element, as above.
"""

import codecs
import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import msgspec
import orjson

from cutset.traces.files.in_order import Position, UnlikeError
from cutset.traces.files.json_grammar import (
    CONTAINER,
    KEY,
    LEFTOVER,
    MALFORMED,
    SCALAR,
    SPACE,
    START,
    START_OF_ALIKE,
    UNCLOSED_STRING,
    DamageError,
    end_of,
    is_whole,
    walk,
    whole_parts,
)
from cutset.traces.tally import ReadTally

CHUNK_BYTES = 1 << 20
MAX_ELEMENT_BYTES = 64 << 20
_OVERLAP = 4096  # bytes in which the start of an element, cut by the end of a chunk, is found again

TRUNCATED = "truncated JSON"
TOO_LARGE = f"JSON element over {MAX_ELEMENT_BYTES >> 20} MB"
NOT_UTF8 = "text that is not UTF-8 (kept, with replacements)"


Item = TypeVar("Item")
Decoded = TypeVar("Decoded")


@dataclass(frozen=True, slots=True)
class Blocks(Generic[Item]):
    """How to decode many elements at once. Both may raise `UnlikeError` or what msgspec raises, without any effect."""

    of_documents: Callable[[bytes], list[Item]]  # that follow one another
    of_elements: Callable[[bytes], tuple[int, list[Item]]]  # inside the brackets of an array; and how many those are


class Torn(dict[str, Any]):
    """The last element of a file that was cut off, as far as it is there."""


def elements(
    stream: BinaryIO, tally: ReadTally, arrays: Collection[str], *, torn_at: int = 0
) -> Iterator[tuple[Any, str]]:
    """Each element with its place, such as `data[17]` or `line 3, data[17]`.

    Elements are those of the documents that are arrays, and of the arrays under the keys `arrays` (`data`; or
    `trace.batches`, of an object in an object). A document that is an object without any such key is an element itself.
    Of a file that was cut off, its last element comes with those of its parts that are whole, if it has any: those
    inside so many brackets.
    """
    for found, _ in _Reader(stream, tally, arrays, torn_at=torn_at).elements():
        yield from found


def batches(
    stream: BinaryIO,
    tally: ReadTally,
    arrays: Collection[str],
    *,
    read: Callable[[Any, str], Iterable[Item]],
    blocks: Blocks[Item] | None,
    position: Position = (),
    torn_at: int = 0,
) -> Iterator[tuple[list[Item], Position]]:
    """What elements hold, some at a time, and the position behind them: a stream from there on gives all the rest.

    `read` gives what one element holds. Whatever the blocks are, what comes out is the same as without.
    """
    reader = _Reader(stream, tally, arrays, blocks=blocks, position=position, torn_at=torn_at)
    for found, of_block in reader.elements():
        yield [*of_block, *(item for element, place in found for item in read(element, place))], reader.position()


class _State(NamedTuple):
    """Where the reader is between two elements."""

    offset: int  # in the content, of the byte before; that tells whether a line starts here
    line: int = 1
    in_vain: int = 0
    example: str = ""
    has_good_example: bool = False
    within: str = ""  # nothing, so that a document comes next; or an array
    path: str = ""
    element: int = -1
    document_line: int = 1
    document_start: str = ""


_ARRAY, _SALVAGED_ARRAY = "array", "salvaged array"  # the latter, of a damaged document
_Found = tuple[list[tuple[Any, str]], list[Any]]  # elements, each with its place; or what a block held
_Elements = Generator[_Found, None, bool]  # what it returns: whether there was a place for any


class _Reader:
    def __init__(
        self,
        stream: BinaryIO,
        tally: ReadTally,
        arrays: Collection[str],
        *,
        blocks: Blocks[Any] | None = None,
        position: Position = (),
        torn_at: int = 0,
    ) -> None:
        self._stream = stream
        self._tally = tally
        self._arrays = frozenset(arrays)
        self._parents = {path.rpartition(".")[0] for path in arrays}
        self._blocks = blocks
        self._torn_at = torn_at
        self._no_block_until = {"lines": 0, "elements": 0}  # offsets: what was tried in vain
        state = _State(*position) if position else _State(0)  # type: ignore[arg-type]
        self._buffer = stream.read(1) if position else b""
        self._offset = state.offset  # of the buffer, in the content
        self._at = len(self._buffer)
        self._within = state.within
        self._held: int | None = None  # from where the document is kept, as it may be an element itself
        self._ended = False
        self._read = state.offset  # bytes
        self._in_vain = state.in_vain  # bytes
        self._line, self._counted = state.line, self._at  # the line of the position up to which lines are counted
        self._document_line = state.document_line
        # If it starts a line: a line that starts alike is another document.
        self._document_start = state.document_start.encode("latin-1")
        self._path, self._index = state.path, state.element
        self._example = state.example.encode("latin-1")  # how an element starts, preferably one without damage
        self._has_good_example = state.has_good_example

    def position(self) -> Position:
        self._count_lines()
        alike = START_OF_ALIKE.match(self._example)
        return _State(
            self._offset + max(0, self._at - 1),
            self._line,
            self._in_vain,
            (alike[0] if alike else self._example[:1]).decode("latin-1"),
            self._has_good_example,
            *(self._within, self._path, self._index, self._document_line, self._document_start.decode("latin-1")),
        )

    def elements(self) -> Iterator[_Found]:
        while True:
            try:
                if self._within == _SALVAGED_ARRAY:
                    yield from self._elements()
                    self._recover(self._at)  # the rest of a damaged document says nothing new
                elif self._within:
                    yield from self._rest_of_document()
                elif self._peek():
                    yield from self._document()
                else:
                    return
            except DamageError as damage:
                self._tally.skip(damage.reason, self._place())
                if self._torn_at and damage.reason == TRUNCATED and damage.until == len(self._buffer):
                    yield from self._torn()
                    return
                self._in_vain += damage.until - self._at
                affordable = self._in_vain <= self._read + CHUNK_BYTES
                self._recover(self._at + 1 if affordable else max(damage.until, self._at + 1))

    def _document(self) -> Iterator[_Found]:
        self._count_lines()
        self._document_line, self._path, self._index = self._line, "", -1
        starts_line = self._at == 0 or self._buffer[self._at - 1] == ord("\n")
        if starts_line and (items := self._block_of_lines()) is not None:
            yield [], items
            return
        if starts_line and (document := self._decoded_line()) is not None:
            inside = self._inside(document, "")
            yield ([(document, self._place())] if inside is None else inside), []
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

    def _inside(self, document: dict[str, Any] | list[Any], path: str) -> list[tuple[Any, str]] | None:
        """The elements of a decoded document; None if there is no place for any."""
        found: list[tuple[Any, str]] = []
        if isinstance(document, list):
            self._path = path
            for self._index, element in enumerate(document):
                found.append((element, self._place()))
            return found
        has_place = False
        for key, value in document.items():
            name = f"{path}.{key}" if path else key
            inside: list[tuple[Any, str]] | None = None
            if name in self._arrays:
                inside = (self._inside(value, name) if isinstance(value, list) else None) or []
            elif name in self._parents and isinstance(value, dict):
                inside = self._inside(value, name)
            has_place |= inside is not None
            found += inside or ()
        return found if has_place else None

    def _rest_of_document(self) -> Iterator[_Found]:
        """Behind an element of one of its arrays."""
        yield from self._elements()
        path = self._path
        while path:
            path = path.rpartition(".")[0]
            yield from self._rest_of_members(path)

    def _members(self, path: str) -> _Elements:
        """The elements inside the object that starts here."""
        self._at += 1
        return (yield from self._rest_of_members(path))

    def _rest_of_members(self, path: str) -> _Elements:
        found = False
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

    def _held_document(self) -> Iterator[_Found]:
        if self._held is None:
            self._tally.skip(TOO_LARGE, self._place())
            return
        start, self._held = self._held, None
        try:
            yield [(self._decode(self._buffer[start : self._at]), self._place())], []
        except (ValueError, RecursionError):
            self._tally.skip(MALFORMED, self._place())

    def _elements(self) -> Iterator[_Found]:
        """Those up to the end of the array that we are in."""
        self._within = self._within or _ARRAY
        while (byte := self._peek()) != b"]":
            if byte == b",":
                self._at += 1
                continue
            if not byte:
                raise DamageError(TRUNCATED, self._at)
            if (items := self._block_of_elements()) is not None:
                yield [], items
                continue
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
            yield [(element, self._place())], []
        self._at += 1
        self._within = ""

    def _torn(self) -> Iterator[_Found]:
        piece = whole_parts(self._buffer[self._at if self._held is None else self._held :], self._torn_at)
        self._at, self._within = len(self._buffer), ""
        try:
            element = self._decode(piece)
        except (ValueError, RecursionError):
            return
        if isinstance(element, dict):
            yield [(Torn(element), self._place())], []

    def _block_of_lines(self) -> list[Any] | None:
        if self._blocks is None or self._offset + self._at < self._no_block_until["lines"]:
            return None
        if len(self._buffer) - self._at < CHUNK_BYTES:
            self._more()
        end = len(self._buffer) if self._ended else self._buffer.rfind(b"\n", self._at) + 1
        return self._from_block("lines", end, self._blocks.of_documents)

    def _block_of_elements(self) -> list[Any] | None:
        if self._blocks is None or self._offset + self._at < self._no_block_until["elements"]:
            return None
        if not self._has_good_example or (alike := START_OF_ALIKE.match(self._example)) is None:
            return None
        if len(self._buffer) - self._at < CHUNK_BYTES:
            self._more()
        found = self._from_block("elements", self._start_of_last(alike), self._blocks.of_elements)
        if found is None:
            return None
        count, items = found
        self._index += count
        return items

    def _start_of_last(self, alike: re.Match[bytes]) -> int:
        """The comma before the last element in the buffer, by what elements start with. It need not be right: that of
        something inside an element gives a block that cannot be decoded, and is not."""
        end = len(self._buffer)
        while (end := self._buffer.rfind(alike["start"], self._at, end)) > 0:
            if (start := START_OF_ALIKE.match(self._buffer, end)) and start["next"] == alike["next"]:
                before = end - 1
                while self._buffer[before] in b" \t\r\n":
                    before -= 1
                if self._buffer[before] == ord(","):
                    return before
        return 0

    def _from_block(self, kind: str, end: int, decode: Callable[[bytes], Decoded]) -> Decoded | None:
        block = self._buffer[self._at : end]
        if not block or (self._document_start and b"\n" + self._document_start in block):
            return None  # or it is behind a line that was cut off
        try:
            if not block.isascii():
                block.decode()  # msgspec does not look at what nobody asks for
            found = decode(block)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, UnlikeError):
            self._no_block_until[kind] = self._offset + end
            return None
        self._at = end
        return found

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

    def _recover(self, start: int) -> None:
        """Go on where something starts, at `start` or later: an element, or else a document."""
        self._held, self._within = None, ""
        self._at = start
        example = START.match(self._example)
        element = rb"|[,\[][ \t\r\n]*+(?=" + re.escape(example[0]) + rb")" if example else b""
        beginning = re.compile(rb"\n(?=[\[{])" + element)
        while (match := beginning.search(self._buffer, max(0, self._at - 1))) is None:
            self._at = max(self._at, len(self._buffer) - _OVERLAP)
            if not self._more():
                self._at = len(self._buffer)
                return
        self._at = match.end()
        self._within = "" if match[0] == b"\n" else _SALVAGED_ARRAY

    def _count_lines(self) -> None:
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = max(self._counted, self._at)

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
        self._offset += first
        pieces, missing = [self._buffer[first:]], max(CHUNK_BYTES, len(self._buffer) - first)
        while missing > 0 and (piece := self._stream.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
        self._ended = missing > 0
        self._buffer = b"".join(pieces)
        if self._read == self._offset == 0 and self._buffer.startswith(codecs.BOM_UTF8):
            self._buffer = self._buffer[len(codecs.BOM_UTF8) :]
            self._offset = len(codecs.BOM_UTF8)
        self._read += sum(map(len, pieces[1:]))
        return len(pieces) > 1

    def _place(self) -> str:
        inside = f"{self._path}[{self._index}]" if self._index >= 0 else ""
        if inside and self._document_line == 1:
            return inside
        return f"line {self._document_line}, {inside}" if inside else f"line {self._document_line}"
