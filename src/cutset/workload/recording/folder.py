"""A recording on disk: a folder that only ever grows, and that a kill at any instant leaves readable.

    recording.json             the format's version, and when it was begun
    exchanges-0001.jsonl.zst   a segment: one zstd frame, with a checksum, for each batch that was acknowledged

A batch counts once its frame is synced to the disk. Whoever goes on with a recording begins a new segment, so that a
frame that was torn by a crash is always the last of its segment; `zstd -dc` reads all that is before it. The reader
takes what is whole, wherever the damage is, and counts the rest.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
import zstandard

from cutset.errors import HaltedError, InputError, TargetError, UsageError
from cutset.model.exchange import Exchange
from cutset.workload.recording.lines import exchange_from_line, exchange_to_line
from cutset_agent.wire import without_plans

FORMAT_VERSION = 1
SEGMENT_BYTES = 32 * 1024 * 1024  # a reader holds one segment at a time
FRAME_BYTES = 128 * 1024 * 1024  # inflated; a frame that says it holds more is damaged, or meant to harm
MAX_BYTES = 500_000_000

_ABOUT = "recording.json"
_SEGMENTS = "exchanges-*.jsonl.zst"
_MAGIC = b"\x28\xb5\x2f\xfd"  # how every zstd frame begins


@dataclass(frozen=True, slots=True)
class Recorded:
    exchanges: tuple[Exchange, ...]  # in order of start, each id once
    damaged: int = 0  # stretches of a segment, or lines, that could not be read
    torn: int = 0  # segments whose last batch was being written when the recorder died: nobody was told it is safe


class Recording:
    """Made by `open_recording`; appends whole batches or nothing."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.full = False
        self.exchanges = 0  # appended
        self._folder = folder
        self._max_bytes = max_bytes
        self._size = sum(path.stat().st_size for path in folder.glob(_SEGMENTS))
        self._segment: int | None = None  # a file descriptor
        self._compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)

    def append(self, exchanges: Sequence[Exchange]) -> None:
        """Returns when they are on the disk. Raises `HaltedError` if the recording may not grow any more."""
        if not exchanges:
            return
        frames = b"".join(map(self._compressor.compress, _parts(exchanges)))
        if self._size + len(frames) > self._max_bytes:
            self.full = True
            raise HaltedError(
                f"The recording `{self._folder}` is full: {self._size:,} of {self._max_bytes:,} bytes are used",
                hint="Raise the limit with `--max-megabytes`, or begin another recording",
            )
        try:
            self._write(frames)
        except OSError as error:
            self.close()  # what is half written is the end of its segment
            raise TargetError(
                f"Cannot write to the recording `{self._folder}`: {error.strerror}",
                hint="All exchanges that were acknowledged are kept: make room and record again to append to it",
            ) from None
        self._size += len(frames)
        self.exchanges += len(exchanges)

    def _write(self, frames: bytes) -> None:
        if self._segment is not None and os.fstat(self._segment).st_size + len(frames) > SEGMENT_BYTES:
            self.close()
        if self._segment is None:
            self._segment = _new_segment(self._folder)
        rest = memoryview(frames)
        while rest:
            rest = rest[os.write(self._segment, rest) :]
        os.fsync(self._segment)

    def close(self) -> None:
        if self._segment is not None:
            os.close(self._segment)
            self._segment = None


def _parts(exchanges: Sequence[Exchange]) -> Iterator[bytes]:
    """Their lines, in as many parts as frames are needed: one, but for whole files of exchanges."""
    part = bytearray()
    for line in map(without_plans, map(exchange_to_line, exchanges)):
        if part and len(part) + len(line) > FRAME_BYTES // 2:
            yield bytes(part)
            part.clear()
        part += line
    yield bytes(part)


@contextmanager
def open_recording(folder: Path, *, max_bytes: int = MAX_BYTES) -> Iterator[Recording]:
    """Begins a recording in this folder, or goes on with the one that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / _ABOUT).exists():
            _check_version(folder)
        else:
            _begin(folder)
    except OSError as error:
        problem = f"Cannot record into `{folder}`: {error.strerror}"
        raise UsageError(problem, hint="Choose another folder with `--out`") from None
    recording = Recording(folder, max_bytes)
    try:
        yield recording
    finally:
        recording.close()


def _begin(folder: Path) -> None:
    if any(folder.iterdir()):
        raise UsageError(
            f"`{folder}` is not empty and holds no recording: nothing was written into it",
            hint="Name a new folder with `--out`",
        )
    draft = folder / f"{_ABOUT}.new"
    draft.write_bytes(orjson.dumps({"format": FORMAT_VERSION, "begun_at": time.time()}) + b"\n")
    draft.rename(folder / _ABOUT)
    _sync_folder(folder)


def _check_version(folder: Path) -> None:
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        version = about["format"]
    except OSError:
        raise InputError(
            f"`{folder}` is no recording: it has no `{_ABOUT}`", hint="Make one with `cutset record --out FOLDER`"
        ) from None
    except (ValueError, TypeError, KeyError):
        raise InputError(f"`{folder / _ABOUT}` is damaged: expected an object with `format`") from None
    if version != FORMAT_VERSION:
        raise InputError(
            f"The recording `{folder}` has format {version}; this version of Cutset reads format {FORMAT_VERSION}",
            hint="Read it with the version of Cutset that made it",
        )


def _new_segment(folder: Path) -> int:
    number = len(list(folder.glob(_SEGMENTS)))
    while True:  # two recorders may share a folder: each has segments of its own
        number += 1
        with suppress(FileExistsError):
            path = folder / f"exchanges-{number:04}.jsonl.zst"
            segment = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            _sync_folder(folder)
            return segment


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_recording(folder: Path) -> Recorded:
    _check_version(folder)
    exchanges: dict[str, Exchange] = {}
    damaged = torn = 0
    for path in sorted(folder.glob(_SEGMENTS)):
        frames, damaged_stretches, is_torn = _frames(path.read_bytes())
        damaged += damaged_stretches
        torn += is_torn
        for line in (line for frame in frames for line in frame.splitlines()):
            try:
                exchange = exchange_from_line(line)
            except InputError:
                damaged += 1
            else:
                exchanges.setdefault(exchange.id, exchange)  # a sender that missed our answer sends again
    return Recorded(tuple(sorted(exchanges.values(), key=lambda each: each.started_at)), damaged, torn)


def _frames(content: bytes) -> tuple[list[bytes], int, bool]:
    """What is whole, how many stretches before the last whole frame are not, and whether the end is not."""
    frames, damaged, start, in_damage = [], 0, 0, False
    while 0 <= start < len(content):
        found = _frame_at(content, start)
        if found is None:
            in_damage = True
            start = content.find(_MAGIC, start + 1)
        else:
            damaged += in_damage
            in_damage = False
            frame, start = found
            frames.append(frame)
    return frames, damaged, in_damage


def _frame_at(content: bytes, start: int) -> tuple[bytes, int] | None:
    """The inflated frame and where the next one begins."""
    chunk = 64 * 1024
    inflated = bytearray()
    try:
        if zstandard.get_frame_parameters(content[start : start + 32]).content_size > FRAME_BYTES:
            return None
        inflater = zstandard.ZstdDecompressor().decompressobj()
        for at in range(start, len(content), chunk):
            inflated += inflater.decompress(content[at : at + chunk])
            if inflater.eof:
                return bytes(inflated), min(at + chunk, len(content)) - len(inflater.unused_data)
    except zstandard.ZstdError:
        pass
    return None
