"""Tables of JVM programs that were extracted before, kept by what they were extracted from and by."""

import hashlib
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from cutset.reproduce import kept_programs

_COMPRESSION = 3  # a tenth of the size in a twentieth of the time that extracting takes


def tables_key(request: object, entries: Iterable[str], jar: Path, java: tuple[str, int]) -> str:
    """Of what was asked for, and of what there is at the entries of the class path, our own jar and the JVM."""
    digest = hashlib.sha256(repr((request, java)).encode("utf-8", "surrogateescape"))
    for entry in (str(jar), *dict.fromkeys(entries)):
        for path in _files(Path(entry)):
            digest.update(os.fsencode(f"\n{path}\n"))
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def load(folder: Path, key: str) -> bytes | None:
    """None if it is not there, or is not what was put there."""
    content = kept_programs.load(folder, key)
    try:
        return None if content is None else zlib.decompress(content)
    except zlib.error:
        return None


def save(folder: Path, key: str, tables: bytes) -> None:
    kept_programs.save(folder, key, zlib.compress(tables, _COMPRESSION))


def _files(entry: Path) -> Sequence[Path]:
    if entry.is_dir():
        return sorted(entry.rglob("*.class"))
    return [entry] if entry.is_file() else []
