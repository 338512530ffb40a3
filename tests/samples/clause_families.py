"""Families of clauses as bit sets, and their minimal hitting sets by trying everything."""

from itertools import combinations
from math import comb

from hypothesis import strategies as st

POINTS = 9
families = st.lists(st.integers(1, 2**POINTS - 1), max_size=8)
# Few distinct clauses over many points: most points are interchangeable.
grouped_families = st.lists(st.sampled_from([0b111, 0b111000, 0b111111, 0b111000000, 0b100100100]), max_size=4)


def by_brute_force(clauses: list[int], max_size: int, points: int = POINTS) -> list[int]:
    """The smallest first."""
    minimal: list[int] = []
    for size in range(max_size + 1):
        for chosen in (sum(1 << point for point in some) for some in combinations(range(points), size)):
            if all(chosen & clause for clause in clauses) and not any(known & chosen == known for known in minimal):
                minimal.append(chosen)
    return minimal


def grouped_skeleton(edges: int, groups: int, bones: int) -> list[int]:
    """FastFI §4.1.1: per group a short and a long path that share `bones` points."""
    short = 3 * edges // 10
    clauses, first = [], 0
    for _ in range(groups):
        both = [(1 << bones) - 1 << first, 0, 0]
        both[1] = (1 << short - bones) - 1 << first + bones
        both[2] = (1 << edges - short - bones) - 1 << first + short
        clauses += [both[0] | both[1], both[0] | both[2]]
        first += edges - bones
    return clauses


def number_of_sets(edges: int, groups: int, bones: int, max_size: int) -> int:
    short = 3 * edges // 10
    pairs = (short - bones) * (edges - short - bones)
    return sum(comb(groups, j) * bones ** (groups - j) * pairs**j for j in range(groups + 1) if groups + j <= max_size)
