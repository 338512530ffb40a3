"""Runs tests one after the other on as few starts of the service as possible (CAST §3.5.1).

First the service is asked what it calls now, and the tests are chosen by that. They begin on that same start: it has
served nothing but requests without faults, which leaves less behind than the tests that passed before another in its
batch. Caches and pools are warm then, as they are for every test of a batch but the first.

Fail-fast: after a failed test the service is started afresh, since what the fault left behind would be blamed on the
next one. An event counts once it is recorded; a session that is interrupted at any moment goes on from there.
"""

import os
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp

from cutset.drill.history import subject_of
from cutset.drill.observe import Observer
from cutset.drill.phases import ENVIRONMENT, Drill, SendFlow, run_phases
from cutset.drill.plan import Flow, points_in
from cutset.drill.reconnaissance import with_calls
from cutset.drill.service import RunningService, running
from cutset.drill.settings import DrillSettings
from cutset.errors import TargetError
from cutset.experiment.gate import Gate
from cutset.judge.phases import judge_drill
from cutset.judge.symptoms import hits
from cutset.model.drill import (
    DrillEvent,
    DrillFinished,
    DrillResult,
    DrillsPlanned,
    DrillTest,
    DrillVerdict,
    Phase,
    PhaseBegan,
    ServiceStarted,
    TimelinePoint,
    results_of,
)
from cutset.traces.collector import collect
from cutset.workload.recording.masking import FieldMasker, field_masker
from cutset.workload.replay import Sent, send_flow
from cutset.workload.send import open_client

Choose = Callable[[Sequence[Flow]], DrillsPlanned]  # of the flows, with what the service calls for them now
Past = Sequence[object]  # events of the same session
Record = Callable[[DrillEvent], None]
Sender = Callable[[Flow, str], SendFlow]  # for a flow and the service's URL


@dataclass(frozen=True, slots=True)
class _Bench:
    settings: DrillSettings
    flows: Mapping[str, Flow]
    sender: Sender
    observer: Observer
    client: aiohttp.ClientSession
    key: bytes
    agent: Mapping[str, str]  # its environment
    mask: FieldMasker
    gate: Gate | None


def replaying(flow: Flow, url: str) -> SendFlow:
    """Sends the flow's template."""

    async def send(
        client: aiohttp.ClientSession, headers: Callable[[int], Mapping[str, str]], seconds: float
    ) -> list[Sent]:
        values = dict(os.environ)
        return await send_flow(client, flow.template, base_url=url, headers=headers, timeout=seconds, values=values)

    return send


async def run_session(
    flows: Mapping[str, Flow],
    settings: DrillSettings,
    choose: Choose,
    *,
    past: Past = (),
    record: Record,
    logs: Path,
    sender: Sender = replaying,
    gate: Gate | None = None,
) -> AsyncGenerator[DrillEvent, None]:
    """Starts the session, or goes on where its `past` events end. Yields each event after it was recorded."""
    async with (
        _bench(settings, flows, sender, gate) as bench,
        aclosing(_session(bench, choose, past, logs)) as events,
    ):
        async for event in events:
            record(event)
            yield event


@asynccontextmanager
async def _bench(
    settings: DrillSettings, flows: Mapping[str, Flow], sender: Sender, gate: Gate | None
) -> AsyncIterator[_Bench]:
    observer = Observer()
    key = secrets.token_hex(32).encode()  # nobody else's: the service ends with us
    services = {step.exchange.service for flow in flows.values() for step in flow.steps}
    async with collect() as collector, open_client(2 * settings.pace.parallel) as client:
        agent = {
            "CUTSET_KEY": key.decode(),
            "CUTSET_PUBLIC_KEY": "",
            "CUTSET_ENVIRONMENT": ENVIRONMENT,
            "CUTSET_COLLECTOR": collector.http_url,
        }
        if len(services) == 1:  # it is called what the recording calls it; several have names of their own
            agent["CUTSET_SERVICE"] = services.pop()
        stop = collector.subscribe(observer.receive)
        if gate:
            collector.subscribe(gate.spans_arrived)
        try:
            yield _Bench(settings, flows, sender, observer, client, key, agent, field_masker(), gate)
        finally:
            stop()


