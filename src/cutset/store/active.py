"""What is being injected now: a file for each run, held by a lock, so that it goes when its process does."""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cutset.errors import TargetError

FOLDER = "active"


@dataclass(frozen=True, slots=True)
class ActiveInjection:
    run: str
    loop: str
    environment: str
    by: str  # user@host
    process: int
    since: float  # Unix seconds
    what: str  # in words: a cut, with rate and share; which kinds of faults are tried
    until: float = 0.0  # Unix seconds; 0: until it is done
    config: str = ""


@contextmanager
def injecting(store: Path, what: ActiveInjection) -> Iterator[Callable[[ActiveInjection], None]]:
    """Shown to whoever asks until the block ends, or we do; the function that is given tells of changes."""
    held = -1

    def tell(now: ActiveInjection) -> None:
        nonlocal held
        fresh = _held_file(store / FOLDER, f"{what.run}.json", json.dumps(asdict(now)).encode())
        if held >= 0:
            os.close(held)
        held = fresh

    try:
        tell(what)
    except OSError as error:
        raise TargetError(
            f"`{store / FOLDER}` cannot be written to: {error.strerror}",
            hint="Nothing is injected of which `cutset status` could not tell",
        ) from error
    try:
        yield tell
    finally:
        with suppress(OSError):
            (store / FOLDER / f"{what.run}.json").unlink(missing_ok=True)
        os.close(held)


def _held_file(folder: Path, name: str, content: bytes) -> int:
    """Locked before anybody can find it."""
    folder.mkdir(exist_ok=True, mode=0o700)
    beside = folder / f".{name}-{secrets.token_hex(4)}"
    descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, content)
        beside.replace(folder / name)
    except BaseException:
        os.close(descriptor)
        beside.unlink(missing_ok=True)
        raise
    return descriptor


def active_injections(store: Path) -> list[ActiveInjection]:
    """The earliest first. What processes left behind that were killed is removed."""
    found = []
    for file in (store / FOLDER).glob("*.json"):
        with suppress(OSError, ValueError, TypeError):
            if active := _active(file):
                found.append(active)
    return sorted(found, key=lambda each: each.since)


def _active(file: Path) -> ActiveInjection | None:
    with file.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return ActiveInjection(**json.loads(opened.read()))
        if not os.path.samestat(os.fstat(opened.fileno()), file.stat()):  # it was told anew meanwhile
            return _active(file)
        file.unlink()
    return None
