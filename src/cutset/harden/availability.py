"""What to harden within a budget so that the fewest requests fail: FastFI's eq. 5 (§3.3) with the number that counts.

What a choice achieves is known exactly (`probability`), but it is no sum over findings: two that occur together fail
one request. So bounds from below that are sums are collected, in the manner of Benders. Put the ways in which a request
can fail into any order, and count each failure for the first of them that occurs. Whatever is hardened, the request
still fails at least by the shares of the ways that are left: a sum over ways, fit for a mixed integer program. If the
ways that a choice leaves come first, the bound is what that choice achieves. So solving, computing what the answer
really achieves and adding that order's bound is repeated until both agree, and then nothing is better.

Failures are rare, so that orders hardly matter and a few rounds are enough.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import fsum

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]
from scipy.sparse import csr_array  # type: ignore[import-untyped]

from cutset.harden.diagram import MAX_NODES, Diagrams, TooLargeError, good_order
from cutset.harden.probability import BasicEvent, EventCut, Passed, Rates, RequestClass, formula_of, solve
from cutset.harden.problem import Candidate
from cutset.model.point import Point

MAX_ROUNDS = 20
MAX_BRANCHES = 100_000  # of one program
PROVEN = 1e-6  # the share up to which a choice is proven best: what the solver's floating point allows
ROUNDING = 1e-9

Row = tuple[dict[int, float], float]  # by variable: its factor; the sum is at least so much
Stops = frozenset[int]  # positions of the candidates any of which stops a way to fail


@dataclass(frozen=True, slots=True)
class AvailabilityChoice:
    budget: float
    chosen: tuple[Candidate, ...]  # the highest rank first
    cost: float
    per_day: float  # requests of all classes
    failed_before: float  # per day
    failed_per_day: float
    at_least: float  # no choice within the budget gets below this
    proven: bool  # that no choice is better by more than a millionth

    @property
    def availability(self) -> float:
        return 1 - self.failed_per_day / self.per_day if self.per_day else 1.0


@dataclass(frozen=True, slots=True)
class _Ways:
    """How requests of a class can fail, by what would stop it."""

    per_day: float
    cuts: Mapping[Stops, Sequence[EventCut]]  # the likeliest first
    likely: Mapping[Stops, float]  # failures per day if it were the only way
    rates: Mapping[BasicEvent, float]
    order: Sequence[BasicEvent]
    complete: bool = True  # or are there ways that were left out, as the diagram would have been too large?
    # By what is left: how many failures per day each way has if those that are left come first.
    shares: dict[frozenset[Stops], dict[Stops, float]] = field(default_factory=dict)
    bounds: list[dict[Stops, float]] = field(default_factory=list)  # those of the shares that the program knows

    def failed(self, hardened: Collection[int]) -> float:
        """Per day."""
        left = self._left(hardened)
        if left not in self.shares:
            diagrams = Diagrams(self.order, MAX_NODES)
            failing, upto = diagrams.any_of(()), []
            ordered = sorted(self.cuts, key=lambda stops: stops not in left)
            for stops in ordered:
                failing = diagrams.any_of([failing, *map(diagrams.cut, self.cuts[stops])])
                upto.append(failing)
            values = diagrams.probabilities(self.rates)
            steps = np.diff([0.0, *(values[diagram] for diagram in upto)]) * self.per_day
            self.shares[left] = dict(zip(ordered, np.maximum(steps, 0.0).tolist(), strict=True))
        return fsum(self.shares[left][stops] for stops in left)

    def add_bound(self, hardened: Collection[int], tolerance: float) -> bool:
        """If the bounds so far are off by more than that."""
        left = self._left(hardened)
        bound = max((fsum(known[stops] for stops in left) for known in self.bounds), default=-1.0)
        if self.failed(hardened) <= bound + tolerance:
            return False
        self.bounds.append(self.shares[left])
        return True

    def _left(self, hardened: Collection[int]) -> frozenset[Stops]:
        return frozenset(stops for stops in self.cuts if stops.isdisjoint(hardened))


def best_for_availability(
    classes: Iterable[RequestClass],
    candidates: Sequence[Candidate],
    budget: float,
    rates: Rates,
    *,
    residual: float = 0.0,
    required: Iterable[Collection[int]] = (),
) -> AvailabilityChoice | None:
    """The choice that leaves the fewest failed requests per day; None if the budget does not allow what is required.

    `residual` is the share of failures that still gets past what is hardened. Of each set in `required`, positions of
    candidates, one at least has to be hardened: the weaknesses of high-priority requests.
    """
    classes = tuple(classes)
    already = frozenset(index for index, each in enumerate(candidates) if each.already)
    clauses = {frozenset(clause) for clause in required if already.isdisjoint(clause)}
    ways = [_ways_of(request, candidates, rates, residual) for request in classes]
    before = _failed(ways, ())
    best, failed, at_least = _narrowed(ways, candidates, budget, clauses, before)
    if best is None:
        return None
    best = _without_needless(best, ways, candidates, clauses)
    chosen = [candidates[index] for index in best]
    return AvailabilityChoice(
        budget=budget,
        chosen=tuple(sorted(chosen, key=lambda each: (-each.rank, each.name))),
        cost=fsum(each.cost for each in chosen),
        per_day=fsum(request.per_day for request in classes),
        failed_before=before,
        failed_per_day=failed,
        at_least=min(at_least, failed),
        proven=at_least >= failed * (1 - PROVEN) and all(each.complete for each in ways),
    )


def _narrowed(
    ways: Sequence[_Ways], candidates: Sequence[Candidate], budget: float, required: Collection[Stops], before: float
) -> tuple[frozenset[int] | None, float, float]:
    """The best choice found, what fails with it, and what no choice gets below, when both agree or nothing helps."""
    best: frozenset[int] | None = None if required else frozenset()
    failed, at_least = before, 0.0
    for _ in range(MAX_ROUNDS):
        if at_least >= failed * (1 - PROVEN) and best is not None:
            break
        answer = _least_by_bounds(ways, candidates, budget, required, failed, known=best is not None)
        if answer is None:
            break
        at_least = max(at_least, answer[1])
        try:
            reached = _failed(ways, answer[0])
        except TooLargeError:
            break
        better = best is None or reached < failed
        if better:
            best, failed = answer[0], reached
        added = [each.add_bound(answer[0], PROVEN / 4 * failed / len(ways)) for each in ways]
        if not better and not any(added):
            break  # nothing new: the solver's floating point leaves a gap
    return best, failed, at_least


def _failed(ways: Iterable[_Ways], hardened: Collection[int]) -> float:
    return fsum(each.failed(hardened) for each in ways)


def _ways_of(request: RequestClass, candidates: Sequence[Candidate], rates: Rates, residual: float) -> _Ways:
    position = {each.name: index for index, each in enumerate(candidates) if each.already or not each.untouchable}
    formula, event_rates = formula_of(request, rates, {})
    cuts: dict[Stops, list[EventCut]] = {}
    for cut in formula:
        sites = {request.sites_of(clause[0]) for clause in cut if isinstance(clause[0], Point)}
        guards = [guard for guard in sites if guard <= position.keys() and not any(other < guard for other in sites)]
        # Of each point that can be hardened, one site at least is not, or lets the failure pass.
        options = [
            [(site, hardened) for site in sorted(guard) for hardened in (False, True)
             if (residual if hardened else not candidates[position[site]].already)]
            for guard in sorted(guards, key=sorted)
        ]  # fmt: skip
        for way in product(*options):
            stops = frozenset(position[site] for site, hardened in way if not hardened)
            passed = dict.fromkeys(Passed(site) for site, hardened in way if hardened)
            cuts.setdefault(stops, []).append((*cut, *((event,) for event in passed)))
            event_rates |= dict.fromkeys(passed, residual)
    likely = {stops: request.per_day * solve(same, event_rates).probability for stops, same in cuts.items()}
    order = sorted(cuts, key=lambda stops: (-likely[stops], sorted(stops)))
    kept = len(order)
    while True:
        own = {stops: cuts[stops] for stops in order[:kept]}
        events = good_order([cut for same in own.values() for cut in same])
        ways = _Ways(request.per_day, own, likely, event_rates, events, complete=kept == len(order))
        try:
            ways.add_bound((), 0.0)
        except TooLargeError:
            kept //= 2
        else:
            return ways


def _least_by_bounds(
    ways: Sequence[_Ways],
    candidates: Sequence[Candidate],
    budget: float,
    required: Collection[Stops],
    failed: float,
    *,
    known: bool,
) -> tuple[frozenset[int], float] | None:
    """The best choice as far as the bounds tell, and what no choice within the budget gets below.

    All is in units of `failed`. If a choice is known that achieves this, ways that are worse alone have to be stopped:
    so no number is much larger than another, which floating point would not bear.
    """
    unit = failed or 1.0
    worse = {stops for each in ways for stops in each.cuts if each.likely[stops] > failed * (1 + ROUNDING)}
    must = set(required) | worse if known else set(required)
    usable = [index for index, each in enumerate(candidates) if not each.untouchable and not each.already]
    column = {index: number for number, index in enumerate(usable)}
    joint = {stops for each in ways for stops in each.cuts if len(stops) > 1} - must
    still_open = {stops: len(column) + number for number, stops in enumerate(sorted(joint, key=sorted))}
    first = len(column) + len(still_open)
    rows = [({column[index]: 1.0 for index in stops if index in column}, 1.0) for stops in must]
    rows += [({number: 1.0, **{column[index]: 1.0 for index in stops}}, 1.0) for stops, number in still_open.items()]
    rows.append(({column[index]: -candidates[index].cost for index in usable}, -budget - ROUNDING))
    aim, constant = np.zeros(first + len(ways)), 0.0
    for number, each in enumerate(ways, first):
        bounds = [{stops: share for stops, share in bound.items() if stops not in must} for bound in each.bounds]
        # What a class fails is in units of its own, so that small ones are not lost to the solver's tolerances.
        own = max(fsum(bound.values()) for bound in bounds) or unit
        of_class = [
            _bound({stops: share / own for stops, share in bound.items()}, column, still_open) for bound in bounds
        ]
        if len(of_class) == 1:  # needs no variable: it fails just as much as the bound says
            ((row, lower),) = of_class
            constant += lower * own / unit
            aim[list(row)] -= np.array(list(row.values())) * own / unit
        else:
            aim[number] = own / unit
            rows += [({**row, number: 1.0}, lower) for row, lower in of_class]
    found = _least(aim, len(column), first, rows)
    if found is None:
        return None
    values, least = found
    return frozenset(index for index, number in column.items() if values[number] > 0.5), (least + constant) * unit


def _least(
    aim: NDArray[np.float64], choices: int, shares: int, rows: Sequence[Row]
) -> tuple[NDArray[np.float64], float] | None:
    """Variables that keep all rows, and what no others get below; the first are whole numbers, the next at most 1."""
    entries = [(number, column, value) for number, (row, _) in enumerate(rows) for column, value in row.items()]
    numbers, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    variables = np.arange(len(aim))
    result = milp(
        aim,
        integrality=variables < choices,
        bounds=Bounds(0, np.where(variables < shares, 1.0, np.inf)),
        constraints=LinearConstraint(
            csr_array((values, (numbers, columns)), shape=(len(rows), len(aim))), [lower for _, lower in rows], np.inf
        ),
        # The gap is relative to the aim, which may be a difference of larger numbers; ours is to the result, about 1.
        options={"mip_rel_gap": PROVEN / 10 / max(1.0, abs(aim).sum()), "node_limit": MAX_BRANCHES},
    )
    if result.x is None:
        assert result.status == 2, result.message  # infeasible
        return None
    return result.x, float(result.mip_dual_bound if choices else result.fun)


def _bound(shares: Mapping[Stops, float], column: Mapping[int, int], still_open: Mapping[Stops, int]) -> Row:
    """What a class fails, minus the shares of the ways that are still open, is not negative."""
    row: dict[int, float] = {}
    constant = 0.0
    for stops, share in shares.items():
        if stops in still_open:
            row[still_open[stops]] = -share
        else:  # open unless its only candidate is chosen
            constant += share
            row |= {column[index]: share for index in stops}
    return row, constant


def _without_needless(
    chosen: frozenset[int], ways: Sequence[_Ways], candidates: Sequence[Candidate], required: Collection[Stops]
) -> frozenset[int]:
    """The program does not care what is left of the budget."""
    for index in sorted(chosen, key=lambda index: (-candidates[index].cost, candidates[index].rank)):
        fewer = chosen - {index}
        concerned = [each for each in ways if any(index in stops for stops in each.cuts)]
        allowed = not any(clause.isdisjoint(fewer) for clause in required)
        if allowed and _failed(concerned, fewer) <= _failed(concerned, chosen) * (1 + ROUNDING):
            chosen = fewer
    return chosen
