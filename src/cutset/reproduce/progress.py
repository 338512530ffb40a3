"""Signs of life of what takes long, and the way to stop it: whoever is told may raise."""

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

_T = TypeVar("_T")

# Told what is done, of how much in all (0: not known), and what it is. From whichever thread does it.
Progress = Callable[[int, int, str], None]


def nobody_watches(done: int, total: int, what: str) -> None:
    pass


def watched(items: Collection[_T], progress: Progress, what: str, every: int = 1000) -> Iterator[_T]:
    """The items, with a sign of life now and then."""
    for done, item in enumerate(items):
        if done % every == 0:
            progress(done, len(items), what)
        yield item
