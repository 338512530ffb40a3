"""How likely a request fails, exactly, and what hardening would change.

FastFI counts faults as if all were alike, which its §5.2 admits. Here each point is down at a rate of its own, and
*common causes* (a service, a node, a zone) take all of their points down together. A request fails if all points of
one of its cuts are down. Adding up the cuts' probabilities (the *rare-event sum*) would count failures that several
cuts explain several times; a decision diagram does not.

A hardened site no longer passes failures on, whatever their cause, but for a residual share. What is computed rests on
the cuts that are known: cuts beyond the size that was searched can only add to it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import fsum, prod

from cutset.errors import InputError
from cutset.harden.diagram import MAX_NODES, Diagrams, TooLargeError, good_order
from cutset.model.point import Point

MAX_PAIRED = 100  # cuts of which all pairs are looked at, some 5,000


@dataclass(frozen=True, slots=True)
class CommonCause:
    name: str
    rate: float
    points: frozenset[Point]


@dataclass(frozen=True, slots=True)
class Passed:
    """The event that a failure gets past a site that is hardened."""

    site: str


BasicEvent = Point | CommonCause | Passed
EventClause = tuple[BasicEvent, ...]  # occurs if one of its events does
EventCut = tuple[EventClause, ...]  # occurs if all of its clauses do
Formula = Sequence[EventCut]


@dataclass(frozen=True, slots=True)
class Rates:
    """How often points and common causes are down, as a share of the requests that need them."""

    of_points: Mapping[Point, float]  # without what is due to common causes
    causes: tuple[CommonCause, ...] = ()

    def __post_init__(self) -> None:
        for name, rate in [*self.of_points.items(), *((cause.name, cause.rate) for cause in self.causes)]:
            if not 0 <= rate <= 1:
                raise InputError(f"`{name}`: expected a failure rate from 0 to 1, found {rate:g}")


@dataclass(frozen=True, slots=True)
class RequestClass:
    name: str
    cuts: tuple[frozenset[Point], ...]
    per_day: float = 1.0
    # What has to be hardened, all of it, so that a failure of the point does no harm: its API, if nothing is said.
    sites: Mapping[Point, frozenset[str]] = field(default_factory=dict)

    def sites_of(self, point: Point) -> frozenset[str]:
        return self.sites.get(point, frozenset({str(point.of_api)}))


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Of a request class to fail."""

    request: str
    per_day: float
    probability: float
    at_most: float  # more than `probability` only if the diagram was too large: then the truth is in between

    @property
    def exact(self) -> bool:
        return self.at_most == self.probability

    @property
    def failed_per_day(self) -> float:
        return self.probability * self.per_day


@dataclass(frozen=True, slots=True)
class Overall:
    per_day: float
    failed_per_day: float
    failed_at_most: float

    @property
    def availability(self) -> float:
        """The share of requests that succeed."""
        return 1 - self.failed_per_day / self.per_day if self.per_day else 1.0


@dataclass(frozen=True, slots=True)
class Solved:
    diagrams: Diagrams[BasicEvent]
    diagram: int
    cuts: Formula  # those that the diagram is of: all, unless it would have been too large
    probability: float
    at_most: float


def likelihood(
    request: RequestClass, rates: Rates, hardened: Mapping[str, float] | None = None, *, max_nodes: int = MAX_NODES
) -> Likelihood:
    """`hardened` says by site which share of failures still gets past it; 0 if the remedy always helps."""
    formula, event_rates = formula_of(request, rates, hardened or {})
    solved = solve(formula, event_rates, max_nodes=max_nodes)
    probability, at_most = solved.probability, solved.at_most
    if probability < at_most:
        probability = max(probability, _at_least_by_pairs(formula, event_rates))
    return Likelihood(request.name, request.per_day, probability, at_most)


def overall(likelihoods: Collection[Likelihood]) -> Overall:
    """All classes together, each by its traffic."""
    return Overall(
        per_day=fsum(each.per_day for each in likelihoods),
        failed_per_day=fsum(each.failed_per_day for each in likelihoods),
        failed_at_most=fsum(each.at_most * each.per_day for each in likelihoods),
    )


def common_cause(name: str, rate: float, members: Collection[str], points: Iterable[Point]) -> CommonCause:
    """A cause that takes down what its members mean: `cart`, `cart#2`, `cart/GetCart`, `web>cart/GetCart`."""
    meant = [_member(text) for text in members]
    hit = frozenset(
        point
        for point in points
        if any(all(getattr(point, key) == value for key, value in fields.items()) for fields in meant)
    )
    return CommonCause(name, rate, hit)


