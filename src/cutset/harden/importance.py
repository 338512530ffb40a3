"""What a point, a common cause or a finding has to do with the requests that fail: the classical importance measures.

All are made of four numbers: how much fails as things are, how much if the point were always down, how much if it never
were, and how much fails by cuts that it is in.

- Birnbaum: always - never. How much depends on it, however reliable it is.
- Fussell–Vesely: the share of failures in which one of its cuts occurs.
- Risk achievement worth: always / now. What gets worse if one stops looking after it.
- Risk reduction worth: now / never. What gets better if it is hardened perfectly.

"Never" means what hardening would bring about: a hardened point does not pass on failures of common causes either.

    found = importances_by_traffic(classes, rates)      # the classes and rates that `likelihood` takes
    for each in found.ranked[:5]:
        print(each.name, in_words(each))
    print(caveat(found))                                # empty, unless some class has more cuts than can be solved
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import fsum, inf

from cutset.harden.diagram import MAX_NODES
from cutset.harden.probability import (
    BasicEvent,
    CommonCause,
    EventCut,
    Passed,
    Rates,
    RequestClass,
    formula_of,
    solve,
)
from cutset.model.fault import format_cut, points_of
from cutset.model.finding import Finding
from cutset.model.point import Point
from cutset.model.wording import quoted

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Importance:
    """Of one request class as probabilities, of all together as failed requests per day."""

    of: Point | CommonCause
    now: float
    always: float
    never: float
    by_its_cuts: float

    @property
    def name(self) -> str:
        return self.of.name if isinstance(self.of, CommonCause) else str(self.of)

    @property
    def birnbaum(self) -> float:
        return self.always - self.never

    @property
    def fussell_vesely(self) -> float:
        return self.by_its_cuts / self.now if self.now else 0.0

    @property
    def risk_achievement_worth(self) -> float:
        return self.always / self.now if self.now else (inf if self.always else 1.0)

    @property
    def risk_reduction_worth(self) -> float:
        return self.now / self.never if self.never else (inf if self.now else 1.0)

    @property
    def saved(self) -> float:
        """What would not fail any more if it never were down."""
        return self.now - self.never


@dataclass(frozen=True, slots=True)
class Importances:
    """Of each point of the cuts and each common cause that takes one down, the one that saves most first."""

    ranked: tuple[Importance, ...]
    in_part: tuple[str, ...] = ()  # requests with too many cuts to solve: their numbers rest on the likelier ones only


def in_words(each: Importance) -> str:
    """Of numbers per day: `without it, 12 of 20 failed requests per day would succeed; …`."""
    return (
        f"without it, {each.saved:.4g} of {each.now:.4g} failed requests per day would succeed; "
        f"it takes part in {each.fussell_vesely:.0%} of them; always down, it would fail {each.always:.4g}"
    )


def caveat(found: Importances) -> str:
    """What the numbers do not account for; empty if they are exact."""
    if not found.in_part:
        return ""
    return f"{quoted(found.in_part)} can fail in too many ways to solve: the numbers rest on the likelier cuts only"


def importances(request: RequestClass, rates: Rates, *, max_nodes: int = MAX_NODES) -> Importances:
    """Of one request class, as probabilities."""
    shared = frozenset().union(*(cause.points for cause in rates.causes))
    # A guard that lets everything pass changes nothing, but tells what would be if it let nothing pass.
    points = sorted(frozenset().union(*request.cuts))
    guarded = replace(request, sites={point: frozenset({str(point)}) for point in points})
    guards = {str(point): 1.0 for point in points if point in shared}
    formula, event_rates = formula_of(guarded, rates, guards)
    solved = solve(formula, event_rates, max_nodes=max_nodes)
    slopes = solved.diagrams.gradient(solved.diagram, event_rates)
    now = solved.probability
    cuts_of: dict[BasicEvent, list[EventCut]] = {}
    for cut in solved.cuts:
        for event in dict.fromkeys(event for clause in cut for event in clause):
            cuts_of.setdefault(event, []).append(cut)

    def importance(of: Point | CommonCause) -> Importance:
        rate, slope = event_rates[of], slopes.get(of, 0.0)
        its_cuts = cuts_of.get(of, [])
        if isinstance(of, CommonCause):
            by_its_cuts = rate * solve(its_cuts, {**event_rates, of: 1.0}).probability
            never = now - rate * slope
        else:
            by_its_cuts = solve(its_cuts, event_rates).probability
            never = now - (slopes.get(Passed(str(of)), 0.0) if of in shared else rate * slope)
            if len(its_cuts) == len(solved.cuts):
                never = 0.0  # rounding would leave a little
        return Importance(of, now, now + (1 - rate) * slope, max(never, 0.0), by_its_cuts)

    found = [importance(event) for event in event_rates if not isinstance(event, Passed)]
    in_part = (request.name,) if len(solved.cuts) < len(formula) else ()
    return Importances(tuple(sorted(found, key=_order)), in_part)


def importances_by_traffic(classes: Iterable[RequestClass], rates: Rates, *, max_nodes: int = MAX_NODES) -> Importances:
    """Of all classes together, in failed requests per day."""
    found = [(request.per_day, importances(request, rates, max_nodes=max_nodes)) for request in classes]
    total = fsum(per_day * own.ranked[0].now for per_day, own in found if own.ranked)
    sums: dict[Point | CommonCause, Importance] = {}
    for per_day, own in found:
        for each in own.ranked:
            so_far = sums.get(each.of, Importance(each.of, total, total, total, 0.0))
            # What a class loses or gains comes on top of what all others have now.
            sums[each.of] = replace(
                so_far,
                always=so_far.always + per_day * (each.always - each.now),
                never=so_far.never - per_day * each.saved,
                by_its_cuts=so_far.by_its_cuts + per_day * each.by_its_cuts,
            )
    # Where nothing is left, rounding leaves a little.
    rounded = (replace(each, never=each.never if each.never > ROUNDING * total else 0.0) for each in sums.values())
    return Importances(tuple(sorted(rounded, key=_order)), tuple(name for _, own in found for name in own.in_part))


def failures_per_day(
    findings: Iterable[Finding], rates: Rates, per_day: Mapping[str, float]
) -> list[tuple[Finding, float]]:
    """In how many requests per day all points of a finding are down, the worst first.

    Several may be down in the same request, so that these numbers add up to more than fail. A request whose traffic is
    not given counts as one per day. Rates are not told by effect: of findings with the same points the first counts.
    """
    ranked = []
    for finding in {(each.request, points_of(each.cut)): each for each in reversed(list(findings))}.values():
        traffic = per_day.get(finding.request, 1.0)
        formula, event_rates = formula_of(RequestClass(finding.request, (points_of(finding.cut),)), rates, {})
        ranked.append((finding, traffic * solve(formula, event_rates).probability))
    return sorted(ranked, key=lambda each: (-each[1], each[0].request, format_cut(each[0].cut)))


def _order(importance: Importance) -> tuple[float, float, str]:
    return -importance.saved, -importance.birnbaum, importance.name
