"""Times the calls that requests make, without faults and under the known cuts."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median
from typing import Protocol

from cutset.errors import TargetError
from cutset.experiment.laboratory import Laboratory
from cutset.experiment.trial import Trial
from cutset.harden.remedies.evidence import latency_of
from cutset.lineage.calls import calls_of
from cutset.model.fault import BASELINE, Cut
from cutset.model.hardening import CallsObserved, Effort
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.verify.health import LivingLaboratory

# `http.request.header.authorization`, `rpc.grpc.request.metadata.cookie`, `enduser.id`, …
_SOMEBODY = re.compile(
    r".*(header|metadata)\..*(auth|cookie|token|secret|api.?key|session|user(?!.?agent)).*|(end)?user\.id|session\.id"
)
RUNS = 10  # of each request, to time its calls
PARALLEL = 2  # while timing: more would only wait for each other


class ObservingLaboratory(Laboratory, LivingLaboratory, Protocol):
    async def observe(self, request: Request, cut: Cut) -> Trial:
        """One request, for what its trace shows and not for a verdict. It must have been audited."""
        ...


async def audit_all(laboratory: Laboratory, requests: Iterable[Request]) -> None:
    for request in requests:  # one after the other: an audit wants silence
        audited = await laboratory.audit(request)
        if not audited.healthy:
            raise TargetError(
                f"`{request.name}` does not work even without faults: {audited.reason}",
                hint="Nothing was changed. Make it work, or explore and harden without it",
            )


async def observe(
    laboratory: ObservingLaboratory,
    requests: Sequence[Request],
    cuts: Sequence[tuple[Request, Cut]],
    *,
    parallel: int,
) -> CallsObserved:
    """The requests must have been audited."""
    calm = await _trials(laboratory, [(request, BASELINE) for request in requests for _ in range(RUNS)], PARALLEL)
    faulted = await _trials(laboratory, cuts, parallel)
    seconds: dict[Point, list[float]] = {}
    recovered: dict[Point, int] = {}
    proved: set[Point] = set()
    for trial in (trial for trials in calm.values() for trial in trials):
        _note_calls(trial, seconds, recovered)
        proved |= set(_of_somebody(trial))
    return CallsObserved(
        efforts={
            name: Effort(
                seconds=median(trial.response.seconds for trial in trials),
                calls=fmean(map(_attempts, trials)),
                calls_with_faults=fmean(map(_attempts, faulted[name])) if name in faulted else 0.0,
                runs=len(trials),
                fastest=min(trial.response.seconds for trial in trials),
                slowest=max(trial.response.seconds for trial in trials),
            )
            for name, trials in calm.items()
        },
        latencies={api: latency_of(own, "requests of our own") for api, own in seconds.items()},
        recovered={api: number for api, number in recovered.items() if number},
        proved=frozenset(proved),
    )


def _of_somebody(trial: Trial) -> Iterator[Point]:
    """APIs whose servers tell of credentials or a user, as instrumentations do that are told to: names, no values."""
    attempts = {each.span.span_id: each for call in calls_of(trial.spans, trial.root_id) for each in call.attempts}
    for span in trial.spans:
        called = attempts.get(span.span_id) or attempts.get(span.parent_id)
        if called is not None and any(map(_SOMEBODY.fullmatch, span.attributes)):
            yield called.point.of_api


async def _trials(
    laboratory: ObservingLaboratory, wanted: Sequence[tuple[Request, Cut]], parallel: int
) -> dict[str, list[Trial]]:
    limit = asyncio.Semaphore(parallel)

    async def trial(request: Request, cut: Cut) -> Trial:
        async with limit:
            return await laboratory.observe(request, cut)

    found: dict[str, list[Trial]] = {}
    for (request, _), each in zip(wanted, await asyncio.gather(*(trial(*each) for each in wanted)), strict=True):
        found.setdefault(request.name, []).append(each)
    return found


def _attempts(trial: Trial) -> int:
    return sum(len(call.attempts) for call in calls_of(trial.spans, trial.root_id))


def _note_calls(trial: Trial, seconds: dict[Point, list[float]], recovered: dict[Point, int]) -> None:
    for call in calls_of(trial.spans, trial.root_id):
        api = call.attempts[-1].point.of_api
        if not call.failed:
            span = call.attempts[-1].span
            seconds.setdefault(api, []).append((span.end_ns - span.start_ns) / 1e9)
            recovered[api] = recovered.get(api, 0) + (len(call.attempts) > 1)
