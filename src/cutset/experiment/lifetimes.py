"""How long a plan lives: what its request needs, and a short grace.

Whoever keeps a request's context longer than the request takes (a worker that it started, a pool that it filled) would
fail everybody's work until the plan expires. A plan that expired too early costs a trial, never a verdict: a call that
came too late is seen as called and not faulted, and the next plan of the cut lives as long as the request may take.
"""

from dataclasses import dataclass, field

from cutset.model.effect import EffectKind
from cutset.model.fault import BASELINE, Cut
from cutset.model.request import Request
from cutset_agent.wire import MAX_LIFE_SECONDS

GRACE_SECONDS = 1.0  # beyond the request: clocks differ, and a busy machine sends late
LEAST_SECONDS = 1.0  # for a request that is answered at once: experiments run beside others, audits do not
LATE_SECONDS = 1.0  # that are waited for an answer beyond what it may take
TIMEOUT_SECONDS = 0.25  # the same where nothing can be expected: only so that what came in time is read
SLOWER = 2.0  # times as long as the slowest one so far: with a fault, callers try again


@dataclass(slots=True)
class Lifetimes:
    """What is known of a target's requests; grows with what is seen."""

    _slowest: dict[str, float] = field(default_factory=dict)  # seconds without a fault, by request
    _cut_short: set[tuple[str, Cut]] = field(default_factory=set)

    def seconds(self, request: Request, cut: Cut) -> float:
        """From the moment in which the request is sent."""
        whole = longest_life(request, cut)
        slowest = self._slowest.get(request.name)
        if slowest is None or (request.name, cut) in self._cut_short or not _tells_if_cut_short(cut):
            return whole
        if _has_timeout(cut):  # how long callers wait is what is asked
            return whole
        return min(whole, max(LEAST_SECONDS, SLOWER * slowest + _delays(cut)) + GRACE_SECONDS)

    def note(self, request: Request, cut: Cut, seconds: float, *, escaped: bool) -> None:
        """That it took so long, and whether a call was not faulted that should have been."""
        if not cut:
            self._slowest[request.name] = max(seconds, self._slowest.get(request.name, 0.0))
        if escaped:
            self._cut_short.add((request.name, cut))


def answer_seconds(request: Request, cut: Cut = BASELINE) -> float:
    """An answer that comes after its time is still worth a second's wait: the reason then tells what it was.

    Behind a timeout none comes, unless somebody gave up in time.
    """
    return request.expect.max_seconds + (TIMEOUT_SECONDS if _has_timeout(cut) else LATE_SECONDS)


def longest_life(request: Request, cut: Cut = BASELINE) -> float:
    """A call that meets a timeout is held back for that long: longer than we wait, and no longer than that takes."""
    grace = TIMEOUT_SECONDS if _has_timeout(cut) else GRACE_SECONDS
    return min(answer_seconds(request, cut) + grace, MAX_LIFE_SECONDS)


def _has_timeout(cut: Cut) -> bool:
    return any(fault.effect.kind is EffectKind.TIMEOUT for fault in cut)


def _tells_if_cut_short(cut: Cut) -> bool:
    """Faults that may leave a call alone by their own terms do not show that they came too late."""
    return all(fault.always for fault in cut)


def _delays(cut: Cut) -> float:
    """Twice: what is tried again is delayed again."""
    return 2 * sum(fault.effect.value for fault in cut if fault.effect.kind is EffectKind.DELAY) / 1000
