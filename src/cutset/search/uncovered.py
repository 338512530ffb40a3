"""The sets of faults that no clause covers: what is still to be tried.

A clause covers what contains its condition and misses its zone. So an uncovered set hits the zone of each clause whose
condition it contains: the minimal uncovered sets are minimal hitting sets of the clauses without a condition, extended,
where they meet conditions, by faults of those zones.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from cutset.search.bitset import bits
from cutset.search.hitting_sets import minimal_hitting_sets


@dataclass(frozen=True, slots=True)
class Clause:
    """Whatever contains `condition` and misses `zone` is covered."""

    zone: int
    condition: int = 0

    def covers(self, candidate: int) -> bool:
        return not candidate & self.zone and self.condition & candidate == self.condition

    def implies(self, other: "Clause") -> bool:
        return self.zone & other.zone == self.zone and self.condition & other.condition == self.condition


class Cover:
    """Finds a clause that covers a set: by its condition, since sets are small and clauses many."""

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self._by_condition: dict[int, list[Clause]] = {}
        for clause in clauses:
            self._by_condition.setdefault(clause.condition, []).append(clause)

    def clause_for(self, candidate: int) -> Clause | None:
        subsets = 1 << candidate.bit_count()
        for condition in _subsets(candidate) if subsets < len(self._by_condition) else self._by_condition:
            for clause in self._by_condition.get(condition, ()):
                if clause.covers(candidate):
                    return clause
        return None


def _subsets(of: int) -> Iterator[int]:
    subset = of
    while subset:
        yield subset
        subset = (subset - 1) & of
    yield 0


def strongest(clauses: Iterable[Clause]) -> list[Clause]:
    """Without those that others imply."""
    kept: list[Clause] = []
    by_condition: dict[int, list[Clause]] = {}
    for clause in sorted(set(clauses), key=lambda each: (each.zone.bit_count(), each.condition.bit_count())):
        few = 1 << clause.condition.bit_count() < len(by_condition)
        conditions = _subsets(clause.condition) if few else by_condition
        if not any(other.implies(clause) for each in conditions for other in by_condition.get(each, ())):
            kept.append(clause)
            by_condition.setdefault(clause.condition, []).append(clause)
    return kept


class OutOfPatienceError(Exception):
    """The enumeration took too long; all sets smaller than `size` had been served."""

    def __init__(self, size: int) -> None:
        super().__init__(f"too many sets of {size} faults")
        self.size = size


def uncovered_sets(
    clauses: Sequence[Clause],
    max_size: int,
    *,
    accepted: Collection[int] = (),
    everything: int = 0,
    is_plan: Callable[[int], bool] = lambda _: True,
    patience: int = 1_000_000,
) -> Iterator[int]:
    """Each set of at most so many faults that no clause covers contains one of these. The smallest first.

    Sets that are accepted count as covered, but not what contains them: they are extended by any fault of `everything`.
    Sets that are no plan are left out, as is what contains them.
    Patience is in steps of a few microseconds; raises OutOfPatienceError.
    """
    conditional = Cover(clause for clause in clauses if clause.condition)
    unconditional = [clause.zone for clause in clauses if not clause.condition]
    steps = iter(range(patience))
    larger: list[set[int]] = [set() for _ in range(max_size + 2)]  # by size: what is covered, with one more point
    for size in range(max_size + 1):
        hitting = minimal_hitting_sets(
            unconditional, size, min_size=size, may_go_on=lambda: next(steps, None) is not None
        )
        for candidate in chain(sorted(larger[size]), (each for each in hitting if each not in larger[size])):
            if next(steps, None) is None:
                raise OutOfPatienceError(size)
            if not is_plan(candidate):
                continue
            covering = conditional.clause_for(candidate)
            if covering is None and candidate not in accepted:
                yield candidate
            else:
                for fault in bits((covering.zone if covering else everything) & ~candidate):
                    larger[size + 1].add(candidate | fault)
        if next(steps, None) is None:  # it may have run out between two sets
            raise OutOfPatienceError(size)
