"""The campaign: experiments over all request classes until each is complete up to size k, or a budget is spent.

MicroFI §4.5 tests request classes in parallel; here every experiment carries its own plan, so the experiments of one
class run in parallel too. One pool of slots and one budget serve all classes. Each event is in the ledger before search
learns of it: a campaign that is killed at any instant and resumed repeats no completed experiment.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from math import ceil

from cutset.campaign.class_search import ClassSearch, begin
from cutset.campaign.closer_look import closer_look
from cutset.campaign.settings import CampaignSettings
from cutset.experiment.laboratory import Laboratory, halt_if_down
from cutset.model.event import (
    CampaignEvent,
    CampaignStarted,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome
from cutset.model.request import Request
from cutset.model.run import RunFinished
from cutset.model.summary import outcomes_of
from cutset.search.strategies import AcrossRequests
from cutset.store.ledger import Ledger
from cutset.store.runs import campaign_events


async def explore(
    run: str,
    requests: Sequence[Request],
    laboratory: Laboratory,
    ledger: Ledger,
    settings: CampaignSettings,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[CampaignEvent, None]:
    """Runs the campaign on from where the ledger ends. Yields each event after it was recorded."""
    events: asyncio.Queue[CampaignEvent | None] = asyncio.Queue()

    def record(event: CampaignEvent) -> None:
        ledger.append(run, event)
        events.put_nowait(event)

    campaign = _Campaign(laboratory, settings, record, campaign_events(ledger, run), clock)
    runner = asyncio.ensure_future(campaign.all(requests))
    runner.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await runner
    except BaseExceptionGroup as group:  # of the task group; the first error is the one that stopped the others
        raise _innermost(group) from None
    finally:
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)


class _Campaign:
    def __init__(
        self,
        laboratory: Laboratory,
        settings: CampaignSettings,
        record: Callable[[CampaignEvent], None],
        history: Sequence[CampaignEvent],
        clock: Callable[[], float],
    ) -> None:
        self._laboratory = laboratory
        self._settings = settings
        self._append = record
        # Evidence is for whoever looks at findings: no search needs it, and there may be much of it.
        self._events: list[CampaignEvent] = [event for event in history if not isinstance(event, EvidenceKept)]
        self._clock = clock
        self._deadline = clock() + 60 * settings.limits.minutes if settings.limits.minutes else float("inf")
        self._asked = sum(isinstance(event, ExperimentFinished) for event in history)
        self._waiting: deque[Request] = deque()  # audited, but not begun
        self._searches: list[ClassSearch] = []  # begun and not finished
        self._running: dict[asyncio.Task[Outcome], ClassSearch] = {}
        self._unfinished: list[str] = []
        self._varying: dict[str, str] = {}  # requests that vary, which their audit did not show; how
        self._looked_at: dict[str, set[Cut]] = {}  # closely, by request

    async def all(self, requests: Sequence[Request]) -> None:
        done = self._done()
        self._start(requests)
        # One at a time and before any fault: the audit attributes every stray call to the one request under way.
        for request in requests:
            if request.name not in done and await self._audit(request):
                self._waiting.append(request)
        if self._settings.search.across_requests is AcrossRequests.TRUST:
            self._waiting = deque(sorted(self._waiting, key=self._audited_calls, reverse=True))
        async with asyncio.TaskGroup() as group:
            while True:
                await self._fill_slots(group)
                if not self._running:
                    break
                answered, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                for task in answered:
                    # Searches think for seconds at times, and requests under way must be answered meanwhile.
                    await asyncio.to_thread(self._running.pop(task).learn, task.result())
        await self._end()
        self._record(RunFinished(reason="; ".join(self._unfinished)))

    def _done(self) -> set[str]:
        """What was complete when the campaign was interrupted, and is so of the effects that are tried now."""
        done: set[str] = set()
        for event in self._events:
            match event:
                case CampaignStarted(effects=effects) if effects != self._settings.effects:
                    done = set()
                case RequestFinished(request=name, complete_up_to=size) if size >= self._settings.max_size:
                    done.add(name)
        return done

    def _start(self, requests: Sequence[Request]) -> None:
        self._record(
            CampaignStarted(
                requests=tuple(request.name for request in requests),
                max_size=self._settings.max_size,
                points=self._settings.points,
                effects=self._settings.effects,
                strategy=self._settings.search.strategy,
                certificates=self._settings.search.certificates,
                across_requests=self._settings.search.across_requests,
                repeats=self._settings.limits.failures_needed,
                flake_rate=self._settings.limits.flake_rate,
                trials=self._settings.limits.trials,
                experiments=self._settings.limits.experiments,
                rounds=self._settings.limits.rounds,
                minutes=self._settings.limits.minutes,
            )
        )

    async def _audit(self, request: Request) -> bool:
        """Whether it is fit to be explored, as far as there is a budget left for that."""
        reason = self._spent()
        audits = [each for each in self._events if isinstance(each, RequestAudited) and each.request == request.name]
        if reason and audits and audits[-1].healthy:
            return True  # what is known from before is still to be reported
        if not reason:
            audited = await self._laboratory.audit(request)
            self._keep_evidence(audited.trace_ids)
            self._record(audited)
            reason = audited.reason
        if reason:
            self._finish(RequestFinished(request=request.name, complete_up_to=-1, reason=reason))
        return not reason

    def _audited_calls(self, request: Request) -> int:
        """What the request with the most of them shows, the others need not ask."""
        audits = [each for each in self._events if isinstance(each, RequestAudited) and each.request == request.name]
        return len(audits[-1].calls)

    async def _fill_slots(self, group: asyncio.TaskGroup) -> None:
        """Shares the free slots between the classes that have begun and still have something to ask."""
        hungry = list(self._searches)
        while not self._spent() and (free := self._settings.limits.parallel - len(self._running)):
            if self._is_time_for_another(hungry):
                hungry.append(await self._begin_next())
            if not hungry:
                return
            search = min(hungry, key=self._in_flight)
            share = ceil(free / len(hungry))
            if self._settings.limits.experiments:
                share = min(share, self._settings.limits.experiments - self._asked)
            cuts = await asyncio.to_thread(search.ask, share)
            for cut in cuts:
                self._asked += 1
                self._running[group.create_task(self._experiment(search, cut))] = search
            if len(cuts) < share:
                hungry.remove(search)
            if not cuts and not self._in_flight(search):
                if self._told_of_variation(search.request):
                    self._searches.remove(search)
                    self._waiting.append(search.request)  # what survived once is tried again
                elif closer := self._closer_look(search.request):
                    self._asked += 1
                    self._running[group.create_task(self._experiment(search, *closer))] = search
                else:
                    self._searches.remove(search)
                    self._finish(await self._ended(search))

    def _is_time_for_another(self, hungry: Sequence[ClassSearch]) -> bool:
        """When the others leave a slot free, or have each had a poolful of answers.

        So late classes know what failed early ones, no slot is idle, and nobody waits for long. Where what failed
        others is not even tried, knowing all of it saves more than idle slots cost.
        """
        if not self._waiting:
            return False
        if self._settings.search.across_requests is AcrossRequests.TRUST:
            return not self._searches
        return not hungry or all(search.answered >= self._settings.limits.parallel for search in self._searches)

    def _in_flight(self, search: ClassSearch) -> int:
        return sum(each is search for each in self._running.values())

    async def _begin_next(self) -> ClassSearch:
        request = self._waiting.popleft()
        self._note_variation(request, outcomes_of(request.name, self._events))
        self._told_of_variation(request)
        search = await asyncio.to_thread(begin, request, self._settings, tuple(self._events))
        self._searches.append(search)
        return search

    def _note_variation(self, request: Request, outcomes: Sequence[Outcome]) -> None:
        shown = next(filter(None, (outcome.variation for outcome in outcomes)), "")
        if shown and request.name not in self._varying:
            self._varying[request.name] = shown
            self._laboratory.expect_variation(request)

    def _closer_look(self, request: Request) -> tuple[Cut, float] | None:
        own = [
            event for event in self._events if isinstance(event, ExperimentFinished) and event.request == request.name
        ]
        looked_at = self._looked_at.setdefault(request.name, set())
        found = closer_look(own, self._settings.limits, self._settings.max_size, looked_at)
        if found:
            looked_at.add(found[0])
        return found

    def _told_of_variation(self, request: Request) -> bool:
        """Whether it varies and nobody knew when its search began. Then the record says so from now on."""
        audited = next(
            each for each in reversed(self._events) if isinstance(each, RequestAudited) and each.request == request.name
        )
        if audited.varies or request.name not in self._varying:
            return False
        self._record(replace(audited, varies=self._varying[request.name]))
        return True

    async def _end(self) -> None:
        """A budget is spent, and all experiments have ended. What has begun may turn out to be complete even so."""
        varying = [search for search in self._searches if self._told_of_variation(search.request)]
        self._searches = [search for search in self._searches if search not in varying]
        self._waiting.extend(search.request for search in varying)
        while self._waiting:
            await self._begin_next()
        for search in self._searches:
            more = await asyncio.to_thread(search.ask, 1)
            self._finish(await self._ended(search, self._spent() if more else ""))

    def _spent(self) -> str:
        if 0 < self._settings.limits.experiments <= self._asked:
            return "the budget of experiments is spent"
        return "the budget of time is spent" if self._clock() >= self._deadline else ""

    async def _ended(self, search: ClassSearch, spent: str = "") -> RequestFinished:
        """An audit during an outage, or before the caches were warm, says little of what comes after it."""
        finished = search.end(spent)
        if finished.complete_up_to >= 0 and (unlike := await self._laboratory.unlike_audit(search.request)):
            return replace(finished, complete_up_to=-1, exact_up_to=-1, reason=f"{unlike}; `--resume` audits it anew")
        return finished

    def _finish(self, finished: RequestFinished) -> None:
        if finished.reason:
            self._unfinished.append(f"{finished.request}: {finished.reason}")
        self._record(finished)

    def _record(self, event: CampaignEvent) -> None:
        self._append(event)
        self._events.append(event)

    def _keep_evidence(self, trace_ids: Sequence[str], *, wanted: bool = True) -> None:
        evidence = self._laboratory.evidence(trace_ids)
        if evidence and wanted:
            self._append(evidence)

    async def _experiment(self, search: ClassSearch, cut: Cut, closely: float = 0.0) -> Outcome:
        number = search.round
        outcome = await self._laboratory.run(search.request, cut, share=closely)
        self._note_variation(search.request, [outcome])
        known = search.result
        # Larger ones are injected to learn of paths: no finding has them.
        self._keep_evidence(outcome.trace_ids, wanted=len(cut) <= self._settings.max_size)
        self._record(
            ExperimentFinished(
                request=search.request.name,
                outcome=outcome,
                left=max(0, known.left - 1),
                round=number,
                predicted=len(known.predicted),
                certificates=known.certificates,
                complete_up_to=search.complete_up_to,
            )
        )
        await halt_if_down(self._laboratory, search.request, outcome)
        return outcome


def _innermost(error: BaseException) -> BaseException:
    return _innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
