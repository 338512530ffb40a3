"""Python's garbage collection, while much is made that stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """An analysis makes a million objects and drops none: to look through them again and again is a third of its time.

    What others throw away meanwhile is collected after.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
