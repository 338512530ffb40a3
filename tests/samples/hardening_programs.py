"""Small programs over candidates, hard clauses and soft ones, and all choices that keep the hard ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from hypothesis import strategies as st

from cutset.harden.reduced import CandidateClause, Soft


@dataclass(frozen=True, slots=True)
class Given:
    costs: dict[int, int]
    ranks: dict[int, int]
    hard: list[CandidateClause]
    soft: list[Soft]

    def choices(self) -> Iterator[tuple[frozenset[int], int, int, int]]:
        """Each that keeps the hard clauses, with what it covers, its cost and its rank."""
        for size in range(len(self.costs) + 1):
            for chosen in map(frozenset, combinations(self.costs, size)):
                if not any(clause.isdisjoint(chosen) for clause in self.hard):
                    covered = sum(
                        each.weight for each in self.soft if not any(part.isdisjoint(chosen) for part in each.clauses)
                    )
                    cost, rank = (sum(of[index] for index in chosen) for of in (self.costs, self.ranks))
                    yield chosen, covered, cost, rank


@st.composite
def programs(draw: st.DrawFn, *, fewest_soft: int = 0) -> Given:
    candidates = draw(st.lists(st.integers(0, 20), min_size=1, max_size=7, unique=True))
    clauses = st.frozensets(st.sampled_from(candidates), min_size=1, max_size=3)
    several = st.lists(clauses, min_size=1, max_size=2, unique=True).map(tuple)
    return Given(
        {each: draw(st.integers(1, 5)) for each in candidates},
        {each: draw(st.integers(0, 9)) for each in candidates},
        draw(st.lists(clauses, max_size=2)),
        draw(st.lists(st.builds(Soft, several, st.integers(1, 9)), min_size=fewest_soft, max_size=7)),
    )
