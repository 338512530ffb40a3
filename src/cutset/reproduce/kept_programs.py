"""Analysed programs, kept in a folder by what they were read from: what is damaged is as if it were not there.

A file has a digest of its content first. That is no protection from files that somebody has crafted, so that the
folder must be its owner's alone.
"""

import hashlib
import os
import stat
from pathlib import Path

MOST_BYTES = 500_000_000  # of a folder; a million lines of Python take a fifth of it
_SUFFIX = ".program"
_DIGEST_BYTES = hashlib.sha256().digest_size


def load(folder: Path, key: str) -> memoryview | None:
    """None if it is not there, or is not what was put there."""
    path = folder / f"{key}{_SUFFIX}"
    try:
        if not _is_ours_alone(folder):
            return None
        content = path.read_bytes()
        if hashlib.sha256(content[_DIGEST_BYTES:]).digest() != content[:_DIGEST_BYTES]:
            return None
        os.utime(path)  # it was of use
    except OSError:
        return None
    return memoryview(content)[_DIGEST_BYTES:]


def save(folder: Path, key: str, content: bytes) -> None:
    """If it can be; the oldest go if there are too many."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours_alone(folder):
            return
        unfinished = folder / f"{key}.{os.getpid()}"
        unfinished.write_bytes(hashlib.sha256(content).digest() + content)
        unfinished.replace(folder / f"{key}{_SUFFIX}")
        _make_room(folder)
    except OSError:
        return


def _is_ours_alone(folder: Path) -> bool:
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_room(folder: Path) -> None:
    kept = 0
    for path in sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True):
        kept += path.stat().st_size
        if kept > MOST_BYTES:
            path.unlink(missing_ok=True)
