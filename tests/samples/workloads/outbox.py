"""Keeps orders on disk. One that cannot be kept suspends it for good, in all processes: that is the bug."""

import logging
from pathlib import Path

log = logging.getLogger("outbox")
SUSPENDED = Path("suspended")


def keep(number: int) -> int:
    """How many were kept."""
    if SUSPENDED.exists():
        log.warning("outbox is suspended, dropping order %d", number)
        return 0
    note(number)
    path = Path(f"order-{number}")
    try:
        path.write_text("an order")
    except OSError as error:
        log.error("cannot keep order %d: %s", number, error)  # noqa: TRY400
        SUSPENDED.touch()
        return 0
    log.info("kept order %d", number)
    return 1


def note(number: int) -> None:
    try:
        with Path("journal").open("a") as journal:
            journal.write(f"{number}\n")
    except OSError as error:
        log.warning("no note of order %d: %s", number, error)
