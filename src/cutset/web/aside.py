"""What takes long to compute, in a thread of its own, so that no other page waits; kept until what it is of changes.

Whoever asks for the same meanwhile waits for the same. The ledger is not read there: it is for one thread alone.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cutset.process.thread import in_a_thread

MOST_KEPT = 64  # results: lines of lists and bodies of pages, not what they were computed from

Computed = TypeVar("Computed")


class Aside:
    def __init__(self) -> None:
        self.progress: dict[Hashable, str] = {}  # what is told of work under way, by whoever does it
        self._kept: OrderedDict[Hashable, tuple[Hashable, asyncio.Future[Any]]] = OrderedDict()

    async def computed(self, what: Hashable, mark: Hashable, compute: Callable[[], Computed]) -> Computed:
        """`mark` changes when the result would."""
        return await asyncio.shield(self.begun(what, mark, compute))  # who goes away does not end it for others

    def knows(self, what: Hashable, mark: Hashable) -> bool:
        """Whether it is computed, or being computed: who asks for it needs to read nothing."""
        known = self._kept.get(what)
        return known is not None and known[0] == mark and not _has_failed(known[1])

    async def waited_for(self, what: Hashable) -> Any:
        """The result of what was begun."""
        return await asyncio.shield(self._kept[what][1])

    def begun(self, what: Hashable, mark: Hashable, compute: Callable[[], Computed]) -> "asyncio.Future[Computed]":
        """Done or not. What failed is tried again when it is asked for the next time."""
        if not self.knows(what, mark):
            self._kept[what] = mark, in_a_thread(compute)
        self._kept.move_to_end(what)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[what][1]


def _has_failed(future: "asyncio.Future[Any]") -> bool:
    return future.done() and (future.cancelled() or future.exception() is not None)
