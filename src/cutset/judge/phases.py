"""What the three phases of a drill amount to (CAST §3.5.2): success, latency and throughput of each, and a verdict.

Differs from the paper in three ways. Shares come with Wilson's interval, and a threshold inside it means that nobody
can tell yet. That the fault had an impact is proven by the agent's report that it fired, not by a drop in the success
rate: surviving is the best outcome. And recovery is judged by the later half of its phase, so that a service that needs
a second or two to close a circuit has recovered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cutset.judge.shares import quantile, share
from cutset.judge.symptoms import has_call, hits, symptoms_of
from cutset.model.drill import (
    DEFAULT_THRESHOLDS,
    DrillFinding,
    DrillJudgement,
    DrillTest,
    DrillVerdict,
    ObservedOperation,
    Phase,
    PhaseStatistics,
    Sample,
    Symptom,
    Thresholds,
)

FEWEST_AT_START = 5  # runs: what is constant and how long answers take cannot be told from fewer
TELLING_RATIO = 0.1  # an endpoint that is called in fewer than a tenth of the runs says nothing by its absence


def judge_drill(
    test: DrillTest, samples: Sequence[Sample], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> DrillJudgement:
    by_phase = {phase: [each for each in samples if each.phase is phase] for phase in Phase}
    hit = hits(test, by_phase[Phase.STARTUP], by_phase[Phase.FAULT])
    phases = tuple(statistics(phase, by_phase[phase], len(hit) * (phase is Phase.FAULT)) for phase in Phase)
    if reason := _no_ground(test, by_phase, phases, thresholds):
        return DrillJudgement(DrillVerdict.UNKNOWN, reason, phases=phases)
    found = symptoms_of(test, by_phase[Phase.STARTUP], hit, thresholds)
    recovery = recovery_of(test, by_phase[Phase.STARTUP], by_phase[Phase.RECOVERY], thresholds)
    findings = (*found.findings, *recovery.findings)
    if findings:
        reason = "; ".join(f"{finding.symptom}: {finding.what}" for finding in findings)
        return DrillJudgement(DrillVerdict.FAILED, reason, findings, found.notes, phases)
    if undecided := (*found.undecided, *recovery.undecided):
        return DrillJudgement(DrillVerdict.UNKNOWN, "; ".join(undecided), (), found.notes, phases)
    reason = (
        f"the fault fired in {len(hit)} requests, {phases[1].success} went well meanwhile, {phases[2].success} after"
    )
    return DrillJudgement(DrillVerdict.PASSED, reason, (), found.notes, phases)


def statistics(phase: Phase, samples: Sequence[Sample], fired: int) -> PhaseStatistics:
    seconds = _duration(samples)
    good = sum(sample.ok for sample in samples)
    return PhaseStatistics(
        phase,
        seconds,
        share(good, len(samples)),
        fired=fired,
        median=quantile([sample.seconds for sample in samples], 0.5),
        p95=quantile([sample.seconds for sample in samples], 0.95),
        throughput=good / seconds if seconds else 0.0,
    )


@dataclass(frozen=True, slots=True)
class Recovery:
    findings: tuple[DrillFinding, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.findings and not self.undecided


def recovery_of(
    test: DrillTest, startup: Sequence[Sample], recovery: Sequence[Sample], thresholds: Thresholds
) -> Recovery:
    """Whether the service is as it was, by the later half of the phase; at the entry and at its endpoints."""
    tail = later_half(recovery)
    findings: list[DrillFinding] = []
    undecided: list[str] = []
    success, floor = share(sum(each.ok for each in tail), len(tail)), _floor(startup, thresholds)
    if success.high < floor:
        problem = next((each.error or f"status {each.status}" for each in reversed(tail) if not each.ok), "")
        findings.append(_no_recovery("entry", f"after the fault {success} went well; the last that did not: {problem}"))
    elif success.low < floor:
        undecided.append(f"too few requests after the fault to tell whether it recovered: {success} went well")
    if not findings:
        findings += _slow(startup, tail, thresholds)
        findings += _missing_operations(startup, tail, thresholds)
        findings += _failing_operations(test, startup, tail)
    traces = tuple(each.trace_id for each in tail if not each.ok)[-3:] or tuple(each.trace_id for each in tail[-3:])
    return Recovery(
        tuple(DrillFinding(each.symptom, each.level, each.what, traces) for each in findings), tuple(undecided)
    )


def later_half(samples: Sequence[Sample]) -> list[Sample]:
    if not samples:
        return []
    first, last = min(each.sent_at for each in samples), max(each.sent_at for each in samples)
    return [each for each in samples if each.sent_at >= (first + last) / 2]


def _no_ground(
    test: DrillTest,
    by_phase: dict[Phase, list[Sample]],
    phases: Sequence[PhaseStatistics],
    thresholds: Thresholds,
) -> str:
    """Why no verdict can be given, if so."""
    startup = phases[0].success
    if startup.of < FEWEST_AT_START:
        return f"only {startup.of} requests were sent at start-up; {FEWEST_AT_START} are needed to know what is normal"
    if startup.count < thresholds.startup_success * startup.of:
        bad = next(each for each in by_phase[Phase.STARTUP] if not each.ok)
        return f"not healthy at start-up: {startup} went well; the first that did not: {bad.error or bad.status}"
    if not _calls_at(test, by_phase[Phase.STARTUP]):
        return f"the service did not call {test.place} in {startup.of} requests at start-up, as it did when recorded"
    if not phases[1].fired:
        why = next(
            (each.facts["not_fired"] for each in _calls_at(test, by_phase[Phase.FAULT]) if "not_fired" in each.facts),
            "",
        )
        because = f": {why}" if why else ""
        return f"the fault never fired in {phases[1].success.of} requests that carried it{because}"
    if not by_phase[Phase.RECOVERY]:
        return f"nothing was sent after {test}"
    return ""


def _floor(startup: Sequence[Sample], thresholds: Thresholds) -> float:
    return thresholds.recovery_success * sum(each.ok for each in startup) / max(1, len(startup))


def _slow(startup: Sequence[Sample], tail: Sequence[Sample], thresholds: Thresholds) -> list[DrillFinding]:
    usual, now = quantile([each.seconds for each in startup], 0.95), quantile([each.seconds for each in tail], 0.5)
    if now > max(thresholds.latency_factor * usual, usual + thresholds.latency_slack):
        return [_no_recovery("entry", f"answers still take {now:.2f} s (median), {usual:.2f} s before (p95)")]
    before, after = (sum(each.ok for each in part) / (_duration(part) or 1) for part in (startup, tail))
    if after < thresholds.recovery_throughput * before:
        return [_no_recovery("entry", f"{after:.1f} good answers per second, {before:.1f} before")]
    return []


def _missing_operations(
    startup: Sequence[Sample], tail: Sequence[Sample], thresholds: Thresholds
) -> list[DrillFinding]:
    """What a run usually brings about and no longer does: a consumer that stopped, a cache that nobody asks again."""
    findings = []
    before, after = _operations_per_run(startup), _operations_per_run(tail)
    for endpoint, usual in sorted(before.items()):
        now = after.get(endpoint, 0.0)
        if usual >= TELLING_RATIO and now < thresholds.recovery_operations * usual and _steady(endpoint, startup):
            findings.append(_no_recovery(endpoint, f"{now:.2f} calls per request after the fault, {usual:.2f} before"))
    return findings


def _operations_per_run(samples: Sequence[Sample]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for sample in samples:
        for operation in sample.operations:
            counts[operation.endpoint] = counts.get(operation.endpoint, 0) + (not operation.failed)
    return {endpoint: count / len(samples) for endpoint, count in counts.items()}


def _steady(endpoint: str, startup: Sequence[Sample]) -> bool:
    """Called in the later half of start-up as in the earlier: no cache that warms up, no connection that is kept."""
    later = later_half(startup)
    everywhere, late = (sum(has_call(sample, endpoint) for sample in samples) for samples in (startup, later))
    return share(late, len(later)).low >= TELLING_RATIO and 3 * late >= everywhere


def _failing_operations(test: DrillTest, startup: Sequence[Sample], tail: Sequence[Sample]) -> list[DrillFinding]:
    """The second assertion level: the entry may answer well because of a fallback that has become the rule."""
    before, after = (
        share(sum(operation.failed for operation in calls), len(calls))
        for calls in (_calls_at(test, startup), _calls_at(test, tail))
    )
    if after.of and after.low > max(0.1, before.high):
        return [_no_recovery(test.place, f"after the fault {after} calls still fail, {before} before")]
    return []


def _calls_at(test: DrillTest, samples: Sequence[Sample]) -> list[ObservedOperation]:
    return [
        operation
        for sample in samples
        for operation in sample.operations
        if test.is_at(operation) and not operation.fault
    ]


def _duration(samples: Sequence[Sample]) -> float:
    """From the first request until the last answer, but no less than the pace of sending gives."""
    if len(samples) < 2:
        return sum(each.seconds for each in samples)
    sent = [each.sent_at for each in samples]
    spacing = (max(sent) - min(sent)) / (len(samples) - 1)
    return max(max(sent) - min(sent) + spacing, max(each.sent_at + each.seconds for each in samples) - min(sent))


def _no_recovery(level: str, what: str) -> DrillFinding:
    return DrillFinding(Symptom.NO_RECOVERY, level, what)
