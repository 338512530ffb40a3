"""Runs that the dashboard itself started, through `app`: one at a time, each in a thread with an event loop of its own.

So that a search that thinks for a second keeps no page waiting. What a run finds is in the ledger, where pages read it
as they read that of any other process; here is only whether it is under way, and why it ended.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from cutset.errors import CutsetError, UsageError
from cutset.model.run import RunStarted


@dataclass(frozen=True, slots=True)
class StartedRun:
    what: str  # in words
    since: float  # Unix seconds
    id: str = ""  # of the run; empty until its first event
    ended: bool = False
    problem: str = ""  # why it ended, if not by itself
    hint: str = ""
    result: object = None  # what `finish` made of its events, if it was given
    place: str = "/campaigns"  # where runs of its kind have pages

    @property
    def address(self) -> str:
        return f"{self.place}/{self.id}" if self.id else self.place


class StartedRuns:
    def __init__(self) -> None:
        self._latest: StartedRun | None = None
        self._thread: threading.Thread | None = None
        self._cancel: Callable[[], object] | None = None  # once there is something to cancel
        self._is_unwanted = False
        self._named = threading.Event()  # the latest has an id, or has ended without one
        self._stopping = threading.Lock()  # it is cancelled once: a second time would disturb how it cleans up

    @property
    def latest(self) -> StartedRun | None:
        """What runs now, or ran last."""
        return self._latest

    @property
    def current(self) -> StartedRun | None:
        return self._latest if self._latest and not self._latest.ended else None

    def start(
        self,
        what: str,
        begin: Callable[[], AsyncGenerator[Any, None]],
        finish: Callable[[list[Any]], object] | None = None,
        place: str = "/campaigns",
        *,
        run: str = "",
    ) -> None:
        """Follows what `begin` returns to its end. Raises UsageError while something else is under way.

        `finish` is given all its events; what it returns is the run's `result`. `run` is its id where that is known: a
        resumption has no event that tells it.
        """
        if self.current:
            raise UsageError(f"{self.current.what} is under way", hint="Wait for its end, or stop it")
        self._cancel, self._is_unwanted = None, False
        self._named.clear()
        self._latest = StartedRun(what, time.time(), run, place=place)
        self._thread = threading.Thread(target=self._run, args=(begin, finish), name="cutset-run", daemon=True)
        self._thread.start()

    def await_id(self, seconds: float) -> StartedRun | None:
        """What was started last: with an id, or ended, or so much later."""
        self._named.wait(seconds)
        return self._latest

    def stop(self) -> None:
        """Asks it to end, as Ctrl-C does: what is recorded is kept, and can be resumed."""
        with self._stopping:
            cancel = None if self._is_unwanted else self._cancel
            self._is_unwanted = True
        if cancel:
            with suppress(RuntimeError):  # its loop has ended just now
                cancel()

    def close(self) -> None:
        """Returns when nothing runs any more."""
        self.stop()
        if self._thread:
            self._thread.join()

    def _run(
        self, begin: Callable[[], AsyncGenerator[Any, None]], finish: Callable[[list[Any]], object] | None
    ) -> None:
        problem, hint, result = "", "", None
        try:
            events = asyncio.run(self._follow(begin))
            result = finish(events) if finish else None
        except CutsetError as error:
            problem, hint = error.message, error.hint
        except asyncio.CancelledError:
            problem, hint = "stopped", "What was found so far is kept, and can be resumed"
        except BaseException as error:  # a thread would lose it
            logging.getLogger(__name__).exception("%s ended by a mistake in Cutset", self._latest and self._latest.what)
            problem, hint = f"{type(error).__name__}: {error}", "This is a mistake in Cutset, not of yours: report it"
        assert self._latest is not None
        self._latest = replace(self._latest, ended=True, problem=problem, hint=hint, result=result)
        self._named.set()

    async def _follow(self, begin: Callable[[], AsyncGenerator[Any, None]]) -> list[Any]:
        loop, task, recorded = asyncio.get_running_loop(), asyncio.current_task(), []
        assert task is not None
        with self._stopping:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._is_unwanted:  # since before there was anything to cancel
                task.cancel()
        async with aclosing(begin()) as events:
            async for event in events:
                recorded.append(event)
                if isinstance(event, RunStarted) and self._latest and not self._latest.id:
                    self._latest = replace(self._latest, id=event.run)
                    self._named.set()
        return recorded
