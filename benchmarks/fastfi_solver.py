"""FastFI's solver for minimal hitting sets, as printed (§3.2.1, Algorithm 1): the yardstick for `hitting_sets`.

Two gaps are kept on purpose, since FastFI is what we compare with:

- `best_depth` knows the clauses that are left, not the points that were chosen. A deeper visit cannot lead to a smaller
  set, but to a *different* minimal one, and is cut all the same: of `(a | b) & (b | c) & d` with at most three points,
  {b, d} is found and {a, c, d} is missed. Only the sets of minimum cardinality are certain to be found.
- Line 8 looks a set up in a list, which takes time quadratic in the number of sets.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def dfs_based_solver(clauses: Sequence[Sequence[T]], max_size: int) -> list[frozenset[T]]:
    """Minimal hitting sets of at most `max_size` literals, in the order in which they are found.

    The lowest clause comes first and the last literal of a clause is popped first, so the order of the input decides
    about the order of the sets, and about which ones are missed.
    """
    covers: dict[T, int] = {}
    for number, clause in enumerate(clauses):
        for literal in clause:
            covers[literal] = covers.get(literal, 0) | 1 << number
    full_mask = (1 << len(clauses)) - 1
    best_depth: dict[int, int] = {}
    stack: list[tuple[int, int, frozenset[T]]] = [(full_mask, 0, frozenset())]
    minimal_solutions: list[frozenset[T]] = []
    while stack:
        uncovered, depth, chosen = stack.pop()
        if not uncovered:
            if chosen not in minimal_solutions and _is_minimal(chosen, covers, full_mask):
                minimal_solutions.append(chosen)
            continue
        if depth >= max_size or depth > best_depth.get(uncovered, max_size + 1):
            continue
        best_depth[uncovered] = depth
        lowest = (uncovered & -uncovered).bit_length() - 1
        stack += [
            (uncovered & ~covers[literal], depth + 1, chosen | {literal})
            for literal in clauses[lowest]
            if literal not in chosen
        ]
    return minimal_solutions


def _is_minimal(chosen: frozenset[T], covers: dict[T, int], full_mask: int) -> bool:
    for spared in chosen:
        covered = 0
        for literal in chosen:
            if literal != spared:
                covered |= covers[literal]
        if covered == full_mask:
            return False
    return True
