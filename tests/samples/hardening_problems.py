"""Small hardening problems, and their answers by trying everything."""

from itertools import combinations

from hypothesis import strategies as st

from cutset.harden.problem import Candidate, Problem, Weakness

REQUESTS = ("r0", "r1", "r2", "r3")


@st.composite
def problems(draw: st.DrawFn, *, several_clauses: bool = True, equal_costs: bool = False) -> Problem:
    count = draw(st.integers(1, 6))
    candidates = tuple(
        Candidate(
            f"api-{number}",
            cost=1.0 if equal_costs else draw(st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.25])),
            untouchable=draw(st.integers(0, 7)) == 0,
            already=draw(st.integers(0, 9)) == 0,
            rank=draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        )
        for number in range(count)
    )
    clause = st.frozensets(st.integers(0, count - 1), min_size=1, max_size=3)
    high = draw(st.frozensets(st.sampled_from(REQUESTS), max_size=2))
    weights = {request: draw(st.sampled_from([1.0, 1.0, 2.0, 0.3, 7.5])) for request in REQUESTS}
    weaknesses = []
    for _ in range(draw(st.integers(0, 9))):
        request = draw(st.sampled_from(REQUESTS))
        clauses = draw(st.lists(clause, min_size=1, max_size=2 if several_clauses else 1, unique=True))
        weaknesses.append(Weakness(request, tuple(clauses), weights[request], request in high))
    return Problem(candidates, tuple(weaknesses))


def all_choices(problem: Problem) -> list[tuple[float, float, float, frozenset[int]]]:
    """Covered weight, cost, rank and positions of each choice that mitigates all high-priority weaknesses."""
    free = [i for i, each in enumerate(problem.candidates) if not each.untouchable and not each.already]
    found = []
    for size in range(len(free) + 1):
        for chosen in map(frozenset, combinations(free, size)):
            after = chosen | problem.already
            if all(each.mitigated_by(after) for each in problem.weaknesses if each.hard):
                covered = sum(w.weight for w in problem.weaknesses if not w.hard and w.mitigated_by(after))
                cost = sum(problem.candidates[index].cost for index in chosen)
                rank = sum(problem.candidates[index].rank for index in chosen)
                found.append((round(covered, 6), cost, rank, chosen))
    return found


def best_of(problem: Problem, budget: float) -> tuple[float, float, float] | None:
    """Most covered, then least cost, then highest rank."""
    within = [(-covered, cost, -rank) for covered, cost, rank, _ in all_choices(problem) if cost <= budget]
    covered, cost, rank = min(within, default=(0.0, 0.0, None))
    return None if rank is None else (-covered, cost, -rank)
