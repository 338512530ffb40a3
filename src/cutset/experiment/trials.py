"""What a trial shows, and what the trials of one experiment amount to.

A request may behave differently each time: caches, balancers, chance. The trials of one cut are then one experiment,
whose calls are those of all of them, and whose verdict is the worst that chance does not explain.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from cutset.experiment.trial import Trial
from cutset.judge.rules import Judgement
from cutset.judge.sequential import MOST_TRIALS, Repetition, decide
from cutset.lineage.uncoverable import past_mesh
from cutset.model.coverage import Uncoverable
from cutset.model.fault import Cut, format_cut, points_of
from cutset.model.outcome import CallSeen, Outcome, Points, Verdict
from cutset.model.point import Point

VOID_TRIALS = 3  # so many in a row that prove nothing, for want of a trace or because no fault fired, are enough


def amount_to(trials: Sequence[Outcome], rule: Repetition, *, varying: bool) -> Outcome | None:
    """None: go on. `trials` are of one cut, in their order; those that are unknown prove nothing.

    One that survived without any fault that fired was not concerned by the cut.
    """
    proving = [each for each in trials if each.verdict is not Verdict.UNKNOWN]
    fired = [each for each in proving if each.fired or not each.cut]
    unfired = len(proving) - len(fired)
    verdict = decide([each.verdict for each in fired], rule, varying=varying, unfired=unfired)
    if verdict is None:
        return None
    alike = [each for each in fired if each.verdict is verdict] or fired
    typical, *others = _typical_first(alike)
    failed = [each for each in fired if each.verdict is Verdict.FAILED]
    told = alike if verdict is Verdict.FAILED else [each for each in proving if each.verdict is not Verdict.FAILED]
    return replace(
        _united(told or fired, is_path=verdict in (Verdict.SURVIVED, Verdict.DEGRADED)),
        verdict=verdict,
        reason=_reason(verdict, typical, alike, fired, unfired),
        differences=typical.differences,
        says=typical.says,
        calls=_union(each.calls for each in proving),
        fired=_union(each.fired for each in alike if verdict is Verdict.FAILED) or _union(each.fired for each in fired),
        retried=_union(each.retried for each in proving),
        uncoverable=frozenset().union(*(each.uncoverable for each in proving)),
        trace_ids=tuple(trace_id for each in (typical, *others) for trace_id in each.trace_ids),
        requests=sum(each.requests for each in trials),
        trials=len(proving),
        failures=len(failed),
        healthy_after=all(each.healthy_after for each in alike),
    )


def variation(runs: Sequence[Outcome]) -> str:
    """How runs without a fault differ; empty: not as far as they show. Which replica serves is another matter."""
    for kind, sets in (("called", [each.calls for each in runs]), ("failing", [each.failed for each in runs])):
        apis = Counter(api for points in sets for api in {point.of_api for point in points})
        for api, number in sorted(apis.items()):
            if number < len(runs):
                return f"{api} was {kind} in {number} of {len(runs)} runs without a fault"
    return ""


def _united(trials: Sequence[Outcome], *, is_path: bool) -> Outcome:
    """All that these showed."""
    return replace(
        trials[-1],
        path=_union(each.path for each in trials) if is_path else frozenset(),
        failed=_union(each.failed for each in trials),
        seen=_seen(trials) if is_path else (),
    )


def _union(sets: Iterable[Points]) -> Points:
    return frozenset().union(*sets)


def _seen(trials: Iterable[Outcome]) -> tuple[CallSeen, ...]:
    """Each call as often as in the trial that made it most often, and as long as the longest of its kind took."""
    kept: dict[CallSeen, list[int]] = {}
    for trial in trials:
        of_trial: dict[CallSeen, list[int]] = {}
        for call in trial.seen:
            of_trial.setdefault(replace(call, milliseconds=0), []).append(call.milliseconds)
        for kind, times in of_trial.items():
            before = kept.get(kind, [])
            kept[kind] = sorted(before + times, reverse=True)[: max(len(before), len(times))]
    return tuple(replace(kind, milliseconds=each) for kind, times in kept.items() for each in times)


def _reason(
    verdict: Verdict, typical: Outcome, alike: Sequence[Outcome], fired: Sequence[Outcome], unfired: int
) -> str:
    """What the user sees most often, and of what share of requests."""
    if verdict is Verdict.UNKNOWN:
        failures = sum(each.verdict is Verdict.FAILED for each in fired)
        return f"failed {failures} of {len(fired)} times: nobody can tell yet whether that is more than chance"
    reason = typical.reason
    total = len(fired) + unfired
    if verdict is Verdict.SURVIVED or len(alike) == total:
        return reason
    which = f"{_reaching(_union(each.fired for each in fired))}, " if len(alike) == len(fired) else ""
    verb = "fails" if verdict is Verdict.FAILED else "degrades"
    return f"{reason}; {verb} a share of requests: {which}{len(alike)} of {total}"


def _typical_first(alike: Sequence[Outcome]) -> list[Outcome]:
    """What users see most often comes first: its trace is the one to be shown."""
    ((reason, _),) = Counter(each.reason for each in alike).most_common(1)
    return sorted(alike, key=lambda each: each.reason != reason)


def _reaching(points: Points) -> str:
    names = " or ".join(map(str, sorted(points)))
    return f"those that {names} serves" if all(point.replica for point in points) else f"those that call {names}"


def outcome_of(
    trial: Trial, cut: Cut, judgement: Judgement, not_reached: Points, told: frozenset[Uncoverable] | None = None
) -> Outcome:
    """In terms of what plans reach: what they do not is not searched, but reported as not coverable.

    `told` are calls as services tell of them that are known already; none: they are not looked at.
    """
    doubt, failed = _doubt(trial, cut, judgement), judgement.verdict is Verdict.FAILED
    lineage, beyond = trial.lineage, {point.of_api for point in not_reached}

    def within_reach(points: Points) -> Points:
        return frozenset(point for point in points if point.of_api not in beyond)

    return Outcome(
        cut=cut,
        verdict=Verdict.UNKNOWN if doubt else judgement.verdict,
        reason=doubt or judgement.reason,
        differences=() if doubt else judgement.differences,
        says="" if doubt else judgement.says,
        path=frozenset() if doubt or failed else within_reach(lineage.path),
        failed=within_reach(lineage.failed),
        calls=within_reach(lineage.calls),
        # What has nothing to spoil because of what fired has happened, too: any run with both would be this one.
        fired=points_of(lineage.fired | (lineage.void if lineage.fired else frozenset())),
        seen=() if doubt or failed else lineage.seen,
        met=tuple(call for call in lineage.seen if call.point in points_of(lineage.fired)),
        late=judgement.late,
        milliseconds=None if doubt or failed else round(1000 * trial.response.seconds),
        retried=within_reach(lineage.retried),
        uncoverable=frozenset() if doubt or told is None else past_mesh([trial.spans]) - told,
        trace_ids=(trial.trace_id,),
        trials=int(not doubt),
        failures=int(failed and not doubt),
    )


def _doubt(trial: Trial, cut: Cut, judgement: Judgement) -> str:
    """Why this trial proves nothing; empty if it does."""
    if not trial.traced:
        return trial.disturbed or "the trace of the request did not arrive"
    if void := _void(trial):
        return void
    if trial.lineage.escaped:
        why = f" ({'; '.join(trial.lineage.why_escaped)})" if trial.lineage.why_escaped else ""
        return f"called, but not faulted: {_named(trial.lineage.escaped)}{why}"
    if cut and not trial.lineage.fired and (trial.abandoned or judgement.verdict is not Verdict.SURVIVED):
        waiting = ", or is still being called: a service was given up on while at work" if trial.abandoned else ""
        return f"never fired: {_named(cut)} was not called{waiting}"
    # A failure needs no path.
    missing = trial.missing or (f"what {', '.join(trial.dead)} had not sent when it died" if trial.dead else "")
    if missing and judgement.verdict is not Verdict.FAILED:
        return (
            f"the trace is incomplete, so the path may be longer than it shows: {missing} did not arrive, "
            "because it got lost or never was: a call may have gone past the mesh"
        )
    return ""


def _void(trial: Trial) -> str:
    """By the word of the code that made the request, or because it was misled."""
    told = trial.response.told
    if told is None or told == trial.lineage.fired:
        return trial.response.void
    return f"asked what had fired, it was told {format_cut(told)}, and the trace says {format_cut(trial.lineage.fired)}"


def is_idle(trial: Outcome) -> bool:
    """Whether none of its faults was called, though the trace is whole."""
    return bool(trial.cut) and trial.verdict is not Verdict.UNKNOWN and not trial.fired


def may_spare_others(tried: Sequence[Outcome], known: Collection[Point]) -> bool:
    """Whether requests failed at a replica while others serve the same.

    Which share fails is told by many requests only, even if the first few all met that replica, or, where calls turn
    to another one when it fails, even if these all came back to it.
    """
    fired = {point for each in tried if each.verdict is Verdict.FAILED for point in each.fired if point.replica}
    cut = points_of(tried[-1].cut)
    return any(point.of_api == other.of_api and other not in cut for point in fired for other in known if other.replica)


def why_in_vain(tried: Sequence[Outcome], idle: int, most_idle: int) -> str:
    """Why trying on is in vain; empty if it is not."""
    latest = tried[-VOID_TRIALS:]
    if len(latest) == VOID_TRIALS and all(each.verdict is Verdict.UNKNOWN for each in latest):
        return latest[-1].reason
    if idle >= most_idle and not any(each.fired for each in tried):
        return f"never fired: {_named(tried[-1].cut)} was not called"
    return f"nothing was proved by {len(tried)} requests" if len(tried) >= MOST_TRIALS else ""


def so_far(tried: Sequence[Outcome]) -> Outcome:
    """The last trial, with what the others add to it."""
    last = tried[-1]
    alike = [each for each in tried if each.verdict is last.verdict]
    return replace(
        last,
        calls=_union(each.calls for each in tried),
        retried=_union(each.retried for each in tried),
        trace_ids=tuple(trace_id for each in alike for trace_id in each.trace_ids),
        requests=sum(each.requests for each in tried),
        trials=sum(each.verdict is not Verdict.UNKNOWN for each in tried),
        failures=sum(each.verdict is Verdict.FAILED for each in tried),
    )


def given_up(tried: Sequence[Outcome], reason: str) -> Outcome:
    return replace(so_far(tried), verdict=Verdict.UNKNOWN, reason=reason, path=frozenset(), seen=())


def _named(faults: Cut) -> str:
    return ", ".join(str(fault.point) for fault in sorted(faults))
