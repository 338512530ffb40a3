"""Experiments on a real system: inject, send, collect, judge.

A verdict needs proof. *Survived* needs the mesh's word that the faults fired; *failed* needs repetition and a baseline
that still succeeds after each failure; everything else is *unknown*, with the reason. What is seen while the system is
not well is no verdict at all.
"""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cutset.errors import TargetError
from cutset.experiment.audit import Audit, audit
from cutset.experiment.floor import Floor
from cutset.experiment.lifetimes import Lifetimes
from cutset.experiment.liveness import Liveness, dead_servers
from cutset.experiment.outlived import Outlived
from cutset.experiment.trial import Bench, Trial, attempt, send_unfaulted
from cutset.experiment.wellbeing import (
    UnwellError,
    halted,
    trouble_without_fault,
    wait_until_there,
    wait_until_well,
)
from cutset.judge.rules import Baseline, Judgement, baseline_of, judge
from cutset.judge.sequential import decide
from cutset.lineage.calls import attempts_with_callers
from cutset.lineage.completeness import Instrumentation, missing_part
from cutset.lineage.culprits import culprits_of
from cutset.lineage.handing_on import passage_of, why_not_accepted
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request

VOID_TRIALS = 3  # how often to try when trials prove nothing, because a trace is lost or a fault did not fire
# A replica may be left out by the load balancer, and experiments that run in step may each meet the same one for a
# while: so many tries that all of them missing it means more than bad luck.
VOID_REPLICA_TRIALS = 24
UNWELL_TRIALS = 3  # how often an experiment is begun in which the system was not well: among others, then alone


@dataclass(frozen=True, slots=True)
class _Known:
    """What the audit of a request established."""

    baseline: Baseline
    instrumentation: Instrumentation | None
    culprits: Points = frozenset()  # calls that fail without any fault
    not_reached: Points = frozenset()  # calls that no plan reaches


