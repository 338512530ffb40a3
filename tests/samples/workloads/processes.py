"""What processes of several kinds do: they keep orders in the outbox."""

import logging
from collections.abc import Iterable
from ctypes import c_int
from multiprocessing.sharedctypes import Synchronized

from outbox import keep


def set_up() -> None:
    """Where a process is not forked, it has no logging yet."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s")


def keep_all(numbers: Iterable[int], kept: "Synchronized[c_int]") -> None:
    set_up()
    for number in numbers:
        kept.value += keep(number)
