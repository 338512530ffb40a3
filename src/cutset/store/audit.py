"""The audit log: one line of JSON for each injection, in the file before the injection happens.

Lines are appended by one write(2) each, so that those of several processes do not mix, and a process that is killed
leaves no half of one behind. Files are for their owner alone. At 16 MiB a file is put aside, and the ten latest are
kept: more than half a million injections. No plan and nothing of a request is in it.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from cutset.errors import TargetError

NAME = "audit.jsonl"
FILE_BYTES = 16 * 1024 * 1024
FILES = 10  # that are kept, the one that is written to included


@dataclass(frozen=True, slots=True)
class AuditEntry:
    at: float  # Unix seconds
    run: str
    loop: str
    environment: str  # for which the plan is signed
    by: str  # user@host
    cut: str
    trace_id: str
    group: str = ""  # of an impact: with the fault, or control


_FIELDS = tuple(each.name for each in fields(AuditEntry))


class AuditLog:
    def __init__(self, store: Path, *, file_bytes: int = FILE_BYTES, files: int = FILES) -> None:
        self._path = store / NAME
        self._file_bytes = file_bytes
        self._files = files
        self._descriptor = -1
        self._identity = (0, 0)  # of the file that is open
        self._torn = b""  # what ends a line of which a part was written

    def write(self, entry: AuditEntry) -> None:
        """Raises TargetError if it cannot be written: then there must be no injection."""
        known = {name: value for name in _FIELDS if (value := getattr(entry, name)) != ""}
        line = self._torn + orjson.dumps(known) + b"\n"
        try:
            self._open_at_place(len(line))
            self._append(line)
        except OSError as error:
            raise TargetError(
                f"The audit log at `{self._path}` cannot be written to: {error.strerror or error}",
                hint="Nothing is injected that is not written down. Make room there, or restore the store",
            ) from error

    def _append(self, line: bytes) -> None:
        written = os.write(self._descriptor, line)
        self._torn = b"" if written == len(line) else b"\n"
        if self._torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open_at_place(self, more: int) -> None:
        """Whoever removes or replaces the file, or all of the store, is noticed here."""
        with suppress(FileNotFoundError):
            found = self._path.stat()
            if (found.st_dev, found.st_ino) == self._identity and found.st_size + more <= self._file_bytes:
                return
            if found.st_size + more > self._file_bytes:
                self._put_aside()
        self.close()
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        opened = os.fstat(self._descriptor)
        self._identity = (opened.st_dev, opened.st_ino)

    def _put_aside(self) -> None:
        """Once, whoever else finds it full: what they write meanwhile goes to the file that was put aside."""
        full = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(full, fcntl.LOCK_EX)
            own, found = os.fstat(full), self._path.stat()
            if (own.st_dev, own.st_ino) != (found.st_dev, found.st_ino):
                return
            for number in range(self._files - 2, 0, -1):
                with suppress(FileNotFoundError):
                    _aside(self._path, number).replace(_aside(self._path, number + 1))
            if self._files > 1:
                self._path.replace(_aside(self._path, 1))
            else:
                self._path.unlink()
        finally:
            os.close(full)


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def audit_entries(store: Path) -> Iterator[AuditEntry]:
    """All that are kept, the oldest first. Lines that are none are left out: a disk may have been full."""
    path = store / NAME
    aside = (found for found in store.glob(f"{NAME}.*") if found.suffix[1:].isdigit())
    for file in (*sorted(aside, key=lambda found: -int(found.suffix[1:])), path):
        with suppress(FileNotFoundError), file.open("rb") as lines:
            for line in lines:
                with suppress(ValueError, TypeError):
                    yield _entry(json.loads(line))


def last_entry(store: Path, run: str) -> AuditEntry | None:
    """Of this run, if it is among the latest."""
    found: AuditEntry | None = None
    with suppress(OSError), (store / NAME).open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 64 * 1024))
        for line in file:
            with suppress(ValueError, TypeError):
                entry = _entry(json.loads(line))
                found = entry if entry.run == run else found
    return found


def _entry(document: dict[str, Any]) -> AuditEntry:
    empty = dict.fromkeys(_FIELDS[1:], "")
    return AuditEntry(**empty | {name: value for name, value in document.items() if name in _FIELDS})