class MeshLaboratory:
    def __init__(self, bench: Bench, *, repeats: int) -> None:
        self._bench = bench
        self._repeats = repeats
        self._liveness = Liveness(bench.target.servers)
        self._floor = Floor()
        self._lifetimes = Lifetimes()
        self._outlived = Outlived(bench.collector)
        self._known: dict[str, _Known] = {}
        self._catalogue: set[Point] = set()  # all points seen, so that no planned one is mistaken for another

    async def audit(self, request: Request) -> RequestAudited:
        audited = await self._audit(request)
        if not audited.healthy and await self._liveness.dead():  # which says nothing of the request
            await self._wait_until_there(request)
            audited = await self._audit(request)
        return audited

    async def _audit(self, request: Request) -> RequestAudited:
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
            culprits = frozenset().union(*(culprits_of(trial.spans, trial.root_id) for trial in found.trials))
            self._known[request.name] = _Known(baseline, found.instrumentation, culprits, found.not_reached)
            for trial in found.trials:
                self._lifetimes.note(request, BASELINE, trial.response.seconds, escaped=False)
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
            uncoverable=found.uncoverable,
        )

    async def run(self, request: Request, cut: Cut) -> Outcome:
        """Raises HaltedError when the system stays broken."""
        outcome = await self._run(request, cut)
        return replace(outcome, outlived=self._outlived.take())

    async def _run(self, request: Request, cut: Cut) -> Outcome:
        try:
            async with self._floor.shared():
                return await self._decide(request, cut)
        except UnwellError as unwell:
            seen = [unwell.outcome]
        # Any experiment under way may have done that, one before it, or somebody else: ask again.
        async with self._floor.alone():
            while len(seen) < UNWELL_TRIALS:
                await self._wait_until_well(request)
                try:
                    again = await self._decide(request, cut)
                except UnwellError as unwell:
                    seen.append(unwell.outcome)
                else:
                    return replace(again, requests=again.requests + sum(each.requests for each in seen))
            return await self._of_unwell(request, seen)

    async def _of_unwell(self, request: Request, seen: list[Outcome]) -> Outcome:
        """A server that dies whenever the cut is alone with it dies of the cut. All else is unknown."""
        alone, requests = seen[1:], sum(each.requests for each in seen)
        if not all(each.dead and each.verdict is Verdict.FAILED for each in alone):
            return replace(alone[-1], verdict=Verdict.UNKNOWN, path=frozenset(), seen=(), requests=requests)
        await self._wait_until_well(request)
        return replace(
            alone[-1],
            trace_ids=tuple(trace_id for each in alone for trace_id in each.trace_ids),
            requests=requests + 1,
            trials=sum(each.trials for each in alone),
            failures=sum(each.failures for each in alone),
            healthy_after=True,
        )

    async def _wait_until_well(self, request: Request) -> None:
        await self._wait_until_there(request)
        culprits = self._known[request.name].culprits
        await wait_until_well(request, lambda: self._trial(request, BASELINE), culprits)

    async def _wait_until_there(self, request: Request) -> None:
        if not await self.recovered():
            target = self._bench.target
            gone = map(target.named, await dead_servers(target.servers))
            raise halted(request, f"{', '.join(gone)} stopped answering and did not come back")

    async def observe(self, request: Request, cut: Cut) -> Trial:
        """One request, for what its trace shows and not for a verdict. It must have been audited."""
        trial, _ = await self._trial(request, cut)
        return trial

    async def still_works(self, request: Request) -> str:
        """Sends the request once, without faults. Returns what is wrong with its answer; empty if nothing is."""
        known = self._known.get(request.name)
        if known is None:
            return (await self.audit(request)).reason
        try:
            response = await send_unfaulted(self._bench, request)
        except TargetError as error:  # a set-up step failed
            return error.message
        judgement = judge(response, request.expect, known.baseline)
        return "" if judgement.verdict is Verdict.SURVIVED else judgement.reason

    async def recovered(self) -> bool:
        return await wait_until_there(self._bench.target)

    async def _decide(self, request: Request, cut: Cut) -> Outcome:
        """Tries until one trial survives, `repeats` have failed, or too many proved nothing.

        Raises UnwellError when it is not the cut that decides what is seen.
        """
        tried: list[Outcome] = []
        checks = 0  # requests without a fault in between
        strange: Points = frozenset()  # failures by themselves, seen while the request without a fault has none of them
        # Lost traces cost their whole timeout each, so that time ends those tries before their number does.
        patience = asyncio.get_running_loop().time() + VOID_TRIALS * self._bench.trace_timeout
        while True:
            outcome, trial = await self._try(request, cut)
            outcome = _all_in_all([*tried, outcome], checks)
            await self._refuse_if_lost(outcome, trial)
            new = culprits_of(trial.spans, trial.root_id) - self._known[request.name].culprits - strange
            if cut and (outcome.verdict in (Verdict.FAILED, Verdict.DEGRADED) or new):
                outcome = await self._refuse_if_unwell(request, outcome)
                checks += 1
            if new and outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
                strange |= new  # an outage, or an effect of the cut: which, the next trial will tell
                checks += 1
                continue
            tried.append(outcome)
            decided = decide([each.verdict for each in tried], self._repeats)
            if decided is not Verdict.UNKNOWN:
                return outcome
            if outcome.verdict is Verdict.UNKNOWN:
                alike = sum(each.verdict is Verdict.UNKNOWN for each in tried)
                if alike == _void_trials(cut) or asyncio.get_running_loop().time() > patience:
                    return outcome
                if alike > 1:  # a second try reaches the other of two replicas by itself, in most cases
                    await self._disturb_rotation(request)

    async def _try(self, request: Request, cut: Cut) -> tuple[Outcome, Trial]:
        """What one trial shows: unknown, if it proves nothing."""
        try:
            trial, judgement = await self._trial(request, cut)
        except TargetError as error:  # a set-up step failed, so the request under test was not sent
            outcome = Outcome(cut, Verdict.UNKNOWN, error.message)
            raise UnwellError(replace(outcome, dead=await self._liveness.dead())) from None
        return _outcome(trial, cut, judgement, self._known[request.name].not_reached), trial

    async def _refuse_if_lost(self, outcome: Outcome, trial: Trial) -> None:
        """The next trial would only find the hole that this one left."""
        answered = outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED)
        dead = () if answered else await self._liveness.dead()
        if dead or not trial.traced:
            raise UnwellError(replace(outcome, dead=dead))

    async def _refuse_if_unwell(self, request: Request, outcome: Outcome) -> Outcome:
        """What was seen is blamed on the cut only while the request works without it."""
        usual = self._known[request.name].culprits
        trouble, trial = await trouble_without_fault(
            lambda: self._trial(request, BASELINE), usual, whole=outcome.verdict is Verdict.DEGRADED
        )
        outcome = replace(outcome, requests=outcome.requests + 1, healthy_after=not trouble)
        if trouble:
            trace_ids = (trial.trace_id,) if trial else ()
            raise UnwellError(replace(outcome, verdict=Verdict.UNKNOWN, reason=trouble, trace_ids=trace_ids))
        return outcome

    async def _trial(self, request: Request, cut: Cut) -> tuple[Trial, Judgement]:
        known = self._known[request.name]
        trial = await attempt(
            self._bench,
            request,
            cut,
            catalogue=self._catalogue,
            instrumentation=known.instrumentation,
            life=self._lifetimes.seconds(request, cut),
        )
        self._lifetimes.note(request, cut, trial.response.seconds, escaped=bool(trial.lineage.escaped))
        self._outlived.watch(trial)
        self._catalogue |= trial.lineage.calls
        return trial, judge(trial.response, request.expect, known.baseline)

    async def _disturb_rotation(self, request: Request) -> None:
        """Sends an extra request half of the time.

        Under round robin, a request whose set-up and test make an even number of calls reaches the same replica always.
        """
        if secrets.randbelow(2):
            await send_unfaulted(self._bench, replace(request, setup=()))


