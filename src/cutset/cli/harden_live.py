"""What `cutset harden` does with the running system: times its calls, and injects every known cut again."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median

from cutset.app.explore import explore
from cutset.cli.explore import run_campaign
from cutset.config.explore import Config
from cutset.errors import TargetError, UsageError
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.experiment.trial import Trial
from cutset.harden.remedies.evidence import Evidence, latency_of
from cutset.harden.verification import Effort, Recheck
from cutset.lineage.calls import calls_of
from cutset.lineage.path import Level
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.fault import BASELINE, Cut
from cutset.model.finding import Finding
from cutset.model.point import Point
from cutset.model.request import Request

RUNS = 10  # of each request, to time its calls
PARALLEL = 2  # while timing: more would only wait for each other


@dataclass(frozen=True, slots=True)
class Observed:
    """What requests of all classes showed, without faults and under the known cuts."""

    efforts: Mapping[str, Effort]
    seconds: Mapping[Point, Sequence[float]] = field(default_factory=dict)  # per attempt, without faults
    recovered: Mapping[Point, int] = field(default_factory=dict)  # calls that a second attempt rescued


def as_explored(config: Config, started: CampaignStarted) -> Config:
    """With the requests, points and size of the campaign, so that results can be compared."""
    level = Level(started.points) if started.points else config.points
    requests = tuple(request for request in config.requests if request.name in started.requests)
    if missing := set(started.requests) - {request.name for request in requests}:
        raise UsageError(
            f"The campaign explored `{min(missing)}`, which the configuration does not have",
            hint="Name the configuration that it ran with, with `--config`",
        )
    return replace(config, requests=requests, points=level, limits=replace(config.limits, max_size=started.max_size))


async def audit_all(laboratory: MeshLaboratory, requests: Iterable[Request]) -> None:
    for request in requests:  # one after the other: an audit wants silence
        audited = await laboratory.audit(request)
        if not audited.healthy:
            raise TargetError(f"`{request.name}` does not work even without faults: {audited.reason}")


async def observe(laboratory: MeshLaboratory, config: Config, findings: Sequence[Finding]) -> Observed:
    """The requests must have been audited."""
    calm = await _trials(
        laboratory, [(request, BASELINE) for request in config.requests for _ in range(RUNS)], PARALLEL
    )
    requests = {request.name: request for request in config.requests}
    cuts = [(requests[finding.request], finding.cut) for finding in findings]
    faulted = await _trials(laboratory, cuts, config.limits.parallel)
    seconds: dict[Point, list[float]] = {}
    recovered: dict[Point, int] = {}
    for trial in (trial for trials in calm.values() for trial in trials):
        _note_calls(trial, seconds, recovered)
    efforts = {
        name: Effort(
            seconds=median(trial.response.seconds for trial in trials),
            calls=fmean(map(_attempts, trials)),
            calls_with_faults=fmean(map(_attempts, faulted[name])) if name in faulted else 0.0,
        )
        for name, trials in calm.items()
    }
    return Observed(efforts, seconds, recovered)


async def _trials(
    laboratory: MeshLaboratory, wanted: Sequence[tuple[Request, Cut]], parallel: int
) -> dict[str, list[Trial]]:
    limit = asyncio.Semaphore(parallel)

    async def trial(request: Request, cut: Cut) -> Trial:
        async with limit:
            return await laboratory.observe(request, cut)

    found: dict[str, list[Trial]] = {}
    for (request, _), each in zip(wanted, await asyncio.gather(*(trial(*each) for each in wanted)), strict=True):
        found.setdefault(request.name, []).append(each)
    return found


async def reinject(
    laboratory: MeshLaboratory, config: Config, findings: Sequence[Finding], gone: Collection[str]
) -> tuple[Recheck, ...]:
    """`gone`: the ids of the findings that are expected to be."""
    requests = {request.name: request for request in config.requests}
    limit = asyncio.Semaphore(config.limits.parallel)

    async def again(finding: Finding) -> Recheck:
        async with limit:
            outcome = await laboratory.run(requests[finding.request], finding.cut)
        return Recheck(finding, outcome, expected_gone=finding.id in gone)

    return tuple(await asyncio.gather(*map(again, findings)))


def with_timing(evidence: Mapping[Point, Evidence], observed: Observed) -> dict[Point, Evidence]:
    """Stored traces of real traffic, where there are some, tell more than a few requests of ours."""
    return {
        api: replace(
            each,
            latency=each.latency or (latency_of(observed.seconds[api]) if api in observed.seconds else None),
            recovered=each.recovered + observed.recovered.get(api, 0),
        )
        for api, each in evidence.items()
    }


def explore_again(config: Config, key: bytes, store: Path, part_of: str) -> Sequence[CampaignEvent]:
    """A campaign on behalf of another, so that the one that was hardened against stays the latest."""
    return run_campaign(explore(config, key=key, store=store, part_of=part_of), store, resumable=False).events


def _attempts(trial: Trial) -> int:
    return sum(len(call.attempts) for call in calls_of(trial.spans, trial.root_id))


def _note_calls(trial: Trial, seconds: dict[Point, list[float]], recovered: dict[Point, int]) -> None:
    for call in calls_of(trial.spans, trial.root_id):
        api = call.attempts[-1].point.of_api
        if not call.failed:
            span = call.attempts[-1].span
            seconds.setdefault(api, []).append((span.end_ns - span.start_ns) / 1e9)
            recovered[api] = recovered.get(api, 0) + (len(call.attempts) > 1)
