"""What takes long to compute, in a thread of its own, so that no other page waits; kept until what it is of changes.

Whoever asks for the same meanwhile waits for the same. The ledger is not read there: it is for one thread alone.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar

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
            self._kept[what] = mark, _in_a_thread(compute)
        self._kept.move_to_end(what)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[what][1]


def _has_failed(future: "asyncio.Future[Any]") -> bool:
    return future.done() and (future.cancelled() or future.exception() is not None)


def _in_a_thread(compute: Callable[[], Computed]) -> "asyncio.Future[Computed]":
    """It ends with the process: nobody who stops the dashboard waits for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Computed] = loop.create_future()

    def settle(result: Computed | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
            future.exception()  # somebody asks, sooner or later
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, failure = None, None
        try:
            result = compute()
        except Exception as error:  # noqa: BLE001 -- it is told to whoever waits
            failure = error
        with suppress(RuntimeError):  # nobody is there any more
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=work, name="cutset-aside", daemon=True).start()
    return future
