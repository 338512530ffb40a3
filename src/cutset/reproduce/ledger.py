"""The record of a search, one line of JSON for each thing that is known, so that an interrupted search can go on.

A round counts once its line is there. A line that a kill or a full disk cut short is dropped, and its round run again.
"""

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cutset.errors import TargetError, UsageError

FORMAT = 1
_NAME = "ledger.jsonl"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder for this search alone."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"A search is still running in `{folder}`", hint="Wait for it, or start another one without `--resume`"
            ) from None
        yield


def begin(folder: Path, fingerprint: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Starts a ledger, or returns what is in the one that is there already, if it is of the same case."""
    path = folder / _NAME
    lines = _read(path) if path.exists() else []
    if not lines:
        append(folder, {"format": FORMAT, "case": dict(fingerprint)})
        return []
    first, *past = lines
    if first.get("format") != FORMAT:
        raise UsageError(f"`{path}` has format {first.get('format')}; this version of Cutset reads format {FORMAT}")
    if differing := [name for name, value in fingerprint.items() if first.get("case", {}).get(name) != value]:
        raise UsageError(
            f"`{folder}` has a search for another case: {', '.join(differing)} changed since then",
            hint="Start a new search without `--resume`",
        )
    return past


def append(folder: Path, line: Mapping[str, Any]) -> None:
    path = folder / _NAME
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise TargetError(
            f"Cannot write `{path}`: {error}",
            hint="What is recorded so far is kept: make room, then go on with `cutset reproduce --resume`",
        ) from error


def _read(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)  # else the next line would be joined to the torn one
    return [_object(path, number, line) for number, line in enumerate(whole.split(b"\n")[:-1], start=1)]


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageError(
            f"`{path}`, line {number}, is damaged: {line[:80].decode(errors='replace')!r}",
            hint="Remove the line, and its round is run again; or start a new search without `--resume`",
        )
    return found
