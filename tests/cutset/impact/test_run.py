import asyncio
import gc
import random
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.errors import HaltedError, TargetError
from cutset.experiment.trial import Bench
from cutset.guards.brake import Brake
from cutset.guards.halting import HaltOrder, give_order
from cutset.guards.vital_signs import VitalSigns
from cutset.impact.observe import RequestObserver, observing
from cutset.impact.run import run_impact
from cutset.judge.impact import impact_of
from cutset.lineage.path import Level
from cutset.model.fault import Fault
from cutset.model.impact import (
    ApiVerdict,
    Group,
    GuardTripped,
    Impact,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    Mark,
    RequestsObserved,
    TrafficSource,
    WindowEnded,
    WindowStarted,
)
from cutset.model.run import Loop, RunStarted
from cutset.model.span import Span
from cutset.model.target import Target
from cutset.store.ledger import Ledger, open_ledger
from cutset.store.runs import impact_events, new_run
from cutset.traces.collector import Collector

PATIENCE_SECONDS = 30
STARTED = ImpactStarted(
    cut=frozenset({Fault.parse("payment/Charge:abort(503)")}),
    traffic=TrafficSource.LIVE,
    shares=(0.05,),
    seconds={ImpactWindow.BEFORE: 0.2, ImpactWindow.DURING: 20.0, ImpactWindow.AFTER: 0.1},
    margin=0.3,
)
WORKS = trace(Made("payment/Charge"))
FATAL = trace(Made("payment/Charge", status=14, flags="FI"), entry_status=500)
TOLERATED = trace(Made("payment/Charge", status=14, flags="FI"))
BROKEN = trace(Made("payment/Charge"), entry_status=500)

Answer = Callable[[Mark, ImpactWindow], Sequence[Span]]


def fatal(mark: Mark, _: ImpactWindow) -> Sequence[Span]:
    return FATAL if mark.group is Group.FAULT else WORKS


def tolerated(mark: Mark, _: ImpactWindow) -> Sequence[Span]:
    return TOLERATED if mark.group is Group.FAULT else WORKS


@dataclass
class ScriptedTraffic:
    """Users who come every few milliseconds, and whose requests are answered at once."""

    collector: Collector
    answer: Answer = fatal
    marks: asyncio.Queue[Mark] = field(default_factory=asyncio.Queue)
    starts: list[tuple[ImpactWindow, float]] = field(default_factory=list)
    injecting: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    made: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    task: asyncio.Task[None] | None = None

    async def start(self, window: ImpactWindow, share: float) -> None:
        await self.stop()
        self.stopped.clear()
        self.starts.append((window, share))
        if window is ImpactWindow.DURING:
            self.injecting.set()
        self.task = asyncio.ensure_future(self._come(window))

    async def stop(self) -> int:
        self.stopped.set()
        if self.task:
            self.task.cancel()
        return self.made

    async def _come(self, window: ImpactWindow) -> None:
        while True:
            self.made += 1
            groups = [Group.CONTROL] if window is ImpactWindow.BEFORE else [Group.CONTROL, Group.FAULT]
            mark = Mark(f"{self.made:032x}", f"{self.made:016x}", self.chance.choice(groups), str(self.made), 0.0)
            self.marks.put_nowait(mark)
            try:
                await asyncio.sleep(0.002)
            finally:  # what was marked is answered
                self.collector.accept(spans_of(mark, self.answer(mark, window)))


def spans_of(mark: Mark, spans: Sequence[Span]) -> list[Span]:
    """The same trace, as that of this request."""
    return [
        replace(span, trace_id=mark.trace_id, parent_id=mark.span_id if span.parent_id == ROOT else span.parent_id)
        for span in spans
    ]


@dataclass
class Stage:
    ledger: Ledger
    run: str
    brake: Brake
    traffic: ScriptedTraffic
    observer: RequestObserver

    def events(self, started: ImpactStarted = STARTED, **options: Any) -> AsyncGenerator[ImpactEvent, None]:
        return run_impact(
            self.run, started, self.traffic, self.observer, self.ledger, self.brake, news_seconds=0.05, **options
        )

    async def all(self, started: ImpactStarted = STARTED, **options: Any) -> list[ImpactEvent]:
        async with aclosing(self.events(started, **options)) as events:
            return [event async for event in events]

    @property
    def recorded(self) -> list[ImpactEvent]:
        return impact_events(self.ledger, self.run)

    @property
    def result(self) -> Impact:
        return impact_of(self.recorded)

    @property
    def kinds(self) -> list[str]:
        """What happened, but for what was observed."""
        return [type(each).__name__ for each in self.recorded if not isinstance(each, RequestsObserved)]

    @property
    def ended(self) -> dict[ImpactWindow, WindowEnded]:
        return {each.window: each for each in self.recorded if isinstance(each, WindowEnded)}

    async def reaches(self, events: AsyncGenerator[ImpactEvent, None], window: ImpactWindow) -> None:
        async for event in events:
            if isinstance(event, WindowStarted) and event.window is window:
                return


