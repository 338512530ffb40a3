"""What is new in files that a collector writes to, in pieces of whole records.

A record is a line of JSON, or what the OpenTelemetry Collector's file exporter writes with a length of four bytes
before it: protobuf, or anything that it compressed. The last record may not be whole yet: it waits.

Files are renamed when they are full, truncated, deleted, and their numbers given to others. So a file is known by its
number and its first record together, whatever it is called. A copy is another file: what is read twice is stored once.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cutset.errors import UsageError
from cutset.traces.files.compressed import ZSTD
from cutset.traces.files.find import find_files
from cutset.traces.tally import ReadTally

NOT_FOLLOWED = "file that cannot be followed: neither lines of JSON nor records"
DELETED_UNREAD = "file that was deleted before all of it was read"

PIECE_BYTES = 8 << 20  # of JSON some 15,000 spans
MAX_RECORD_BYTES = 64 << 20  # what is larger is not waited for: the reader skips and counts it
_KNOWN_BY_BYTES = 16 << 10  # of the first record: behind the resource's attributes come ids, which no other file has
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole records of a source that may have more."""

    name: str  # where it is
    content: bytes
    cursor: str
    position: int  # behind it: where to go on


class GrowingFiles:
    """The files of some sources, as they are whenever somebody looks.

    A source may have no file yet. One that is the name of a file stands for what it was rotated into, as well.
    """

    def __init__(self, sources: Sequence[str], tally: ReadTally) -> None:
        self._sources = sources
        self._tally = tally
        self._files: dict[str, _GrowingFile] = {}  # by their cursors, when they were last looked at
        self._refused: set[Path] = set()
        self.behind = 0  # bytes that were there when they were last looked at, and are not read yet

    def __len__(self) -> int:
        return len(self._files)

    def look(self, position_of: Callable[[str], int]) -> list[str]:
        """Finds out what there is now; returns the cursors of files that are no more."""
        before, self._files = self._files, {file.cursor: file for file in self._find() if file.cursor}
        self.behind = sum(file.size - position_of(file.cursor) for file in self._files.values())
        gone = [cursor for cursor in before if cursor not in self._files]
        for cursor in gone:
            if before[cursor].size > position_of(cursor):
                self._tally.skip(DELETED_UNREAD, str(before[cursor].path))
        return gone

    def pieces(self, position_of: Callable[[str], int]) -> Iterator[Piece]:
        """What is new in each of them, up to its last whole record."""
        for file in list(self._files.values()):
            position = position_of(file.cursor)
            if position < file.size:
                others = self.behind - (file.size - position)
                for piece in _pieces(file, position):
                    self.behind = others + max(0, file.size - piece.position)
                    yield piece
                self.behind = others  # the rest is no whole record yet

    def _find(self) -> Iterator["_GrowingFile"]:
        for path in dict.fromkeys(path for source in self._sources for path in _files_of(source)):
            with suppress(FileNotFoundError, IsADirectoryError):  # renamed or deleted since, or no file
                yield self._opened(path)

    def _opened(self, path: Path) -> "_GrowingFile":
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(8)
            content = head.removeprefix(b"\xef\xbb\xbf").lstrip()
            if content and not (_is_framed(head) or content[:1] in b"{["):
                if path not in self._refused:
                    self._refused.add(path)
                    self._tally.skip(NOT_FOLLOWED, str(path))
                return _GrowingFile(path, size, "")
            return _GrowingFile(path, size, _cursor(stream.fileno()))


@dataclass(frozen=True, slots=True)
class _GrowingFile:
    path: Path
    size: int
    cursor: str  # "" as long as it has no whole record


def _pieces(file: _GrowingFile, position: int) -> Iterator[Piece]:
    """From there on. Nothing if it is another file by now."""
    with suppress(FileNotFoundError), file.path.open("rb") as stream:
        if _cursor(stream.fileno()) != file.cursor:
            return
        framed = _is_framed(os.pread(stream.fileno(), 8, 0))
        stream.seek(position)
        rest = b""
        while new := stream.read(PIECE_BYTES):
            rest += new
            end = _end_of_frames(rest) if framed else rest.rfind(b"\n") + 1
            if not end and len(rest) > MAX_RECORD_BYTES:
                end = len(rest)
            if end:
                yield Piece(f"{file.path} from byte {position}", rest[:end], file.cursor, position + end)
                position += end
                rest = rest[end:]


def _files_of(source: str) -> list[Path]:
    path = Path(source)
    with suppress(UsageError):  # nothing matches, yet
        if path.is_dir() or any(sign in source for sign in "*?["):
            return find_files([source])
        rotated = (*path.parent.glob(f"{path.stem}-*{path.suffix}"), *path.parent.glob(f"{path.name}[.-]*"))
        return [*sorted(rotated), path]
    return []


def _cursor(file: int) -> str:
    """ "" if its first record is not whole yet."""
    head, facts = os.pread(file, _KNOWN_BY_BYTES, 0), os.fstat(file)
    first = _end_of_frames(head, at_most=1) if _is_framed(head) else head.find(b"\n") + 1
    if not first and len(head) < _KNOWN_BY_BYTES:
        return ""
    known_by = hashlib.sha256(head[: first or _KNOWN_BY_BYTES]).hexdigest()[:32]
    return f"{facts.st_dev:x}-{facts.st_ino:x}-{known_by}"


def _is_framed(head: bytes) -> bool:
    """By a length, and what it is the length of: compressed, or protobuf, whose first field is the only one."""
    return head[_LENGTH_BYTES:8] == ZSTD or (head[:1] == b"\0" and head[_LENGTH_BYTES:5] == b"\x0a")


def _end_of_frames(content: bytes, at_most: int | None = None) -> int:
    end = frames = 0
    while frames != at_most and len(content) - end >= _LENGTH_BYTES:
        next_end = end + _LENGTH_BYTES + int.from_bytes(content[end : end + _LENGTH_BYTES])
        if next_end > len(content):
            break
        end, frames = next_end, frames + 1
    return end
