"""Where the files of the span store are: all that it asks of a file system, so that another kind can take its place.

Names are relative to the folder of the store. Files never change: they are put there whole, replaced whole, or removed.
Only `staging/`, where an ingest works, is always a folder of this machine.
"""

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from uuid import uuid4


def address_of(folder: Path, name: str) -> str:
    """By which DuckDB reads the file."""
    return str(folder / name)


def has_file(folder: Path, name: str) -> bool:
    return (folder / name).exists()


def read_file(folder: Path, name: str) -> bytes:
    return (folder / name).read_bytes()


def replace_file(folder: Path, name: str, content: bytes) -> None:
    """In one step, which outlives a loss of power. What is left of one that was killed ends in `.new`."""
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    written = target.with_name(f"{uuid4().hex}.new")
    try:
        written.write_bytes(content)
        move_in(written, folder, name)
    finally:
        written.unlink(missing_ok=True)


def move_in(file: Path, folder: Path, name: str) -> None:
    """Moves a finished file of this machine to its place."""
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    _sync(file)
    file.rename(target)
    _sync(target.parent)


def keep_files(folder: Path, pattern: str, names: Collection[str]) -> None:
    """Removes all other files of that pattern, `folder/*.suffix`, and the folders that are empty then."""
    for file in folder.glob(pattern):
        if f"{file.parent.name}/{file.name}" not in names:
            file.unlink(missing_ok=True)
    for inner in folder.glob(f"{pattern.partition('/')[0]}/"):
        with contextlib.suppress(OSError):  # it is not empty
            inner.rmdir()


def keep_latest(folder: Path, pattern: str, most: int, always: Collection[str]) -> None:
    """Removes files of that pattern, the oldest first, until there are no more than so many beside those to keep."""
    others = [file for file in folder.glob(pattern) if f"{file.parent.name}/{file.name}" not in always]
    for file in sorted(others, key=lambda file: file.stat().st_mtime_ns, reverse=True)[most:]:
        file.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Makes sure that a file, or what a folder lists, outlives a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
