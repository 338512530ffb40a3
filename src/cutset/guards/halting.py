"""The order to halt: a file in the store, which all that use the store look for before each injection.

That it is there is the order; what it says is for people. So an empty one, made by `touch` or on a full disk, counts.
"""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cutset.errors import TargetError

NAME = "halted"


@dataclass(frozen=True, slots=True)
class HaltOrder:
    by: str = "somebody"  # user@host
    at: float = 0.0  # Unix seconds
    reason: str = ""


def give_order(store: Path, order: HaltOrder) -> HaltOrder:
    """The order that holds from now on: this one, or an earlier one. Makes the store where there is none."""
    file = store / NAME
    try:
        store.mkdir(parents=True, exist_ok=True, mode=0o700)
        _create(file, json.dumps(asdict(order)).encode())
    except OSError as error:
        if before := given_order(store):
            return before
        raise TargetError(
            f"The order to halt cannot be put down at `{file}`: {error.strerror}",
            hint="Who uses this store has not been told: end them with Ctrl-C; `--admin` switches a mesh off",
        ) from error
    return order


def _create(file: Path, content: bytes) -> None:
    """Whole, and all at once, and only where there is none; at worst without what it should say."""
    beside = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    try:
        try:
            _write_new(beside, content)
            os.link(beside, file)
        finally:
            beside.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except OSError:  # a disk that is full, or knows no links
        _write_new(file, b"")
        with suppress(OSError):
            file.write_bytes(content)


def _write_new(file: Path, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if content and os.write(descriptor, content) != len(content):
            raise OSError(f"`{file}` was written in part")
    finally:
        os.close(descriptor)


def lift_order(store: Path) -> HaltOrder | None:
    """The order that held until now, if there was one."""
    order = given_order(store)
    try:
        (store / NAME).unlink(missing_ok=True)
    except OSError as error:
        raise TargetError(
            f"The order to halt at `{store / NAME}` cannot be removed: {error.strerror}",
            hint="Remove the file by other means",
        ) from error
    return order


def given_order(store: Path) -> HaltOrder | None:
    file = store / NAME
    try:
        at = file.stat().st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # who cannot look cannot know that there is none
        return HaltOrder(reason=f"`{file}` cannot be looked at: {error.strerror}")
    try:
        found = json.loads(file.read_bytes())
        return HaltOrder(str(found["by"]), float(found["at"]), str(found["reason"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return HaltOrder(at=at)
