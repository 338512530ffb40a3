"""Where the files of the span store are: all that it asks of a file system, so that another kind can take its place.

Names are relative to the folder of the store. Files never change: they are put there whole, replaced whole, or removed.
The folder may be one of an object store, `s3://bucket/prefix` (`store/bucket.py`). Where an ingest works is always a
folder of this machine.
"""

import contextlib
import os
from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from uuid import uuid4

from cutset.errors import UsageError

if TYPE_CHECKING:
    import duckdb


def is_remote(folder: Path | str) -> bool:
    return str(folder).startswith("s3:/")


def folder_of(store: Path) -> Path:
    """Of the spans in a store."""
    return (store if is_remote(store) else store.absolute()) / "traces"


def workroom(folder: Path) -> Path:
    """The folder of this machine where an ingest into that one works, with `staging/` and `lock`."""
    if not is_remote(folder):
        return folder
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "cutset" / "stores" / sha256(address_of(folder).encode()).hexdigest()[:16]


def address_of(folder: Path, name: str = "") -> str:
    """By which DuckDB reads the file, and people know it. `Path` has made one slash of the two behind `s3:`."""
    return f"s3://{str(folder / name).removeprefix('s3:/')}" if is_remote(folder) else str(folder / name)


def is_there(address: str) -> bool:
    return _bucket().exists(address) if is_remote(address) else Path(address).exists()


def make_readable(database: "duckdb.DuckDBPyConnection", files: Iterable[str]) -> None:
    if any(map(is_remote, files)):
        _bucket().make_readable(database)


def names_in(folder: Path, pattern: str) -> set[str]:
    """Of the files of that pattern, `folder/*.suffix`."""
    if is_remote(folder):
        return set(_bucket().listed(address_of(folder), pattern))
    return {f"{file.parent.name}/{file.name}" for file in folder.glob(pattern)}


def read_file(folder: Path, name: str) -> bytes:
    return read_version(folder, name)[0]


def read_version(folder: Path, name: str) -> tuple[bytes, str]:
    """With its version, where there may be others who write: see `replace_version`."""
    if is_remote(folder):
        found: tuple[bytes, str] = _bucket().read(address_of(folder, name))
        return found
    return (folder / name).read_bytes(), ""


def replace_version(folder: Path, name: str, content: bytes, version: str) -> str:
    """As `replace_file`, if it still has the version that was read (""; there was none). Returns the new one."""
    if is_remote(folder):
        written: str = _bucket().replace(address_of(folder, name), content, version)
        return written
    replace_file(folder, name, content)
    return ""


def replace_file(folder: Path, name: str, content: bytes) -> None:
    """In one step, which outlives a loss of power. What is left of one that was killed ends in `.new`."""
    if is_remote(folder):
        _bucket().write(address_of(folder, name), content)
        return
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
    if is_remote(folder):
        _bucket().put(file, address_of(folder, name))
        file.unlink()
        return
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    _sync(file)
    file.rename(target)
    _sync(target.parent)


def keep_files(folder: Path, pattern: str, names: Collection[str]) -> None:
    """Removes all other files of that pattern, `folder/*.suffix`, and the folders that are empty then."""
    if is_remote(folder):
        bucket, address = _bucket(), address_of(folder)
        others = {name: at for name, at in bucket.listed(address, pattern).items() if name not in names}
        bucket.remove(address, [name for name, written in others.items() if bucket.is_left_over(written)])
        return
    for file in folder.glob(pattern):
        if f"{file.parent.name}/{file.name}" not in names:
            file.unlink(missing_ok=True)
    for inner in folder.glob(f"{pattern.partition('/')[0]}/"):
        with contextlib.suppress(OSError):  # it is not empty
            inner.rmdir()


def keep_latest(folder: Path, pattern: str, most: int, always: Collection[str]) -> None:
    """Removes files of that pattern, the oldest first, until there are no more than so many beside those to keep."""
    if is_remote(folder):
        bucket, address = _bucket(), address_of(folder)
        written = {name: at for name, at in bucket.listed(address, pattern).items() if name not in always}
        bucket.remove(address, sorted(written, key=written.__getitem__, reverse=True)[most:])
        return
    others = [file for file in folder.glob(pattern) if f"{file.parent.name}/{file.name}" not in always]
    for file in sorted(others, key=lambda file: file.stat().st_mtime_ns, reverse=True)[most:]:
        file.unlink(missing_ok=True)


def _bucket() -> ModuleType:
    try:
        from cutset.store import bucket  # noqa: PLC0415 -- an extra, and slow to load
    except ImportError as error:
        raise UsageError(
            f"A store in an object store needs the package `{error.name}`", hint="pip install 'cutset[s3]'"
        ) from None
    return bucket


def _sync(path: Path) -> None:
    """Makes sure that a file, or what a folder lists, outlives a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
