"""Experiments on a real system: inject, send, collect, judge.

A verdict needs proof. *Survived* needs the mesh's word that the faults fired; *failed* needs repetition and a baseline
that still succeeds after each failure; everything else is *unknown*, with the reason. What is seen while the system is
not well is no verdict at all.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from cutset.errors import PlanError, TargetError
from cutset.experiment.audit import Audit, undisturbed_audit
from cutset.experiment.evidence import evidence_of_trial
from cutset.experiment.floor import Floor
from cutset.experiment.gate import Gate
from cutset.experiment.judging import judged, sharpened_by, with_writes
from cutset.experiment.lifetimes import Lifetimes
from cutset.experiment.outlived import Outlived
from cutset.experiment.trial import Bench, Trial, attempt, send_unfaulted
from cutset.experiment.trials import (
    VOID_TRIALS,
    amount_to,
    given_up,
    is_idle,
    may_spare_others,
    outcome_of,
    so_far,
    variation,
    why_in_vain,
)
from cutset.experiment.wellbeing import (
    UnwellError,
    halted,
    trouble_without_fault,
    wait_until_answered,
    wait_until_there,
    wait_until_well,
)
from cutset.judge.rules import UNUSUAL, Baseline, Judgement, baseline_of, judge
from cutset.judge.sequential import Repetition, chance_of_so_many, decide, trials_to_see
from cutset.lineage.completeness import Instrumentation, extended
from cutset.lineage.culprits import culprits_of
from cutset.lineage.handing_on import passage_of, why_not_accepted
from cutset.lineage.uncoverable import seen_by_mesh
from cutset.model.coverage import Uncoverable, with_name
from cutset.model.event import RequestAudited
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import BASELINE, Cut
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request, Response

# A replica may be left out by the load balancer, and experiments that run in step may each meet the same one for a
# while: so many tries that all of them missing it means more than bad luck.
VOID_REPLICA_TRIALS = 24
# Where answers differ, so many more of them tell which of their values do; but no more than there is time for.
MORE_ANSWERS = 10
MORE_SECONDS = 2
MOST_KEPT = 128  # trials that somebody may ask for the evidence of: more than are under way at a time, and nobody must
UNWELL_TRIALS = 3  # how often an experiment is begun in which the system was not well: among others, then alone


@dataclass(frozen=True, slots=True)
class _Known:
    """What the audit of a request established."""

    baseline: Baseline
    instrumentation: Instrumentation | None
    culprits: Points = frozenset()  # calls that fail without any fault
    not_reached: Points = frozenset()  # calls that no plan reaches
    apis: Points = frozenset()  # that are called without a fault
    varying: bool = False  # not all of them each time
    told: frozenset[Uncoverable] = frozenset()  # calls of which services told, whether or not a sidecar did


class MeshLaboratory:
    def __init__(
        self,
        bench: Bench,
        *,
        repeats: int,
        flake_rate: float = 0.01,
        trials: int = 10,
        answered: frozenset[str] = frozenset(),
        keep_answers: bool = True,
    ) -> None:
        """`answered` are names of requests that were seen to work a moment ago."""
        self._bench = bench
        self._keep_answers = keep_answers
        self._evidence: OrderedDict[str, EvidenceKept] = OrderedDict()  # by trace
        self._answered = answered
        self._rule = Repetition(repeats, flake_rate, trials)
        self._servers = bench.servers
        self._floor = Floor()
        self._lifetimes = Lifetimes()
        self._outlived = Outlived(bench.collector)
        self._known: dict[str, _Known] = {}
        self._catalogue: set[Point] = set()  # all points seen, so that no planned one is mistaken for another

    @property
    def gate(self) -> Gate | None:
        """What all that is injected here passes."""
        return self._bench.gate

    @property
    def replicas(self) -> dict[str, int]:
        """Of each service, as far as the place knows them itself."""
        return self._bench.replicas.counts if self._bench.replicas else {}

    async def audit(self, request: Request) -> RequestAudited:
        audited = await self._audit(request)
        if not audited.healthy and await self._servers.dead():  # which says nothing of the request
            await self._wait_until_there(request)
            audited = await self._audit(request)
        if not audited.healthy and request.name in self._answered:  # it worked a moment ago
            await wait_until_answered(request, lambda: send_unfaulted(self._bench, request))
            audited = await self._audit(request)
        return audited

    async def _audit(self, request: Request) -> RequestAudited:
        try:
            found = await undisturbed_audit(self._bench, request)
        except TargetError as error:
            return RequestAudited(
                request=request.name,
                healthy=False,
                reason=error.message,
                calls=frozenset(),
                not_reached=frozenset(),
                trace_ids=(),
            )
        answers = [trial.response for trial in found.trials]
        answers += await self._more_answers(request, answers)
        baseline = baseline_of(answers, request.expect, self._rule.flake_rate)
        reason = baseline.reason if isinstance(baseline, Judgement) else _no_evidence(found.trials)
        runs: tuple[Outcome, ...] = ()
        varies = ""
        if isinstance(baseline, Baseline):
            baseline = with_writes(baseline, found.trials, request.expect)
            culprits = frozenset().union(*(culprits_of(trial.spans, trial.root_id) for trial in found.trials))
            for trial in found.trials:
                self._lifetimes.note(request, BASELINE, trial.response.seconds, escaped=False)
            apis = frozenset().union(*(_apis(trial) for trial in found.trials))
            runs = tuple(_proven_runs(self._bench, found, request, baseline))
            varies = variation(runs)
            self._known[request.name] = _Known(
                baseline,
                found.instrumentation,
                culprits,
                found.not_reached,
                apis,
                varying=bool(varies),
                told=seen_by_mesh([trial.spans for trial in found.trials]).union(
                    replace(each, detail="") for each in found.uncoverable
                ),
            )
            if runs and not reason:
                self._keep(
                    request, BASELINE, next(each for each in found.trials if (each.trace_id,) == runs[0].trace_ids)
                )
        self._catalogue |= found.calls | found.not_reached
        return RequestAudited(
            request=request.name,
            healthy=not reason,
            reason=reason,
            calls=found.calls,
            not_reached=found.not_reached,
            trace_ids=tuple(trial.trace_id for trial in found.trials),
            runs=runs,
            varies=varies,
            edges=tuple(sorted({edge for trial in found.trials for edge in _edges(trial)})),
            uncoverable=found.uncoverable,
        )

    async def _more_answers(self, request: Request, answers: Sequence[Response]) -> list[Response]:
        """Without their traces, so that they take little time."""
        enough = asyncio.get_running_loop().time() + MORE_SECONDS
        more: list[Response] = []
        if any(each.error for each in answers) or len({each.body for each in answers}) == 1:
            return more
        while len(more) < MORE_ANSWERS and asyncio.get_running_loop().time() < enough:
            with suppress(TargetError):
                more.append(await send_unfaulted(self._bench, request))
        return more

    async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
        """Raises HaltedError when the system stays broken. What no plan can say is unknown."""
        rule = replace(self._rule, trials=trials_to_see(share, self._rule)) if share else self._rule
        try:
            outcome = await self._run(request, cut, rule)
        except PlanError as error:
            outcome = Outcome(cut, Verdict.UNKNOWN, error.message)
        return replace(outcome, outlived=self._outlived.take())

    async def _run(self, request: Request, cut: Cut, rule: Repetition) -> Outcome:
        try:
            async with self._floor.shared():
                return await self._decide(request, cut, rule)
        except UnwellError as unwell:
            seen = [unwell.outcome]
        # Any experiment under way may have done that, one before it, or somebody else: ask again.
        async with self._floor.alone():
            while len(seen) < max(UNWELL_TRIALS, 1 + self._rule.repeats):
                await self._wait_until_well(request)
                try:
                    again = await self._decide(request, cut, rule)
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
        await wait_until_well(request, lambda: self._calm_trial(request), culprits)

    async def _calm_trial(self, request: Request) -> tuple[Trial, Judgement]:
        """While it waits, too, whoever pulls the brake is heard."""
        if self._bench.gate:
            self._bench.gate.brake.check()
        return await self._trial(request, BASELINE)

    async def _wait_until_there(self, request: Request) -> None:
        if not await self.recovered():
            gone = map(self._bench.target.named, await self._servers.dead())
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

    def evidence(self, trace_ids: Sequence[str]) -> EvidenceKept | None:
        found = [self._evidence.pop(each) for each in trace_ids if each in self._evidence]
        return found[0] if found else None

    def _keep(self, request: Request, cut: Cut, trial: Trial) -> None:
        kept = evidence_of_trial(self._bench, request.name, cut, trial, answers=self._keep_answers)
        self._evidence[trial.trace_id] = kept
        while len(self._evidence) > MOST_KEPT:
            self._evidence.popitem(last=False)

    def expect_variation(self, request: Request) -> None:
        self._known[request.name] = replace(self._known[request.name], varying=True)

    async def unlike_audit(self, request: Request) -> str:
        """As often as a failure must repeat to be believed: one may be chance."""
        for _ in range(self._rule.repeats):
            if not (unlike := await self._unlike_audit_once(request)):
                return ""
        return unlike

    async def _unlike_audit_once(self, request: Request) -> str:
        known = self._known[request.name]
        trouble, trial = await trouble_without_fault(lambda: self._trial(request, BASELINE), known.culprits)
        if trouble or trial is None:
            return trouble
        cured = known.culprits - culprits_of(trial.spans, trial.root_id)
        new = frozenset() if known.varying else _apis(trial) - known.apis
        told = [f"{each} fails no longer" for each in sorted(cured)] + [f"{each} is called" for each in sorted(new)]
        return f"without any fault it behaves unlike when it was audited: {', '.join(told)}" if told else ""

    async def recovered(self) -> bool:
        return await wait_until_there(self._servers)

    async def _decide(self, request: Request, cut: Cut, rule: Repetition) -> Outcome:
        """Tries until the trials amount to a verdict, or too many proved nothing.

        Raises UnwellError when it is not the cut that decides what is seen.
        """
        tried: list[Outcome] = []
        strange: Points = frozenset()  # failures by themselves, seen while the request without a fault has none of them
        patience = self._patience()
        while True:
            outcome, trial = await self._try(request, cut)
            if outcome.verdict in (Verdict.FAILED, Verdict.DEGRADED):
                self._keep(request, cut, trial)
            await self._refuse_if_lost([*tried, outcome], trial)
            new = culprits_of(trial.spans, trial.root_id) - self._known[request.name].culprits - strange
            if cut and (outcome.verdict in (Verdict.FAILED, Verdict.DEGRADED) or new):
                outcome = await self._held_against_baseline(request, [*tried, outcome], trial)
            if new and outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
                strange |= new  # an outage, or an effect of the cut: which, the next trial will tell
                outcome = replace(outcome, verdict=Verdict.UNKNOWN, reason="failures that were not there before")
            tried.append(outcome)
            if decided := await self._decided(request, tried, rule):
                return decided
            # Lost traces cost their whole timeout each, so that time ends those tries before their number does.
            patience = patience if outcome.verdict is Verdict.UNKNOWN else self._patience()
            if asyncio.get_running_loop().time() > patience:
                return given_up(tried, outcome.reason)

    async def _decided(self, request: Request, tried: Sequence[Outcome], rule: Repetition) -> Outcome | None:
        """None: go on."""
        cut, spares = tried[-1].cut, may_spare_others(tried, self._catalogue)
        varying = self._known[request.name].varying or spares or rule != self._rule
        outcome = amount_to(tried, rule, varying=varying)
        if outcome is not None:
            return await self._held_against_share(request, outcome) if cut and outcome.is_share else outcome
        idle = sum(map(is_idle, tried))
        enough = VOID_REPLICA_TRIALS if any(fault.point.replica for fault in cut) else VOID_TRIALS
        if reason := why_in_vain(tried, idle, max(enough, rule.trials if varying else 0)):
            return given_up(tried, reason)
        # A second try reaches the other of two replicas by itself, in most cases; but not with a baseline in between.
        if idle > 1 or (varying and tried[-1].requests > 1):
            await self._disturb_rotation(request)
        return None

    def _patience(self) -> float:
        return asyncio.get_running_loop().time() + VOID_TRIALS * self._bench.trace_timeout

    async def _try(self, request: Request, cut: Cut) -> tuple[Outcome, Trial]:
        """What one trial shows: unknown, if it proves nothing."""
        try:
            trial, judgement = await self._trial(request, cut)
        except TargetError as error:  # a set-up step failed, so the request under test was not sent
            outcome = Outcome(cut, Verdict.UNKNOWN, error.message)
            raise UnwellError(replace(outcome, dead=await self._servers.dead())) from None
        known = self._known[request.name]
        outcome = outcome_of(trial, cut, judgement, known.not_reached, known.told)
        names = self._bench.target.names
        return replace(outcome, uncoverable=frozenset(with_name(each, names) for each in outcome.uncoverable)), trial

    async def _refuse_if_lost(self, tried: Sequence[Outcome], trial: Trial) -> None:
        """The next trial would only find the hole that this one left."""
        answered = tried[-1].verdict in (Verdict.SURVIVED, Verdict.DEGRADED)
        dead = trial.dead or (() if answered else await self._servers.dead())
        if dead or not trial.traced:
            raise UnwellError(replace(so_far(tried), dead=dead))

    async def _held_against_baseline(self, request: Request, tried: Sequence[Outcome], trial: Trial) -> Outcome:
        """What was seen is blamed on the cut only while the request works without it, as far as it ever does."""
        usual, outcome = self._known[request.name].culprits, tried[-1]
        trouble, unfaulted = await trouble_without_fault(
            lambda: self._trial(request, BASELINE), usual, whole=outcome.verdict is Verdict.DEGRADED
        )
        outcome = replace(outcome, requests=outcome.requests + 1, healthy_after=not trouble)
        if trouble:
            void = replace(outcome, verdict=Verdict.UNKNOWN, reason=trouble, path=frozenset(), seen=())
            checks = [each.healthy_after for each in tried[:-1] if each.requests > 1] + [False]
            if chance_of_so_many(checks.count(False), len(checks), self._rule.flake_rate) >= UNUSUAL:
                return void
            trace_ids = (unfaulted.trace_id,) if unfaulted else ()
            raise UnwellError(replace(so_far([*tried[:-1], void]), trace_ids=trace_ids))
        if outcome.verdict is Verdict.DEGRADED:  # the answer without a fault may have shown that this value varies
            known = self._known[request.name]
            judgement = judged(trial, request.expect, known.baseline, known.instrumentation)
            again = outcome_of(trial, outcome.cut, judgement, known.not_reached)
            outcome = replace(again, requests=outcome.requests, healthy_after=True)
        return outcome

    async def _held_against_share(self, request: Request, failed: Outcome) -> Outcome:
        """What fails a share of requests may be a request that fails a share of times by itself."""
        tried: list[Verdict] = []
        reason, verdict = "", None
        while verdict is None:
            trouble, _ = await trouble_without_fault(
                lambda: self._trial(request, BASELINE), self._known[request.name].culprits
            )
            reason = trouble or reason
            tried.append(Verdict.FAILED if trouble else Verdict.SURVIVED)
            verdict = decide(tried, self._rule, varying=True)
        failed = replace(failed, requests=failed.requests + len(tried))
        if verdict is Verdict.SURVIVED:
            return failed
        raise UnwellError(replace(failed, verdict=Verdict.UNKNOWN, reason=reason, healthy_after=False))

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
        self._learn_instrumentation(request, trial)
        self._outlived.watch(trial)
        self._catalogue |= trial.lineage.calls
        if cut:
            now = self._known[request.name]
            return trial, judged(trial, request.expect, now.baseline, now.instrumentation)
        return trial, self._learnt_from_baseline(request, trial)

    def _learn_instrumentation(self, request: Request, trial: Trial) -> None:
        """Services that faults brought to light were waited for until nothing came: next time it is known what does."""
        known = self._known[request.name]
        if known.instrumentation and trial.traced and not (trial.missing or trial.abandoned or trial.disturbed):
            instrumentation = extended(known.instrumentation, trial.spans)
            self._known[request.name] = replace(known, instrumentation=instrumentation)

    def _learnt_from_baseline(self, request: Request, trial: Trial) -> Judgement:
        """Each answer without a fault tells more of what varies without one."""
        known = self._known[request.name]
        judgement = judged(trial, request.expect, known.baseline, known.instrumentation)
        if judgement.verdict is Verdict.DEGRADED:
            known = replace(known, baseline=sharpened_by(known.baseline, trial))
            judgement = judged(trial, request.expect, known.baseline, known.instrumentation)
        is_whole = judgement.verdict is Verdict.SURVIVED and trial.traced and not trial.missing
        if is_whole and culprits_of(trial.spans, trial.root_id) <= known.culprits:
            known = replace(known, varying=known.varying or _apis(trial) != known.apis)
        self._known[request.name] = known
        return judgement

    async def _disturb_rotation(self, request: Request) -> None:
        """Sends an extra request half of the time.

        Under round robin, requests that make an even number of calls each time reach the same replica always.
        """
        if secrets.randbelow(2):
            await send_unfaulted(self._bench, replace(request, setup=()))


def _apis(trial: Trial) -> Points:
    return frozenset(point.of_api for point in trial.lineage.calls)


def _no_evidence(trials: Sequence[Trial]) -> str:
    """Why nothing can be proved by experiments on this request; empty if something can."""
    traced = [trial for trial in trials if trial.traced]
    if not traced:
        return "no span of the request arrived, so nothing could be proved: does the mesh export to this collector?"
    refused = [why_not_accepted(passage_of(trial.spans, trial.root_id)) for trial in traced]
    return refused[-1] if all(refused) else ""


def _proven_runs(bench: Bench, found: Audit, request: Request, baseline: Baseline) -> Iterator[Outcome]:
    """What the audit's runs show, as if they were experiments without a fault."""
    for trial in found.trials:
        # How services tell of their calls is known only by the end: the first trial was not held against it.
        known = found.instrumentation
        missing = bench.missing_part(trial.spans, trial.root_id, known) if known else ""
        judgement = judged(trial, request.expect, baseline, found.instrumentation)
        outcome = outcome_of(replace(trial, missing=missing), BASELINE, judgement, found.not_reached)
        if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
            yield outcome


def _edges(trial: Trial) -> Iterator[tuple[Point, Point]]:
    """Which API called which."""
    for each in trial.lineage.seen:
        if each.caller:
            yield Point.parse(each.caller), each.point.of_api