@asynccontextmanager
async def stage(store: Path, answer: Answer = fatal) -> AsyncGenerator[Stage, None]:
    collector = Collector()
    bench = Bench(
        Target("http://127.0.0.1:1"), b"", collector, None, Level.API, trace_timeout=2.0, export_interval=0.02
    )
    with open_ledger(store) as ledger, new_run(ledger, RunStarted(loop=Loop.IMPACT, command="impact")) as run:
        async with observing(bench, STARTED.cut) as observer:
            traffic = ScriptedTraffic(collector, answer)
            try:
                yield Stage(ledger, run, Brake(store), traffic, observer)
            finally:
                await traffic.stop()


async def rest_of(events: AsyncGenerator[ImpactEvent, None]) -> list[ImpactEvent]:
    return [event async for event in events]


def within_patience(test: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await test

    asyncio.run(limited())


def test_a_fault_that_fails_requests_is_found_and_ends_as_soon_as_that_is_decided(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            await on.all()

            assert on.result.verdict is ApiVerdict.AFFECTED
            assert on.ended[ImpactWindow.DURING].reason == "decided"
            assert on.traffic.starts == [(ImpactWindow.BEFORE, 0.05), (ImpactWindow.DURING, 0.05)]
            assert on.kinds == [
                "RunStarted",
                "ImpactStarted",
                *["WindowStarted", "WindowEnded"] * 3,
                "RunFinished",
            ]

    within_patience(test())


def test_a_fault_that_is_tolerated_is_called_resilient(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path, tolerated) as on:
            await on.all()

            assert on.result.verdict is ApiVerdict.RESILIENT
            assert on.result.finished

    within_patience(test())


def test_the_window_takes_its_time_if_the_end_must_not_depend_on_what_was_seen(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            during = {**STARTED.seconds, ImpactWindow.DURING: 1.0}
            await on.all(replace(STARTED, seconds=during), stop_when_decided=False)

            assert on.ended[ImpactWindow.DURING].reason == ""
            assert on.result.apis[0].at_end is not None

    within_patience(test())


def test_every_event_is_in_the_ledger_before_anybody_is_told(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on, aclosing(on.events()) as events:
            told = [on.recorded[0]]
            async for event in events:
                told.append(event)
                assert on.recorded[: len(told)] == told
            assert on.recorded == told

    within_patience(test())


def test_every_marked_request_is_counted_and_observed_in_the_window_in_which_it_was_marked(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            await on.all()

            observed = {window: [0, 0] for window in ImpactWindow}
            for event in on.recorded:
                if isinstance(event, RequestsObserved):
                    for request in event.requests:
                        observed[event.window][request.group is Group.FAULT] += 1
            for window in (ImpactWindow.BEFORE, ImpactWindow.DURING):
                marked = on.ended[window].marked
                assert observed[window] == [marked.get(Group.CONTROL, 0), marked.get(Group.FAULT, 0)]
            assert not on.ended[ImpactWindow.BEFORE].marked.get(Group.FAULT)
            assert observed[ImpactWindow.AFTER] == [0, 0]
            assert on.observer.waiting == 0

    within_patience(test())


def test_a_guard_that_trips_ends_marking_before_anything_else_and_the_rest_is_still_watched(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on, aclosing(on.events(stop_when_decided=False)) as events:
            await on.reaches(events, ImpactWindow.DURING)
            on.brake.pull("error-rate", "too many fail")
            while not isinstance(await anext(events), GuardTripped):
                pass
            assert on.traffic.stopped.is_set()
            with pytest.raises(HaltedError, match="guard `error-rate` ended injection: too many fail"):
                await rest_of(events)

            assert on.kinds[-6:] == [
                "WindowStarted",
                "GuardTripped",
                "WindowEnded",
                "WindowStarted",
                "WindowEnded",
                "RunFinished",
            ]
            assert on.ended[ImpactWindow.DURING].reason == "too many fail"
            assert on.result.guard is not None

    within_patience(test())


def test_an_order_to_halt_during_the_window_before_lets_no_fault_happen(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on, aclosing(on.events()) as events:
            await on.reaches(events, ImpactWindow.BEFORE)
            give_order(tmp_path, HaltOrder("alice@desk", 1.0, "lunch"))
            with pytest.raises(HaltedError, match=r"halt.*alice@desk"):
                await rest_of(events)

            assert on.traffic.starts == [(ImpactWindow.BEFORE, 0.05)]
            assert on.kinds[-4:] == ["WindowStarted", "GuardTripped", "WindowEnded", "RunFinished"]

    within_patience(test())


def test_a_control_that_gets_worse_than_before_pulls_the_brake(tmp_path: Path) -> None:
    def all_fail(_: Mark, window: ImpactWindow) -> Sequence[Span]:
        return WORKS if window is ImpactWindow.BEFORE else BROKEN

    async def test() -> None:
        async with stage(tmp_path, all_fail) as on:
            with pytest.raises(HaltedError, match=r"guard `control`.*without the fault fail more often than before"):
                await on.all()

    within_patience(test())


def test_whoever_cannot_see_any_more_pulls_the_brake(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on, aclosing(on.events()) as events:
            await on.reaches(events, ImpactWindow.DURING)
            on.observer.problem = "Jaeger does not answer"
            with pytest.raises(HaltedError, match="guard `telemetry` ended injection: Jaeger does not answer"):
                await rest_of(events)

    within_patience(test())


def test_guards_are_told_what_becomes_of_requests(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            signs = VitalSigns()
            await on.all(signs=signs)

            marked = on.ended[ImpactWindow.DURING].marked
            assert signs.failed == marked[Group.FAULT]
            assert (
                signs.lately().requests == marked[Group.CONTROL] + on.ended[ImpactWindow.BEFORE].marked[Group.CONTROL]
            )
            assert signs.lately().failed == 0

    within_patience(test())


RAMP = replace(
    STARTED,
    shares=(0.001, 0.01, 0.05),
    seconds={ImpactWindow.BEFORE: 0.2, ImpactWindow.DURING: 0.5, ImpactWindow.AFTER: 0.1},
)


def test_a_ramp_goes_on_while_nothing_speaks_against_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path, tolerated) as on:
            await on.all(RAMP)

            assert [share for _, share in on.traffic.starts] == [0.001, 0.001, 0.01, 0.05]
            assert [each.share for each in on.recorded if isinstance(each, WindowStarted)] == [0.001, *RAMP.shares, 0.0]
            assert list(on.ended) == [ImpactWindow.BEFORE, ImpactWindow.DURING, ImpactWindow.AFTER]

    within_patience(test())


def test_a_ramp_stops_at_the_share_at_which_harm_is_known(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            await on.all(RAMP)

            assert [share for _, share in on.traffic.starts] == [0.001, 0.001]
            reason = on.ended[ImpactWindow.DURING].reason
            assert reason == "not beyond a share of 0.1 %: `frontend/GET /` is affected"

    within_patience(test())


def test_a_ramp_stops_where_nothing_is_seen(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path, lambda _, __: ()) as on:
            await on.all(RAMP)

            assert on.ended[ImpactWindow.DURING].reason.startswith("not beyond a share of 0.1 %: no ")

    within_patience(test())


def test_whoever_goes_away_leaves_nothing_that_marks_and_a_record_of_what_is_known(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            events = on.events(stop_when_decided=False)
            await on.reaches(events, ImpactWindow.DURING)
            await events.aclose()

            assert on.traffic.stopped.is_set()
            assert on.ended[ImpactWindow.DURING].reason == "interrupted"
            assert not on.result.finished

    within_patience(test())


def test_so_does_who_is_interrupted(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            task = asyncio.ensure_future(on.all(stop_when_decided=False))
            await on.traffic.injecting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            assert on.traffic.stopped.is_set()
            assert on.ended[ImpactWindow.DURING].reason == "interrupted"

    within_patience(test())


def test_so_does_who_forgets_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            events = on.events(stop_when_decided=False)
            await on.reaches(events, ImpactWindow.DURING)
            assert not on.traffic.stopped.is_set()
            del events
            gc.collect()
            await on.traffic.stopped.wait()

    within_patience(test())


def test_nobody_has_to_take_the_events_for_it_to_come_to_its_end(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on, aclosing(on.events()) as events:
            await anext(events)
            await on.traffic.injecting.wait()
            await on.traffic.stopped.wait()

    within_patience(test())


def test_a_traffic_that_cannot_be_marked_is_told_to_stop_and_the_reason_is_recorded(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            start = on.traffic.start

            async def refuse(window: ImpactWindow, share: float) -> None:
                await start(window, share)
                if window is ImpactWindow.DURING:
                    raise TargetError("The edge is gone")

            on.traffic.start = refuse
            with pytest.raises(TargetError, match="The edge is gone"):
                await on.all()

            assert on.traffic.stopped.is_set()
            assert on.ended[ImpactWindow.DURING].reason == "The edge is gone"

    within_patience(test())


def test_a_run_without_windows_around_the_fault_has_just_that(tmp_path: Path) -> None:
    async def test() -> None:
        async with stage(tmp_path) as on:
            alone = {ImpactWindow.BEFORE: 0.0, ImpactWindow.DURING: 20.0, ImpactWindow.AFTER: 0.0}
            await on.all(replace(STARTED, seconds=alone))

            assert list(on.ended) == [ImpactWindow.DURING]
            assert on.result.verdict is ApiVerdict.AFFECTED

    within_patience(test())
