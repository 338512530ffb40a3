"""Appends payloads of spans to a file: whole lines or nothing, without secrets, up to a size."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cutset.errors import CutsetError, UsageError
from cutset.traces.masking import masked_line


class SpanFile:
    def __init__(self, path: Path, max_bytes: int, on_end: Callable[[], None]) -> None:
        """`on_end` is called when the file takes no more."""
        try:
            # For its owner alone: services tell of addresses, statements and whatever else they were told to.
            self._file = open(path, "a+b", buffering=0, opener=_for_owner)  # noqa: SIM115 -- it has an opener
        except OSError as error:
            problem = f"Cannot write to `{path}`: {error.strerror}"
            raise UsageError(problem, hint="Choose another file with `--out`") from None
        self.full = False
        self.problem: CutsetError | None = None
        self._path = path
        self._max_bytes = max_bytes
        self._on_end = on_end

    def __enter__(self) -> "SpanFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, line: str) -> None:
        size = os.fstat(self._file.fileno()).st_size
        # A file that was not ended properly goes on in a new line.
        torn = size > 0 and os.pread(self._file.fileno(), 1, size - 1) != b"\n"
        content = b"\n" * torn + masked_line(line).encode() + b"\n"
        if size + len(content) > self._max_bytes:
            self.full = True
            self._on_end()
            raise CutsetError(f"`{self._path}` is full")
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(size)  # half a line would make the file unreadable
            self.problem = CutsetError(
                f"Cannot write to `{self._path}`: {error.strerror}",
                hint="All spans that were acknowledged are in the file: make room and start again to append to it",
            )
            self._on_end()
            raise self.problem from None


def _for_owner(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
