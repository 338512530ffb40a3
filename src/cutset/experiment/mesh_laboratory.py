"""Experiments on a real system: inject, send, collect, judge.

A verdict needs proof. *Survived* needs the mesh's word that the faults fired; *failed* needs repetition and a baseline
that still succeeds right after; everything else is *unknown*, with the reason.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from cutset.errors import TargetError
from cutset.experiment.audit import Audit, audit
from cutset.experiment.liveness import Liveness, dead_servers
from cutset.experiment.trial import Bench, Trial, attempt, send_unfaulted
from cutset.judge.rules import Baseline, Judgement, baseline_of, judge
from cutset.judge.sequential import decide
from cutset.lineage.calls import attempts_with_callers
from cutset.lineage.completeness import Instrumentation, missing_part
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut, points_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.request import Request

VOID_TRIALS = 3  # how often to try when trials prove nothing, because a trace is lost or a fault did not fire
# A replica may be left out by the load balancer, and experiments that run in step may each meet the same one for a
# while: so many tries that all of them missing it means more than bad luck.
VOID_REPLICA_TRIALS = 24
RECOVERY_SECONDS = 30  # how long a dead server may take to be restarted by whoever runs it


@dataclass(frozen=True, slots=True)
class _Known:
    """What the audit of a request established."""

    baseline: Baseline
    instrumentation: Instrumentation | None


class MeshLaboratory:
    def __init__(self, bench: Bench, *, repeats: int) -> None:
        self._bench = bench
        self._repeats = repeats
        self._liveness = Liveness(bench.target.health)
        self._floor = _Floor()
        self._known: dict[str, _Known] = {}
        self._catalogue: set[Point] = set()  # all points seen, so that no planned one is mistaken for another

    async def audit(self, request: Request) -> RequestAudited:
        try:
            found = await audit(self._bench, request)
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
        runs: tuple[Outcome, ...] = ()
        if isinstance(baseline, Baseline):
            self._known[request.name] = _Known(baseline, found.instrumentation)
            runs = tuple(_proven_runs(found, request, baseline))
        self._catalogue |= found.calls | found.not_reached
        return RequestAudited(
            request=request.name,
            healthy=not reason,
            reason=reason,
            calls=found.calls,
            not_reached=found.not_reached,
            trace_ids=tuple(trial.trace_id for trial in found.trials),
            runs=runs,
            edges=tuple(sorted({edge for trial in found.trials for edge in _edges(trial)})),
        )

    async def run(self, request: Request, cut: Cut) -> Outcome:
        async with self._floor.shared():
            outcome = await self._decide(request, cut)
        if not outcome.dead:
            return outcome
        # Any experiment under way may have killed that server, and so may an earlier one that survived: ask again.
        async with self._floor.alone():
            if not await self.recovered():
                gone = f"{', '.join(outcome.dead)} stopped answering and did not come back"
                reason = f"{gone}, so nobody can tell what did that; seen: {outcome.reason}"
                return replace(outcome, verdict=Verdict.UNKNOWN, reason=reason)
            again = await self._decide(request, cut)
        return replace(again, requests=outcome.requests + again.requests)

    async def observe(self, request: Request, cut: Cut) -> Trial:
        """One request, for what its trace shows and not for a verdict. It must have been audited."""
        trial, _ = await self._trial(request, cut)
        return trial

    async def recovered(self) -> bool:
        for _ in range(RECOVERY_SECONDS):
            if not await dead_servers(self._bench.target.health):
                return True
            await asyncio.sleep(1)
        return False

    async def _decide(self, request: Request, cut: Cut) -> Outcome:
        """Tries until one trial survives, `repeats` have failed, too many proved nothing, or a server is gone."""
        tried: list[Outcome] = []
        # Lost traces cost their whole timeout each, so that time ends those tries before their number does.
        patience = asyncio.get_running_loop().time() + VOID_TRIALS * self._bench.trace_timeout
        while True:
            outcome, answered = await self._try(request, cut)
            tried.append(outcome)
            decided = decide([each.verdict for each in tried], self._repeats)
            if decided in (Verdict.SURVIVED, Verdict.DEGRADED):
                return replace(outcome, requests=len(tried))
            alike = [each for each in tried if each.verdict is outcome.verdict]
            trace_ids = tuple(trace_id for each in alike for trace_id in each.trace_ids)
            dead = () if answered else await self._liveness.dead()
            proving = [each for each in tried if each.verdict is not Verdict.UNKNOWN]
            outcome = replace(
                outcome,
                trace_ids=trace_ids,
                requests=len(tried),
                trials=len(proving),
                failures=sum(each.verdict is Verdict.FAILED for each in proving),
                dead=dead,
            )
            if dead:  # the next trial would only find the hole that this one left
                return outcome
            if decided is Verdict.FAILED:
                return await self._confirm(request, outcome) if cut else outcome
            if outcome.verdict is Verdict.UNKNOWN:
                if len(alike) == _void_trials(cut) or asyncio.get_running_loop().time() > patience:
                    return outcome
                if len(alike) > 1:  # a second try reaches the other of two replicas by itself, in most cases
                    await self._disturb_rotation(request)

    async def _try(self, request: Request, cut: Cut) -> tuple[Outcome, bool]:
        """What one trial shows (unknown, if it proves nothing), and whether the request was answered."""
        try:
            trial, judgement = await self._trial(request, cut)
        except TargetError as error:  # a set-up step failed, so the request under test was not sent
            return Outcome(cut, Verdict.UNKNOWN, error.message), False
        return _outcome(trial, cut, judgement), judgement.verdict is not Verdict.FAILED

    async def _trial(self, request: Request, cut: Cut) -> tuple[Trial, Judgement]:
        known = self._known[request.name]
        trial = await attempt(
            self._bench, request, cut, catalogue=self._catalogue, instrumentation=known.instrumentation
        )
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
        requests = failed.requests + 1
        try:
            trial, judgement = await self._trial(request, BASELINE)
        except TargetError as error:
            reason = f"without any fault the request cannot be sent any more: {error.message}"
            return Outcome(failed.cut, Verdict.UNKNOWN, reason, requests=requests)
        if judgement.verdict is Verdict.FAILED:
            reason = f"without any fault the request fails too: {judgement.reason}"
            return Outcome(failed.cut, Verdict.UNKNOWN, reason, trace_ids=(trial.trace_id,), requests=requests)
        return replace(failed, requests=requests, healthy_after=True)


class _Floor:
    """Experiments share the system, but for those that must be alone for a server's death to be put down to them."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._sharing = 0
        self._taken = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._taken)
            self._sharing += 1
        try:
            yield
        finally:
            async with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._taken)
            self._taken = True
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._sharing)
            yield
        finally:
            async with self._changed:
                self._taken = False
                self._changed.notify_all()


