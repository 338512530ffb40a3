"""One test on a running service: the flow is sent before, during and after the fault (CAST §3.5.1)."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from cutset.drill.observe import Observer
from cutset.drill.settings import Pace
from cutset.errors import HaltedError
from cutset.experiment.gate import Gate
from cutset.inject.plan import signed_headers
from cutset.judge.phases import recovery_of
from cutset.judge.symptoms import hits
from cutset.model.drill import DrillTest, Phase, Sample, Thresholds
from cutset.workload.recording.masking import FieldMasker
from cutset.workload.replay import Sent
from cutset_agent import wire

ENVIRONMENT = "drill"
MAX_PLAN_SECONDS = wire.MAX_LIFE_SECONDS - 1  # readers refuse what lives longer, by their own clock
# Faults of a single moment: the next call meets a healthy system. All others last for as long as the request tries.
MOMENTARY = frozenset({"lost-answer", "deadlock", "serialization-failure", "moved"})
RETRIES_HIT = 12  # further calls of the same request that a lasting fault hits, where calls are told apart


# Sends the requests of the flow. The second argument gives the headers of each, by its number from 0.
SendFlow = Callable[[aiohttp.ClientSession, Callable[[int], Mapping[str, str]], float], Awaitable[Sequence[Sent]]]


@dataclass(slots=True)
class Drill:
    """What all phases of a test share."""

    test: DrillTest
    send: SendFlow
    client: aiohttp.ClientSession
    observer: Observer
    key: bytes
    pace: Pace
    thresholds: Thresholds
    mask: FieldMasker
    gate: Gate | None = None  # what every injection passes
    began: float = field(default_factory=time.monotonic)
    began_ns: int = field(default_factory=time.time_ns)
    samples: list[Sample] = field(default_factory=list)

    def of(self, phase: Phase) -> list[Sample]:
        return [sample for sample in self.samples if sample.phase is phase]


async def run_phases(drill: Drill) -> AsyncGenerator[Phase, None]:
    """Tells each phase as it begins; afterwards the drill has all its samples, with their operations."""
    yield Phase.STARTUP
    await _send_for(drill, Phase.STARTUP, drill.pace.startup)
    await _settle(drill)
    if not any(drill.test.is_at(each) for sample in drill.samples for each in sample.operations):
        return  # nothing to inject at
    yield Phase.FAULT
    await _send_for(drill, Phase.FAULT, drill.pace.fault)
    await _settle(drill)
    if not hits(drill.test, drill.of(Phase.STARTUP), drill.of(Phase.FAULT)):
        return
    yield Phase.RECOVERY
    patience_ends = time.monotonic() + drill.pace.recovery + drill.pace.patience
    enough = False
    while not enough:
        await _send_for(drill, Phase.RECOVERY, drill.pace.recovery)
        await _settle(drill)
        found = recovery_of(drill.test, drill.of(Phase.STARTUP), drill.of(Phase.RECOVERY), drill.thresholds)
        enough = found.complete or time.monotonic() >= patience_ends


async def _send_for(drill: Drill, phase: Phase, seconds: float) -> None:
    """At an even pace, never more at once than allowed; ends when all have been answered or given up."""
    started, number = time.monotonic(), 0
    under_way: set[asyncio.Task[None]] = set()
    try:
        async with asyncio.TaskGroup() as group:
            while (due := number / drill.pace.rate) < seconds:
                await asyncio.sleep(max(0.0, started + due - time.monotonic()))
                number += 1
                if len(under_way) < drill.pace.parallel:
                    task = group.create_task(_run_once(drill, phase))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
    except ExceptionGroup as group_of_errors:
        if halted := group_of_errors.subgroup(HaltedError):
            raise halted.exceptions[0] from None
        raise


async def _run_once(drill: Drill, phase: Phase) -> None:
    traces: dict[int, str] = {}
    limit = drill.thresholds.limit_for()

    def headers(step: int) -> Mapping[str, str]:
        traces[step] = secrets.token_hex(16)
        is_target = step == drill.test.step
        if is_target:
            drill.observer.expect(traces[step])
        faults = planned_faults(drill.test) if is_target and phase is Phase.FAULT else ()
        if faults and drill.gate:
            drill.gate.permit(str(drill.test), traces[step])
        return marked(faults, traces[step], drill.key, limit)

    sent_at = time.monotonic() - drill.began
    answers = await drill.send(drill.client, headers, limit)
    failed = next((answer for answer in answers if answer.failure), None)
    decisive = (failed or answers[drill.test.step]).response
    if drill.gate:
        drill.gate.answered(decisive, with_fault=phase is Phase.FAULT)
    drill.samples.append(
        Sample(
            phase,
            sent_at,
            seconds=max(answer.response.seconds for answer in answers),
            ok=failed is None,
            status=decisive.status,
            error=decisive.error or (failed.failure if failed and not decisive.status else ""),
            content_type=decisive.content_type,
            body=drill.mask(decisive.content_type, decisive.body),
            trace_id=traces.get(drill.test.step, ""),
        )
    )


async def _settle(drill: Drill) -> None:
    """Until all samples so far have their operations."""
    answered = [sample.trace_id for sample in drill.samples if sample.status and sample.trace_id]
    await drill.observer.settle(lambda: all(map(drill.observer.has_ended, answered)))
    drill.samples = [drill.observer.complete(sample, drill.began_ns) for sample in drill.samples]


def planned_faults(test: DrillTest) -> tuple[tuple[wire.WireTarget, wire.WireFault], ...]:
    """A lasting fault hits the call and its repetitions; a momentary one the call alone."""
    target = wire.WireTarget(test.point.caller, test.endpoint, test.point.peer)
    code = wire.fault_code(test.fault)
    first = int(test.point.occurrence or 1)
    if test.fault in MOMENTARY:
        return ((target, wire.WireFault("L", code, occurrence=first)),)
    if first == 1:
        return ((target, wire.WireFault("L", code)),)
    last = min(99, first + max(RETRIES_HIT, 5 * first))
    return tuple((target, wire.WireFault("L", code, occurrence=number)) for number in range(first, last + 1))


def marked(
    faults: Sequence[tuple[wire.WireTarget, wire.WireFault]], trace_id: str, key: bytes, seconds: float
) -> dict[str, str]:
    """The headers of one request, which is given up after so many seconds: its plan lives no longer.

    Without faults too: the signature makes the agent report the request's operations.
    """
    return signed_headers(
        faults,
        trace_id=trace_id,
        span_id=secrets.token_hex(8),
        key=key,
        environment=ENVIRONMENT,
        expires=time.time() + min(seconds, MAX_PLAN_SECONDS),
    )
