"""Runs tests one after the other on as few starts of the service as possible (CAST §3.5.1).

Fail-fast: after a failed test the service is started afresh, since what the fault left behind would be blamed on the
next one. A result counts once it is in the history; a session that is interrupted at any moment can go on from there.
"""

import os
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp

from cutset.drill import history
from cutset.drill.observe import Observer
from cutset.drill.phases import ENVIRONMENT, Drill, SendFlow, run_phases
from cutset.drill.plan import Flow
from cutset.drill.reconnaissance import with_calls
from cutset.drill.service import RunningService, running
from cutset.drill.settings import DrillSettings
from cutset.judge.phases import judge_drill
from cutset.judge.symptoms import hits
from cutset.model.drill import DrillResult, DrillTest, DrillVerdict, Phase, TimelinePoint
from cutset.traces.collector import collect
from cutset.workload.replay import Sent, send_flow
from cutset.workload.send import open_client


@dataclass(frozen=True, slots=True)
class ServiceStarted:
    number: int


@dataclass(frozen=True, slots=True)
class PhaseBegan:
    test: DrillTest
    phase: Phase


@dataclass(frozen=True, slots=True)
class DrillFinished:
    result: DrillResult


SessionEvent = ServiceStarted | PhaseBegan | DrillFinished
Tell = Callable[[SessionEvent], None]
Sender = Callable[[Flow, str], SendFlow]  # for a flow and the service's URL


@dataclass(frozen=True, slots=True)
class _Bench:
    settings: DrillSettings
    flows: Mapping[str, Flow]
    sender: Sender
    observer: Observer
    client: aiohttp.ClientSession
    key: bytes
    tell: Tell
    agent: Mapping[str, str]  # its environment


def replaying(flow: Flow, url: str) -> SendFlow:
    """Sends the flow's template."""

    async def send(
        client: aiohttp.ClientSession, headers: Callable[[int], Mapping[str, str]], seconds: float
    ) -> list[Sent]:
        values = dict(os.environ)
        return await send_flow(client, flow.template, base_url=url, headers=headers, timeout=seconds, values=values)

    return send


async def run_session(
    session: str,
    tests: Sequence[DrillTest],
    flows: Mapping[str, Flow],
    settings: DrillSettings,
    *,
    store: Path,
    tell: Tell,
    sender: Sender = replaying,
) -> None:
    """Every result is in the history of the store before it is told."""
    waiting, starts = deque(tests), 0
    async with _bench(settings, flows, tell, sender) as bench:
        while waiting:
            starts += 1
            log = store / "drills" / session / f"service-{starts}.log"
            async with running(settings.service, bench.agent, log) as service:
                tell(ServiceStarted(starts))
                await _batch(bench, service, waiting, lambda result: history.append(store, session, result))
    history.append(store, session, None)


async def reconnoitre(
    flows: Mapping[str, Flow], settings: DrillSettings, *, log: Path, sender: Sender = replaying
) -> list[Flow]:
    """The flows with what the service calls for them now, whatever was recorded: a HAR file has no calls at all."""
    async with (
        _bench(settings, flows, lambda _: None, sender) as bench,
        running(settings.service, bench.agent, log) as up,
    ):
        return [
            await with_calls(flow, sender(flow, up.url), bench.client, bench.observer, bench.key)
            for flow in flows.values()
        ]


@asynccontextmanager
async def _bench(
    settings: DrillSettings, flows: Mapping[str, Flow], tell: Tell, sender: Sender
) -> AsyncIterator[_Bench]:
    observer = Observer()
    key = secrets.token_hex(32).encode()  # nobody else's: the service ends with us
    services = {step.exchange.service for flow in flows.values() for step in flow.steps}
    async with collect() as collector, open_client(2 * settings.pace.parallel) as client:
        stop = collector.subscribe(observer.receive)
        agent = {
            "CUTSET_KEY": key.decode(),
            "CUTSET_ENVIRONMENT": ENVIRONMENT,
            "CUTSET_COLLECTOR": collector.http_url,
        }
        if len(services) == 1:  # it is called what the recording calls it; several have names of their own
            agent["CUTSET_SERVICE"] = services.pop()
        yield _Bench(settings, flows, sender, observer, client, key, tell, agent)
        stop()


async def _batch(
    bench: _Bench, service: RunningService, waiting: deque[DrillTest], record: Callable[[DrillResult], None]
) -> None:
    """Until the service is used up."""
    for number in range(bench.settings.tests_per_start):
        if not waiting:
            return
        result = await _drill(bench, service, waiting[0])
        unhealthy = result.judgement.verdict is DrillVerdict.UNKNOWN and not _was_healthy(result)
        if unhealthy and number:
            return  # perhaps because of the tests before: once more, on a fresh one
        waiting.popleft()
        record(result)
        bench.tell(DrillFinished(result))
        if result.judgement.verdict is DrillVerdict.FAILED or unhealthy or not service.alive:
            return


async def _drill(bench: _Bench, service: RunningService, test: DrillTest) -> DrillResult:
    bench.observer.forget_all()
    flow, thresholds = bench.flows[test.flow], bench.settings.thresholds_of(test)
    limit = thresholds.limit_for(max(step.exchange.seconds for step in flow.steps))
    thresholds = replace(thresholds, limit_seconds=limit)
    drill = Drill(
        test=test,
        send=bench.sender(flow, service.url),
        client=bench.client,
        observer=bench.observer,
        key=bench.key,
        pace=bench.settings.pace,
        thresholds=thresholds,
    )
    samples = await run_phases(drill, lambda phase: bench.tell(PhaseBegan(test, phase)))
    startup, faulty = ([each for each in samples if each.phase is phase] for phase in (Phase.STARTUP, Phase.FAULT))
    hit = {sample.trace_id for sample in hits(test, startup, faulty)}
    timeline = tuple(
        TimelinePoint(each.phase, round(each.sent_at, 3), round(each.seconds, 4), each.ok, each.trace_id in hit)
        for each in sorted(samples, key=lambda sample: sample.sent_at)
    )
    return DrillResult(test, judge_drill(test, samples, thresholds), timeline, time.time())


def _was_healthy(result: DrillResult) -> bool:
    return all(point.ok for point in result.timeline if point.phase is Phase.STARTUP)