def _void_trials(cut: Cut) -> int:
    return VOID_REPLICA_TRIALS if any(fault.point.replica for fault in cut) else VOID_TRIALS


def _no_evidence(trials: tuple[Trial, ...]) -> str:
    if any(trial.traced for trial in trials):
        return ""
    return "no span of the request arrived, so nothing could be proved: does the mesh export to this collector?"


def _proven_runs(found: Audit, request: Request, baseline: Baseline) -> Iterator[Outcome]:
    """What the audit's runs show, as if they were experiments without a fault."""
    for trial in found.trials:
        # How services tell of their calls is known only by the end: the first trial was not held against it.
        missing = missing_part(trial.spans, trial.root_id, found.instrumentation) if found.instrumentation else ""
        judgement = judge(trial.response, request.expect, baseline)
        outcome = _outcome(replace(trial, missing=missing), BASELINE, judgement)
        if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
            yield outcome


def _edges(trial: Trial) -> Iterator[tuple[Point, Point]]:
    """Which API called which."""
    for each, caller in attempts_with_callers(trial.spans, trial.root_id):
        if caller is not None:
            yield caller, each.point.of_api


def _outcome(trial: Trial, cut: Cut, judgement: Judgement) -> Outcome:
    doubt = _doubt(trial, cut, judgement)
    return Outcome(
        cut=cut,
        verdict=Verdict.UNKNOWN if doubt else judgement.verdict,
        reason=doubt or judgement.reason,
        path=frozenset() if doubt else trial.lineage.path,
        failed=trial.lineage.failed,
        calls=trial.lineage.calls,
        fired=points_of(trial.lineage.fired),
        seen=() if doubt or judgement.verdict is Verdict.FAILED else trial.lineage.seen,
        retried=trial.lineage.retried,
        trace_ids=(trial.trace_id,),
    )


def _doubt(trial: Trial, cut: Cut, judgement: Judgement) -> str:
    """Why this trial proves nothing; empty if it does."""
    if not trial.traced:
        return "the trace of the request did not arrive"
    if trial.lineage.escaped:
        return f"called, but not faulted: {_named(trial.lineage.escaped)}"
    if cut and not trial.lineage.fired:
        waiting = ", or is still being called: a service was given up on while at work" if trial.abandoned else ""
        return f"never fired: {_named(cut)} was not called{waiting}"
    # A failure needs no path.
    if trial.missing and judgement.verdict is not Verdict.FAILED:
        return f"the trace is incomplete, so the path may be longer than it shows: {trial.missing} did not arrive"
    return ""


def _named(faults: Cut) -> str:
    return ", ".join(str(fault.point) for fault in sorted(faults))