def _void_trials(cut: Cut) -> int:
    return VOID_REPLICA_TRIALS if any(fault.point.replica for fault in cut) else VOID_TRIALS


def _all_in_all(tried: Sequence[Outcome], checks: int) -> Outcome:
    """The last one, with what the others add to it."""
    last = tried[-1]
    proving = [each for each in tried if each.verdict is not Verdict.UNKNOWN]
    return replace(
        last,
        trace_ids=tuple(each.trace_ids[-1] for each in tried if each.verdict is last.verdict),
        requests=len(tried) + checks,
        trials=len(proving),
        failures=sum(each.verdict is Verdict.FAILED for each in proving),
    )


def _no_evidence(trials: Sequence[Trial]) -> str:
    """Why nothing can be proved by experiments on this request; empty if something can."""
    traced = [trial for trial in trials if trial.traced]
    if not traced:
        return "no span of the request arrived, so nothing could be proved: does the mesh export to this collector?"
    refused = [why_not_accepted(passage_of(trial.spans, trial.root_id)) for trial in traced]
    return refused[-1] if all(refused) else ""


def _proven_runs(found: Audit, request: Request, baseline: Baseline) -> Iterator[Outcome]:
    """What the audit's runs show, as if they were experiments without a fault."""
    for trial in found.trials:
        # How services tell of their calls is known only by the end: the first trial was not held against it.
        missing = missing_part(trial.spans, trial.root_id, found.instrumentation) if found.instrumentation else ""
        judgement = judge(trial.response, request.expect, baseline)
        outcome = _outcome(replace(trial, missing=missing), BASELINE, judgement, found.not_reached)
        if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
            yield outcome


def _edges(trial: Trial) -> Iterator[tuple[Point, Point]]:
    """Which API called which."""
    for each, caller in attempts_with_callers(trial.spans, trial.root_id):
        if caller is not None:
            yield caller, each.point.of_api


def _outcome(trial: Trial, cut: Cut, judgement: Judgement, not_reached: Points) -> Outcome:
    """In terms of what plans reach: what they do not is not searched, but reported as not coverable."""
    doubt = _doubt(trial, cut, judgement)
    lineage, beyond = trial.lineage, {point.of_api for point in not_reached}

    def within_reach(points: Points) -> Points:
        return frozenset(point for point in points if point.of_api not in beyond)

    return Outcome(
        cut=cut,
        verdict=Verdict.UNKNOWN if doubt else judgement.verdict,
        reason=doubt or judgement.reason,
        path=frozenset() if doubt else within_reach(lineage.path),
        failed=within_reach(lineage.failed),
        calls=within_reach(lineage.calls),
        fired=points_of(lineage.fired),
        seen=() if doubt or judgement.verdict is Verdict.FAILED else lineage.seen,
        retried=within_reach(lineage.retried),
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