async def _session(bench: _Bench, choose: Choose, past: Past, logs: Path) -> AsyncGenerator[DrillEvent, None]:
    starts = sum(isinstance(event, ServiceStarted) for event in past)
    waiting = _tests_left(past)
    while waiting is None or waiting:
        starts += 1
        log = logs / f"service-{starts}.log"
        async with running(bench.settings.service, bench.agent, log) as service:
            yield ServiceStarted(number=starts)
            is_fresh = waiting is not None
            if waiting is None:
                planned = choose(await _reconnoitre(bench, service))
                yield planned
                waiting = deque(planned.tests)
            async with aclosing(_batch(bench, service, waiting, is_fresh=is_fresh)) as events:
                async for event in events:
                    yield event


def _tests_left(past: Past) -> deque[DrillTest] | None:
    """None if they were not chosen yet."""
    planned = next((event for event in past if isinstance(event, DrillsPlanned)), None)
    if planned is None:
        return None
    done = {result.test for result in results_of(past)}
    return deque(test for test in planned.tests if test not in done)


async def _reconnoitre(bench: _Bench, service: RunningService) -> list[Flow]:
    """The flows with what the service calls for them now, whatever was recorded: a HAR file has no calls at all."""
    found = [
        await with_calls(flow, bench.sender(flow, service.url), bench.client, bench.observer, bench.key)
        for flow in bench.flows.values()
    ]
    if points_in(bench.flows.values()) and not any(step.called for flow in found for step in flow.steps):
        raise TargetError(
            "The service was sent its recorded requests, and the agent in it reported no call",
            hint="Does `drill.command` start the recorded service, in Python, with our environment? "
            f"Its output: {service.log}",
        )
    return found


async def _batch(
    bench: _Bench, service: RunningService, waiting: deque[DrillTest], *, is_fresh: bool
) -> AsyncGenerator[DrillEvent, None]:
    """Until the service is used up."""
    for number in range(bench.settings.tests_per_start):
        if not waiting:
            return
        test = waiting[0]
        drill = _drill(bench, service, test)
        async with aclosing(run_phases(drill)) as phases:
            async for phase in phases:
                yield PhaseBegan(test=test, phase=phase)
        result = _judged(drill)
        unhealthy = result.judgement.verdict is DrillVerdict.UNKNOWN and not _was_healthy(drill)
        if unhealthy and (number or not is_fresh):
            return  # perhaps because of what came before: once more, on a fresh one
        waiting.popleft()
        yield DrillFinished(result=result, subject=subject_of(bench.settings.service, bench.flows[test.flow]))
        if result.judgement.verdict is DrillVerdict.FAILED or unhealthy or not service.alive:
            return


def _drill(bench: _Bench, service: RunningService, test: DrillTest) -> Drill:
    bench.observer.forget_all()
    flow, thresholds = bench.flows[test.flow], bench.settings.thresholds_of(test)
    limit = thresholds.limit_for(max(step.exchange.seconds for step in flow.steps))
    return Drill(
        test=test,
        send=bench.sender(flow, service.url),
        client=bench.client,
        observer=bench.observer,
        key=bench.key,
        pace=bench.settings.pace,
        thresholds=replace(thresholds, limit_seconds=limit),
        mask=bench.mask,
        gate=bench.gate,
    )


def _judged(drill: Drill) -> DrillResult:
    hit = {sample.trace_id for sample in hits(drill.test, drill.of(Phase.STARTUP), drill.of(Phase.FAULT))}
    timeline = tuple(
        TimelinePoint(each.phase, round(each.sent_at, 3), round(each.seconds, 4), each.ok, each.trace_id in hit)
        for each in sorted(drill.samples, key=lambda sample: sample.sent_at)
    )
    return DrillResult(drill.test, judge_drill(drill.test, drill.samples, drill.thresholds), timeline)


def _was_healthy(drill: Drill) -> bool:
    return all(sample.ok for sample in drill.of(Phase.STARTUP))