def _member(text: str) -> dict[str, str]:
    """What it says of a point. A point of any replica is no member of `cart#2`: the other replicas still serve it."""
    service, _, replica = text.partition("#")
    point = Point.parse(text) if "/" in text else Point(service, "", replica=replica)
    fields = {key: getattr(point, key) for key in ("service", "api", "caller", "replica", "occurrence")}
    return {key: value for key, value in fields.items() if value}


def rates_of(measured: Mapping[Point, float], causes: Iterable[CommonCause] = ()) -> Rates:
    """Splits what was measured, whatever the cause, into common causes and what is left for the points themselves."""
    causes = tuple(causes)
    up = {
        point: prod(1 - cause.rate for cause in causes if point in cause.points) for point in measured
    }  # how often no common cause has it down
    return Rates(
        {point: max(0.0, 1 - (1 - rate) / up[point]) if up[point] else 0.0 for point, rate in measured.items()}, causes
    )


def formula_of(
    request: RequestClass, rates: Rates, hardened: Mapping[str, float]
) -> tuple[Formula, dict[BasicEvent, float]]:
    """When a request fails, in terms of independent events, and how likely these are."""
    own = frozenset().union(*request.cuts)
    causes_of: dict[Point, list[BasicEvent]] = {}
    for cause in rates.causes:
        for point in own & cause.points:
            causes_of.setdefault(point, []).append(cause)
    event_rates: dict[BasicEvent, float] = {}
    formula: list[EventCut] = []
    # In order, so that the same diagram comes out in every process.
    for points in sorted(sorted(cut) for cut in minimal(request.cuts)):
        clauses: dict[EventClause, None] = {}
        for point in points:
            clause = (point, *causes_of.get(point, ()))
            event_rates |= {event: _rate(event, rates) for event in clause}
            clauses[clause] = None
            guards = request.sites_of(point)
            if guards <= hardened.keys():
                passed: dict[BasicEvent, float] = {Passed(site): hardened[site] for site in sorted(guards)}
                event_rates |= passed
                clauses[tuple(passed)] = None
        if not any(_is_blocked(clause, event_rates) for clause in clauses):
            formula.append(tuple(clauses))
    return formula, event_rates


def minimal(cuts: Iterable[frozenset[Point]]) -> list[frozenset[Point]]:
    different = set(cuts)
    return [cut for cut in different if not any(other < cut for other in different)]


def solve(formula: Formula, rates: Mapping[BasicEvent, float], *, max_nodes: int = MAX_NODES) -> Solved:
    """How likely one of the cuts occurs.

    If the diagram gets too large, there is no other way to an exact result. Then only the likelier half of the cuts is
    taken, or a quarter, and so on, which bounds the probability from below. From above, it is bounded as if those left
    out were independent: as more failures never help, cuts rather occur together (Harris' inequality).
    """
    kept, left_out = list(formula), 0.0
    while True:
        diagrams = Diagrams(good_order(kept), max_nodes)
        try:
            diagram = diagrams.any_of([diagrams.cut(cut) for cut in kept])
        except TooLargeError:
            if len(formula) == 1:
                kept, left_out = [], min(1 - prod(1 - rates[event] for event in clause) for clause in formula[0])
                continue
            ordered = _likeliest_first(formula, rates)
            kept = ordered[: len(kept) // 2]
            left_out = 1 - prod(1 - solve([cut], rates).probability for cut in ordered[len(kept) :])
        else:
            probability = diagrams.probabilities(rates)[diagram]
            return Solved(diagrams, diagram, kept, probability, probability + (1 - probability) * left_out)


def _at_least_by_pairs(formula: Formula, rates: Mapping[BasicEvent, float]) -> float:
    """Bonferroni's bound: near the truth where failures are rare, as cuts hardly ever occur together then."""
    likeliest = _likeliest_first(formula, rates)[:MAX_PAIRED]
    together = fsum(solve([(*one, *other)], rates).at_most for one, other in combinations(likeliest, 2))
    return fsum(solve([cut], rates).probability for cut in likeliest) - together


def _likeliest_first(formula: Formula, rates: Mapping[BasicEvent, float]) -> list[EventCut]:
    return sorted(formula, key=lambda cut: -solve([cut], rates).probability)


def _is_blocked(clause: EventClause, rates: Mapping[BasicEvent, float]) -> bool:
    """By remedies that always help. Points that never fail stay: one may ask what would be if they did."""
    return all(isinstance(event, Passed) and not rates[event] for event in clause)


def _rate(event: BasicEvent, rates: Rates) -> float:
    match event:
        case CommonCause(rate=rate):
            return rate
        case Point() if event in rates.of_points:
            return rates.of_points[event]
    raise InputError(f"The failure rate of `{event}` is not known", hint="Give its rate, or traces that call it")
