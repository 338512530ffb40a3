"""How far a request's plan reaches: a short grace beyond its end, and never into work that may be others'.

A task or thread that a request starts keeps its context, also if it is a worker that serves everybody from then on.
While the request is under way, its own task or thread works for it, and so does whatever that one waits for: tasks of
a group, of `gather` or awaited, calls that a thread does for it. What it started and does not wait for may work for
others as well; nobody can tell, so that there a plan counts only if no other request was under way in this process.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cutset_agent.reports import count_error

GRACE_SECONDS = 0.5  # for what a request leaves to be done when it answers

ENDED = "the request has ended"
SHARED = "what runs here was started by the request, which does not wait for it, and other requests are under way"

_MAX_FOLLOWED = 100  # tasks and futures, from a call to whoever waits for it
_PATIENCE, _PATIENCE_SECONDS = 50, 0.001  # with whoever gave work to a thread and will wait for it; once
_lock = threading.Lock()
_lent = threading.local()
_under_way = 0  # requests in this process, with a plan or without
_last_end = float("-inf")
_planned: list[PlanReach] = []  # those with a plan, until their grace is over


class LentWork:
    """Work that was given to a pool, which may begin it before it gives out its future."""

    __slots__ = ("future", "patience")

    def __init__(self) -> None:
        self.future: Any = None
        self.patience = _PATIENCE


class PlanReach:
    """Of one request. Begins where it is made."""

    __slots__ = ("alone", "counted", "ended", "home", "joined", "thread")

    def __init__(self) -> None:
        task = _current_task()
        self.home = None if task is None else weakref.ref(task)
        self.joined: weakref.WeakSet[Any] | None = None  # tasks that it will wait for
        self.thread = threading.get_ident()
        self.ended: float | None = None
        self.alone = False  # no other request was under way, as far as entries tell
        self.counted = False

    def is_over(self) -> bool:
        return self.ended is not None and time.monotonic() > self.ended + GRACE_SECONDS

    def end(self) -> None:
        """As soon as the answer is given; again changes nothing."""
        if self.ended is None:
            self.ended = time.monotonic()

    def join(self, task: Any) -> None:
        """A task of a library that runs for the present code, which will wait for it."""
        if task is not None and self.is_at_home():
            self.joined = self.joined or weakref.WeakSet()
            self.joined.add(task)

    def refusal(self) -> str:
        """Why the plan does not count where we are, if so."""
        if self.is_over():
            return ENDED
        return "" if self.alone or self.is_at_home() else SHARED

    def is_at_home(self) -> bool:
        """Whether the present code is the request's own, or something that it waits for."""
        if self.ended is not None:
            return False
        if self.thread == threading.get_ident() and self.home is None:
            return True  # a loop that runs here runs within the request's own call
        try:
            if getattr(_lent, "to", None) is self and (_lent.work is None or self._awaits(_lent.work)):
                return True
            task = _current_task()
            return task is not None and self._leads_home(task)
        except Exception as error:  # noqa: BLE001 -- libraries keep private whom they wake; so it may be others' work
            count_error("whose work this is", error)
            return False

    def _awaits(self, work: LentWork) -> bool:
        """Whether a thread blocks for it, or the request's own task waits: perhaps in a moment only."""
        while True:
            future = work.future
            if future and (future._condition._waiters or future._waiters or self._leads_home(future)):  # noqa: SLF001
                return True
            if not work.patience:
                return False
            work.patience -= 1
            time.sleep(_PATIENCE_SECONDS)

    def _leads_home(self, awaited: Any) -> bool:
        """Follows whom the end of a task or future wakes, and whom the end of that, up to the request's own task."""
        home, joined = self.home and self.home(), self.joined or ()
        waiting, seen = [awaited], {id(awaited)}
        while waiting and len(seen) < _MAX_FOLLOWED:
            found = waiting.pop()
            if found is home or found in joined:
                return True
            for each in _woken_by(found):
                if id(each) not in seen:
                    seen.add(id(each))
                    waiting.append(each)
        return False


def begin(*, planned: bool) -> PlanReach:
    """Counts a request, which `leave` must be told of."""
    global _under_way  # noqa: PLW0603 -- one process, one agent
    reach = PlanReach()
    with _lock:
        _under_way += 1
        reach.counted = True
        if _planned:
            _planned[:] = [each for each in _planned if not each.is_over()]
            for each in _planned:
                each.alone = False
        if planned:
            reach.alone = _under_way == 1 and not _planned and time.monotonic() > _last_end + GRACE_SECONDS
            _planned.append(reach)
    return reach


def leave(reach: PlanReach) -> None:
    global _under_way, _last_end  # noqa: PLW0603 -- as above
    reach.end()
    with _lock:
        _under_way -= reach.counted
        reach.counted = False
        _last_end = time.monotonic()


def forget_all() -> None:
    """As if no request had been seen, as in a forked child: whoever held the lock there is not here."""
    global _lock, _under_way, _last_end  # noqa: PLW0603 -- as above
    _lock = threading.Lock()
    _planned.clear()
    _under_way, _last_end = 0, float("-inf")


def blocks_loop() -> bool:
    """Whether waiting here would stop everybody whom this thread's event loop serves."""
    return asyncio._get_running_loop() is not None  # noqa: SLF001


@contextmanager
def lent(reach: PlanReach, work: LentWork | None = None) -> Iterator[None]:
    """Within it, this thread works for a request that waits for it; of a pool's work that is to be seen."""
    before = getattr(_lent, "to", None), getattr(_lent, "work", None)
    _lent.to, _lent.work = reach, work
    try:
        yield
    finally:
        _lent.to, _lent.work = before


def _current_task() -> asyncio.Task[Any] | None:
    loop = asyncio._get_running_loop()  # noqa: SLF001 -- does not raise where there is none
    return None if loop is None else asyncio.current_task(loop)


def _woken_by(awaited: Any) -> Iterator[Any]:
    """Tasks and futures that the callbacks of one are about: of asyncio's own primitives, and of AnyIO's groups."""
    for entry in getattr(awaited, "_callbacks", None) or getattr(awaited, "_done_callbacks", None) or ():
        callback = entry[0] if isinstance(entry, tuple) else entry
        for each in _parts(callback):
            if isinstance(each, asyncio.Future):
                yield each
            elif type(each).__module__.partition(".")[0] in {"asyncio", "anyio"}:
                scope = getattr(each, "cancel_scope", None)
                parent = getattr(each, "_parent_task", None) or getattr(scope, "_host_task", None)
                if parent is not None:
                    yield parent


def _parts(callback: Any) -> Iterator[Any]:
    if isinstance(callback, functools.partial):
        yield from callback.args
        callback = callback.func
    yield getattr(callback, "__self__", None)
    for cell in getattr(callback, "__closure__", None) or ():
        with suppress(ValueError):  # not filled yet
            yield cell.cell_contents


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_all)
