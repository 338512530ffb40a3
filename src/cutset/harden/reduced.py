"""A hardening problem in whole numbers, without what decides nothing: common ground of `choose` and `frontier`.

Whole numbers make "optimal" a claim that can be checked: costs are multiples of a unit; so are weights and ranks, if
need be rounded to 0.001 % of the largest. What is left out:

- candidates that are untouchable, and weaknesses that only they could mitigate (lost) or that are mitigated already;
- weaknesses with the same clauses, which become one; clauses of high-priority weaknesses that others imply;
  low-priority weaknesses that are mitigated wherever the high-priority ones are;
- candidates of which another one is in all the same clauses, costs no more and ranks no lower.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, isfinite, lcm

from cutset.errors import InputError
from cutset.harden.problem import Problem

MOST_DECIMALS = 6  # of costs: beyond it, whole numbers get too large for a solver that computes in floating point
STEPS = 10**5  # that the largest weight has: more would be finer than the solver's tolerance of 1e-6

CandidateClause = frozenset[int]


@dataclass(frozen=True, slots=True)
class Soft:
    clauses: tuple[CandidateClause, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Reduced:
    """Clauses hold positions in `Problem.candidates`, as far as they still matter."""

    costs: dict[int, int]  # of the candidates that are left
    ranks: dict[int, int]
    hard: tuple[CandidateClause, ...]
    soft: tuple[Soft, ...]
    covered: int  # weight of what is mitigated whenever the hard clauses are
    total: int  # weight of all low-priority weaknesses
    cost_unit: float
    weight_unit: float
    impossible: tuple[
        str, ...
    ]  # high-priority requests with a weakness that only untouchable candidates could mitigate


def reduced(problem: Problem) -> Reduced:
    return without_dominated(in_whole_numbers(problem))


def in_whole_numbers(problem: Problem) -> Reduced:
    """All but the last of what is left out: each minimal choice of candidates is still there."""
    costs, cost_unit = _whole_costs([each.cost for each in problem.candidates])
    weights, weight_unit = _rounded([each.weight for each in problem.weaknesses])
    ranks, _ = _rounded([each.rank for each in problem.candidates])
    already, allowed = problem.already, {i for i, each in enumerate(problem.candidates) if not each.untouchable}
    hard: set[CandidateClause] = set()
    weight_of: dict[frozenset[CandidateClause], int] = {}
    impossible: set[str] = set()
    covered = total = 0
    for weakness, weight in zip(problem.weaknesses, weights, strict=True):
        total += 0 if weakness.hard else weight
        clauses = frozenset(clause & allowed for clause in weakness.clauses if clause.isdisjoint(already))
        if weakness.hard:
            hard |= clauses - {frozenset()}
            if frozenset() in clauses:
                impossible.add(weakness.request)
        elif not clauses:
            covered += weight
        elif frozenset() not in clauses:
            weight_of[clauses] = weight_of.get(clauses, 0) + weight
    needed = _without_implied(hard)
    soft, certain = _without_certain(weight_of, needed)
    used = _used(needed, soft)
    return Reduced(
        costs={index: costs[index] for index in used},
        ranks={index: ranks[index] for index in used},
        hard=tuple(sorted(needed, key=sorted)),
        soft=_in_order(soft),
        covered=covered + certain,
        total=total,
        cost_unit=cost_unit,
        weight_unit=weight_unit,
        impossible=tuple(sorted(impossible)),
    )


def without_dominated(small: Reduced) -> Reduced:
    """Without candidates that another one can always stand in for."""
    clauses = [*small.hard, *dict.fromkeys(clause for each in small.soft for clause in each.clauses)]
    dominated = _dominated(clauses, small.costs, small.ranks)
    needed = _without_implied({clause - dominated for clause in small.hard})
    soft: dict[frozenset[CandidateClause], int] = {}
    for each in small.soft:
        fewer = frozenset(clause - dominated for clause in each.clauses)
        soft[fewer] = soft.get(fewer, 0) + each.weight
    used = _used(needed, soft)
    return replace(
        small,
        costs={index: small.costs[index] for index in used},
        ranks={index: small.ranks[index] for index in used},
        hard=tuple(sorted(needed, key=sorted)),
        soft=_in_order(soft),
    )


def _without_certain(
    weight_of: Mapping[frozenset[CandidateClause], int], needed: Iterable[CandidateClause]
) -> tuple[dict[frozenset[CandidateClause], int], int]:
    """Low-priority weaknesses without the clauses that hard ones imply, and the weight of those with no other."""
    by_lowest: dict[int, list[CandidateClause]] = {}
    for clause in needed:
        by_lowest.setdefault(min(clause), []).append(clause)
    left: dict[frozenset[CandidateClause], int] = {}
    certain = 0
    for clauses, weight in weight_of.items():
        if open_clauses := frozenset(clause for clause in clauses if not _is_implied(clause, by_lowest)):
            left[open_clauses] = left.get(open_clauses, 0) + weight
        else:
            certain += weight
    return left, certain


def _used(hard: Iterable[CandidateClause], soft: Iterable[Iterable[CandidateClause]]) -> list[int]:
    return sorted(set().union(*hard, *(clause for each in soft for clause in each)))


def _in_order(soft: Mapping[frozenset[CandidateClause], int]) -> tuple[Soft, ...]:
    return tuple(
        Soft(tuple(sorted(each, key=sorted)), soft[each]) for each in sorted(soft, key=lambda s: sorted(map(sorted, s)))
    )


def _whole_costs(costs: Sequence[float]) -> tuple[list[int], float]:
    for cost in costs:
        if not (isfinite(cost) and cost > 0 and float(_fraction(cost)) == cost):
            raise InputError(f"A cost of {cost}: expected more than 0, with at most {MOST_DECIMALS} decimals")
    return _multiples([_fraction(cost) for cost in costs])


def _rounded(numbers: Sequence[float]) -> tuple[list[int], float]:
    """Simple numbers stay what they are, others are rounded to a small share of the largest, but never to nothing."""
    exact, unit = _multiples([_fraction(number) for number in numbers])
    largest = max(numbers, default=0)
    lost = any(number and not whole for number, whole in zip(numbers, exact, strict=True))
    if max(exact, default=0) <= STEPS and not lost:
        return exact, unit
    return [max(1, round(number / largest * STEPS)) if number else 0 for number in numbers], largest / STEPS


def _fraction(number: float) -> Fraction:
    return Fraction(str(number)).limit_denominator(10**MOST_DECIMALS)


def _multiples(numbers: Sequence[Fraction]) -> tuple[list[int], float]:
    """Of the largest unit that all are multiples of: a budget then is kept to the last cent."""
    denominator = lcm(*(number.denominator for number in numbers))
    whole = [int(number * denominator) for number in numbers]
    unit = gcd(*whole) or 1
    return [number // unit for number in whole], unit / denominator


def _without_implied(clauses: Iterable[CandidateClause]) -> list[CandidateClause]:
    """A clause that contains another one is satisfied with it."""
    needed: list[CandidateClause] = []
    index: dict[int, list[CandidateClause]] = {}
    for clause in sorted(set(clauses), key=len):
        if not _is_implied(clause, index):
            needed.append(clause)
            index.setdefault(min(clause), []).append(clause)
    return needed


def _is_implied(clause: CandidateClause, by: Mapping[int, Sequence[CandidateClause]]) -> bool:
    """`by` has clauses by their lowest candidate: only few have to be looked at."""
    return any(other <= clause for candidate in clause for other in by.get(candidate, ()))


def _dominated(
    clauses: Sequence[CandidateClause], costs: Mapping[int, int], ranks: Mapping[int, int]
) -> frozenset[int]:
    occurrences: dict[int, set[int]] = {}
    for number, clause in enumerate(clauses):
        for index in clause:
            occurrences.setdefault(index, set()).add(number)
    gone: set[int] = set()
    for index in sorted(occurrences, reverse=True):  # of equals, the first stays
        own = occurrences[index]
        rarest = min((clauses[number] for number in own), key=len)
        for other in rarest - {index} - gone:  # whatever stands in for it is in each of its clauses
            as_good = costs[other] <= costs[index] and ranks[other] >= ranks[index]
            if as_good and own <= occurrences[other]:
                gone.add(index)
                break
    return frozenset(gone)
