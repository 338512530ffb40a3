"""Which files of traces a user means: by name, by pattern, or in folders."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path

from cutset.errors import UsageError

STDIN = Path("-")

# What lies about in directories of traces and is none.
# fmt: off
_OTHER_SUFFIXES = frozenset({
    ".cfg", ".go", ".html", ".ini", ".ipynb", ".java", ".jpg", ".js", ".lock", ".log", ".md", ".pdf", ".png", ".py",
    ".rst", ".sh", ".svg", ".toml", ".ts", ".xml", ".yaml", ".yml",
})
# fmt: on
_OTHER_NAMES = re.compile("readme|licen[cs]e|notice|authors|changelog|makefile|dockerfile", re.IGNORECASE)


def find_files(sources: Sequence[str]) -> list[Path]:
    """The files that are named, those that patterns match, and those in directories; each once, `-` for stdin."""
    found: dict[Path, None] = {}
    for source in sources:
        if not source:
            raise UsageError("The name of a source is empty", hint="Name files, directories or patterns, or `-`")
        path = Path(source)
        if path == STDIN or path.is_file():
            matches = [path]
        elif path.is_dir():
            matches = _files_in(path)
        elif path.exists():  # a pipe or device
            matches = [path]
        else:
            matches = [
                file
                for match in sorted(glob.glob(source, recursive=True))  # noqa: PTH207 – patterns may be absolute
                for file in (_files_in(Path(match)) if Path(match).is_dir() else [Path(match)])
            ]
            if not matches and glob.escape(source) == source:
                raise UsageError(f"`{source}` does not exist", hint="Name files, directories or patterns, or `-`")
        if not matches:
            raise UsageError(
                f"No file of traces matches `{source}`", hint="Hidden files and files such as README.md do not count"
            )
        found.update(dict.fromkeys(matches))
    return list(found)


def size_of(file: Path) -> int:
    """Bytes on the disk; 0 for a pipe, whose size nobody knows, and for what has gone meanwhile."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def _files_in(directory: Path) -> list[Path]:
    return [
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(directory).parts)
        and path.suffix.lower() not in _OTHER_SUFFIXES
        and not _OTHER_NAMES.match(path.name)
    ]
