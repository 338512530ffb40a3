"""Experiments on a real system: inject, send, collect, judge.

A verdict needs proof. *Survived* needs the mesh's word that the faults fired; *failed* needs repetition and a baseline
that still succeeds right after; everything else is *unknown*, with the reason.
"""

import asyncio
import secrets
from collections import Counter
from dataclasses import dataclass, replace

from cutset.errors import TargetError
from cutset.experiment.audit import audit, idle_calls
from cutset.experiment.liveness import Liveness, dead_servers
from cutset.experiment.trial import Bench, Trial, attempt, send_unfaulted
from cutset.judge.rules import Baseline, Judgement, baseline_of, judge
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.request import Request

VOID_TRIALS = 3  # how often to try when trials prove nothing, because a trace is lost or a fault did not fire
# A replica may be left out by the load balancer: with two replicas and one call, twelve tries all miss one of them in
# 0.02 % of all cases.
VOID_REPLICA_TRIALS = 12
RECOVERY_SECONDS = 30  # how long a dead server may take to be restarted by whoever runs it


@dataclass(frozen=True, slots=True)
class _Known:
    """What the audit of a request established."""

    baseline: Baseline
    instrumented: frozenset[str]


class MeshLaboratory:
    def __init__(self, bench: Bench, *, repeats: int) -> None:
        self._bench = bench
        self._repeats = repeats
        self._liveness = Liveness(bench.target.health)
        self._known: dict[str, _Known] = {}
        self._idle: Counter[Point] | None = None  # calls that go on without us
        self._catalogue: set[Point] = set()  # all points seen, so that no planned one is mistaken for another

    async def audit(self, request: Request) -> RequestAudited:
        try:
            if self._idle is None:
                self._idle = await idle_calls(self._bench)
            found = await audit(self._bench, request, self._idle)
        except TargetError as error:
            return RequestAudited(
                request=request.name,
                healthy=False,
                reason=error.message,
                calls=frozenset(),
                not_reached=frozenset(),
                trace_ids=(),
            )
        baseline = baseline_of([trial.response for trial in found.trials], request.expect)
        reason = baseline.reason if isinstance(baseline, Judgement) else _no_evidence(found.trials)
        if isinstance(baseline, Baseline):
            self._known[request.name] = _Known(baseline, found.instrumented)
        self._catalogue |= found.calls | found.not_reached
        return RequestAudited(
            request=request.name,
            healthy=not reason,
            reason=reason,
            calls=found.calls,
            not_reached=found.not_reached,
            trace_ids=tuple(trial.trace_id for trial in found.trials),
        )

    async def run(self, request: Request, cut: Cut) -> Outcome:
        """Tries until one trial survives, or `repeats` in a row have failed, or too many proved nothing."""
        failures: list[Trial] = []
        problems: list[str] = []
        requests = 0
        limit = VOID_REPLICA_TRIALS if any(fault.point.replica for fault in cut) else VOID_TRIALS
        while len(problems) < limit:
            requests += 1
            try:
                trial, judgement = await self._trial(request, cut)
            except TargetError as error:  # a set-up step failed, so the request under test was not sent
                problems.append(error.message)
                continue
            problem = _doubt(trial, cut)
            if problem:
                problems.append(problem)
                await self._disturb_rotation(request)
            elif judgement.verdict is not Verdict.FAILED:
                return _outcome(cut, judgement, [trial], requests)
            else:
                failures.append(trial)
                if len(failures) == self._repeats:
                    return await self._confirm(request, _outcome(cut, judgement, failures, requests))
        return Outcome(cut, Verdict.UNKNOWN, problems[-1], requests=requests)

    async def recovered(self) -> bool:
        for _ in range(RECOVERY_SECONDS):
            if not await dead_servers(self._bench.target.health):
                return True
            await asyncio.sleep(1)
        return False

    async def _trial(self, request: Request, cut: Cut) -> tuple[Trial, Judgement]:
        known = self._known[request.name]
        trial = await attempt(self._bench, request, cut, catalogue=self._catalogue, instrumented=known.instrumented)
        self._catalogue |= trial.lineage.calls
        return trial, judge(trial.response, request.expect, known.baseline)

    async def _disturb_rotation(self, request: Request) -> None:
        """Sends an extra request half of the time.

        Under round robin, a request whose set-up and test make an even number of calls reaches the same replica always.
        """
        if secrets.randbelow(2):
            await send_unfaulted(self._bench, replace(request, setup=()))

    async def _confirm(self, request: Request, failed: Outcome) -> Outcome:
        """A failure is blamed on the cut only while the request works without it."""
        dead = await self._liveness.dead()
        if not failed.cut:
            return replace(failed, dead=dead)
        trial, judgement = await self._trial(request, BASELINE)
        requests = failed.requests + 1
        if judgement.verdict is Verdict.FAILED and not dead:
            reason = f"without any fault the request fails too: {judgement.reason}"
            return Outcome(failed.cut, Verdict.UNKNOWN, reason, trace_ids=(trial.trace_id,), requests=requests)
        return replace(failed, dead=dead, requests=requests)


def _no_evidence(trials: tuple[Trial, ...]) -> str:
    if any(trial.traced for trial in trials):
        return ""
    return "no span of the request arrived, so nothing could be proved: does the mesh export to this collector?"


def _doubt(trial: Trial, cut: Cut) -> str:
    """Why this trial proves nothing; empty if it does."""
    if not trial.traced:
        return "the trace of the request did not arrive"
    if trial.lineage.escaped:
        return f"called, but not faulted: {', '.join(str(fault.point) for fault in sorted(trial.lineage.escaped))}"
    if cut and not trial.lineage.fired:
        return f"never fired: {', '.join(str(fault.point) for fault in sorted(cut))} was not called"
    return ""


def _outcome(cut: Cut, judgement: Judgement, trials: list[Trial], requests: int) -> Outcome:
    lineage = trials[-1].lineage
    return Outcome(
        cut=cut,
        verdict=judgement.verdict,
        reason=judgement.reason,
        path=lineage.path,
        failed=lineage.failed,
        calls=lineage.calls,
        trace_ids=tuple(trial.trace_id for trial in trials),
        requests=requests,
    )
