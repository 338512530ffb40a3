"""Which effects at a call a request bears, and which not, from experiments with that one fault alone.

"Survives 503, not a slow answer" says what is missing where the call is made: a timeout, and not a fallback. Why is
told where outcomes show it: how often the call was made, how long somebody waited for it, whether the user still did.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.effect import SLOW, SPOILS_ANSWER, Effect, EffectChoice
from cutset.model.fault import Fault
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point


class Toleration(StrEnum):
    FATAL = "fatal"
    DEGRADED = "degraded"
    TOLERATED = "tolerated"
    UNKNOWN = "unknown"
    NOT_TRIED = "not tried"


_OF_VERDICT = {
    Verdict.FAILED: Toleration.FATAL,
    Verdict.DEGRADED: Toleration.DEGRADED,
    Verdict.SURVIVED: Toleration.TOLERATED,
    Verdict.UNKNOWN: Toleration.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class EffectToleration:
    effect: Effect
    toleration: Toleration
    why: str = ""  # as far as the experiment tells


@dataclass(frozen=True, slots=True)
class PointToleration:
    point: Point
    effects: tuple[EffectToleration, ...]  # all that are possible there, in the order in which they were asked for

    def those(self, *tolerations: Toleration) -> tuple[EffectToleration, ...]:
        return tuple(each for each in self.effects if each.toleration in tolerations)

    @property
    def is_telling(self) -> bool:
        """Whether it depends on the effect."""
        borne = self.those(Toleration.TOLERATED, Toleration.DEGRADED)
        return bool(borne) and bool(self.those(Toleration.FATAL))


def tolerations(
    points: Iterable[Point], effects: EffectChoice, outcomes: Sequence[Outcome], usual: Sequence[Outcome]
) -> tuple[PointToleration, ...]:
    """`outcomes` in the order of time, so that the last one counts; `usual` are runs without a fault."""
    alone: dict[Fault, Outcome] = {}
    for outcome in outcomes:
        if len(outcome.cut) == 1:
            (fault,) = outcome.cut
            if outcome.verdict is not Verdict.UNKNOWN or fault not in alone:
                alone[fault] = outcome
    calls = {point: max((_count(run.seen, point) for run in usual), default=0) for point in points}
    return tuple(
        PointToleration(point, tuple(_at(Fault(point, effect), alone, calls[point]) for effect in tried))
        for point in sorted(calls)
        if (tried := effects.at(point))
    )


def _at(fault: Fault, alone: Mapping[Fault, Outcome], usual_calls: int) -> EffectToleration:
    outcome = alone.get(fault)
    if outcome is None:
        return EffectToleration(fault.effect, Toleration.NOT_TRIED)
    why = outcome.reason if outcome.verdict is Verdict.UNKNOWN else _why(fault, outcome, usual_calls)
    return EffectToleration(fault.effect, _OF_VERDICT[outcome.verdict], why)


def _why(fault: Fault, outcome: Outcome, usual_calls: int) -> str:
    if outcome.is_wrong:
        return "with a wrong value"
    met = [call for call in outcome.met if call.point == fault.point]
    failed = outcome.verdict is Verdict.FAILED
    tried_again = bool(usual_calls) and len(met) > usual_calls
    if fault.effect.kind in SLOW:
        return _of_slow(met, failed=failed, late=outcome.late, tried_again=tried_again)
    if failed and fault.effect.kind in SPOILS_ANSWER:
        return "it is taken for an answer"
    if failed and max(len(met) - usual_calls, 0) < fault.effect.attempts:  # no attempt was left alone
        return "tried again too seldom" if tried_again else "not tried again"
    return ("tried again, in vain" if failed else "tried again") if tried_again else ""


def _of_slow(met: Sequence[CallSeen], *, failed: bool, late: bool, tried_again: bool) -> str:
    """Who waits until the user has gone has no timeout, or none that is of use. Else somebody gave up: he, or one
    further up who waited for him.
    """
    caller = next((call.caller for call in met if call.caller), "") or "the caller"
    seconds = max((call.milliseconds for call in met), default=0) / 1000
    gave_up = f"given up after {seconds:.1f} s{' and tried again' if tried_again else ''}"
    if late and tried_again:
        return f"{gave_up}, for longer than the request may take"
    if late:
        return f"no timeout at {caller}" + (f": waited for {seconds:.1f} s" if met else "")
    if not any(call.status == "0" for call in met):
        return f"waited for {seconds:.1f} s" if met else ""
    return f"{gave_up}, and that is not tolerated" if failed else gave_up


def _count(seen: Sequence[CallSeen], point: Point) -> int:
    return sum(call.point == point for call in seen)
