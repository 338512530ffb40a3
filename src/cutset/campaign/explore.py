"""The campaign: experiments over all request classes until each is complete up to size k, or the budget is spent.

MicroFI §4.5 tests request classes in parallel; here every experiment carries its own plan, so the experiments of one
class run in parallel too. Each event is in the ledger before search learns of it: a campaign that is killed at any
instant and resumed repeats no completed experiment.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cutset.errors import HaltedError
from cutset.model.event import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Cut, Effect, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.request import Request
from cutset.search.cuts import CutSearch
from cutset.search.strategy import Search
from cutset.store.ledger import Ledger


class Laboratory(Protocol):
    """Where experiments happen: `cutset.experiment` on a real system, a simulation in tests."""

    async def audit(self, request: Request) -> RequestAudited: ...

    async def run(self, request: Request, cut: Cut) -> Outcome: ...

    async def recovered(self) -> bool:
        """Whether all servers are there (again)."""
        ...


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    max_size: int
    effect: Effect
    parallel: int
    max_experiments: int
    fingerprint: str = ""  # of everything that outcomes depend on
    replay: str = ""  # the command that tries a finding again


async def explore(
    campaign: str, requests: Sequence[Request], laboratory: Laboratory, ledger: Ledger, settings: CampaignSettings
) -> AsyncIterator[Event]:
    """Starts the campaign, or continues it where the ledger ends. Yields each event after it was recorded."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def record(event: Event) -> None:
        ledger.append(campaign, time.time(), event)
        events.put_nowait(event)

    run = _Campaign(laboratory, settings, record, ledger.events(campaign))
    runner = asyncio.ensure_future(run.all(requests))
    runner.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await runner
    except BaseExceptionGroup as group:  # of nested task groups; the first error is the one that stopped the others
        raise _innermost(group) from None
    finally:
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)


class _Campaign:
    def __init__(
        self,
        laboratory: Laboratory,
        settings: CampaignSettings,
        record: Callable[[Event], None],
        history: Sequence[Event],
    ) -> None:
        self._laboratory = laboratory
        self._settings = settings
        self._record = record
        self._history = history
        self._in_flight = asyncio.Semaphore(settings.parallel)
        self._budget = settings.max_experiments - len(_experiments(history))
        self._unfinished: list[str] = []

    async def all(self, requests: Sequence[Request]) -> None:
        if not self._history:
            names = tuple(request.name for request in requests)
            self._record(
                CampaignStarted(
                    requests=names,
                    settings=self._settings.fingerprint,
                    max_size=self._settings.max_size,
                    replay=self._settings.replay,
                )
            )
        done = {
            event.request
            for event in self._history
            if isinstance(event, RequestFinished) and event.complete_up_to >= self._settings.max_size
        }
        # One at a time and before any fault: the audit attributes every stray call to the one request under way.
        healthy = [request for request in requests if request.name not in done and await self._audit(request)]
        async with asyncio.TaskGroup() as group:
            for request in healthy:
                group.create_task(self._explore(request))
        self._record(CampaignFinished(reason="; ".join(self._unfinished)))

    async def _audit(self, request: Request) -> bool:
        audited = await self._laboratory.audit(request)
        self._record(audited)
        if not audited.healthy:
            self._finish(request, complete_up_to=-1, reason=audited.reason)
        return audited.healthy

    async def _explore(self, request: Request) -> None:
        search = CutSearch(self._settings.max_size)
        for past in _experiments(self._history):
            if past.request == request.name:
                search.learn(past.outcome)
        async with asyncio.TaskGroup() as group:
            running: set[asyncio.Task[Outcome]] = set()
            while True:
                for cut in search.next_cuts(max(0, min(self._settings.parallel - len(running), self._budget))):
                    self._budget -= 1
                    running.add(group.create_task(self._experiment(request, cut, search)))
                if not running:
                    break
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    search.learn(task.result())
        result = search.result()
        reason = "" if result.finished else "the budget of experiments is spent"
        self._finish(request, result.complete_up_to, reason, result.undecided)

    def _finish(self, request: Request, complete_up_to: int, reason: str, undecided: tuple[Points, ...] = ()) -> None:
        if reason:
            self._unfinished.append(f"{request.name}: {reason}")
        self._record(
            RequestFinished(request=request.name, complete_up_to=complete_up_to, reason=reason, undecided=undecided)
        )

    async def _experiment(self, request: Request, points: Points, search: Search) -> Outcome:
        async with self._in_flight:
            outcome = await self._laboratory.run(request, cut_of(points, self._settings.effect))
        left = max(0, search.result().left - 1)
        self._record(ExperimentFinished(request=request.name, outcome=outcome, left=left))
        # An unknown outcome with dead servers means that the laboratory waited for them in vain.
        if outcome.dead and (outcome.verdict is Verdict.UNKNOWN or not await self._laboratory.recovered()):
            raise HaltedError(
                f"{', '.join(outcome.dead)} stopped answering after an experiment on {request.name}"
                " and did not come back",
                hint="Restart what is down, then run `cutset explore --resume`",
            )
        return outcome


def _experiments(history: Iterable[Event]) -> list[ExperimentFinished]:
    return [event for event in history if isinstance(event, ExperimentFinished)]


def _innermost(error: BaseException) -> BaseException:
    return _innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
