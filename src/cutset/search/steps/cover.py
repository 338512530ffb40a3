"""Cover: to prove that nothing else fails, inject complements of chosen paths, which are expected to survive.

Each such survivor certifies all the sets that miss its path. Where one skeleton serves for all, choosing the paths is
a covering-array problem (`cutset.search.steps.covering_array`); otherwise they are chosen one by one
(`cutset.search.steps.skeleton`).
"""

from collections.abc import Sequence

from cutset.search.bitset import bits
from cutset.search.steps.covering_array import choose_paths
from cutset.search.steps.skeleton import Skeleton, best_path
from cutset.search.steps.state import (
    RoundPlan,
    SearchState,
    in_size,
    is_plainly_replicated,
    settled_sets,
    some_open_sets,
)
from cutset.search.uncovered import Clause, strongest

COVER_EFFORT = 400  # see `choose_paths`: a few seconds for the largest requests, which an experiment is worth


def cover(state: SearchState, *, expected: Sequence[int] = ()) -> RoundPlan:
    """Sets that are expected to survive and then leave nothing uncovered, if what is expected to fail does."""
    settled = [*settled_sets(state.evidence), *expected]
    skeletons = _skeletons(state)
    rows = _covering_array(state, skeletons, settled) or _covering_greedily(state, skeletons, settled)
    if not is_plainly_replicated(state.evidence):
        rows = rows[: state.cover_window]
    targets = dict(rows)
    return RoundPlan(tuple(targets), targets)


def _skeletons(state: SearchState) -> list[Skeleton]:
    """Without those for which a shorter one serves as well."""
    evidence = state.evidence
    exact = not evidence.infers_by_hidden_calls()
    found: dict[tuple[int, int], Skeleton] = {}
    for known in evidence.certificates:
        hidden = evidence.hidden_by(known) | evidence.elements.in_faults(evidence.wavering_in(known))
        skeleton = Skeleton(evidence.elements.in_calls(known.path), known.failed, hidden, exact and bool(known.failed))
        key = (skeleton.calls, skeleton.failed if exact else hidden)
        if key not in found or skeleton.failed.bit_count() < found[key].failed.bit_count():
            found[key] = skeleton
    free = [each for each in found.values() if not each.hidden and not each.conditional]
    return [
        each
        for each in found.values()
        if not any(other.calls & each.calls == other.calls != each.calls for other in free)
    ]


def _covering_array(state: SearchState, skeletons: list[Skeleton], settled: list[int]) -> list[tuple[int, int]]:
    """Where one skeleton serves for all: the complements of paths by `choose_paths`, without targets of their own."""
    evidence = state.evidence
    free = [each for each in skeletons if each.calls and not each.hidden and not each.conditional]
    if len(free) != 1 or state.share < 1 or (len(skeletons) > 1 and evidence.infers_by_hidden_calls()):
        return []
    skeleton = free[0]
    columns = [evidence.elements.in_faults(call) for call in bits(skeleton.calls)]
    # A path has a point of each column, so it cannot certify what contains all of one.
    whole = [column for column in columns if in_size(state, column)]
    if not all(any(column & cut == column for column in whole) for cut in settled if in_size(state, cut)):
        return []
    seen = [clause.zone for clause in evidence.clauses() if not clause.condition]
    paths = choose_paths(
        columns, seen, whole + settled, state.settings.max_size, random=state.random, effort=COVER_EFFORT
    )
    everything = evidence.elements.in_faults(skeleton.calls)
    cuts = [skeleton.failed | everything & ~path for path in paths]
    return [(cut, 0) for cut in cuts if cut not in state.asked and not evidence.contains_failing(cut)]


def _covering_greedily(state: SearchState, skeletons: list[Skeleton], settled: list[int]) -> list[tuple[int, int]]:
    """The path that covers most of what is left, again and again: its complement, with the target."""
    evidence, asked = state.evidence, state.asked
    settled = list(settled)
    clauses = list(evidence.clauses())
    targets: dict[int, int] = {}
    window = len(asked) + 64 if is_plainly_replicated(evidence) else state.cover_window
    while len(targets) < window:
        candidates = some_open_sets(state, clauses, settled)
        if not candidates:
            break
        best = best_path(skeletons, candidates, settled, evidence, state.random)
        if best is None:  # no path that we can foresee covers any of them
            target = cut = min(candidates, key=int.bit_count)
        else:
            skeleton, path, covered = best
            target = state.random.choice(covered)
            cut = _softened(state, skeleton.failed | evidence.elements.in_faults(skeleton.calls) & ~path, target)
        if cut in asked:  # and it did not do what was expected of it
            cut = target
        if cut not in asked:
            targets.setdefault(cut, target)
        if best is None or cut == target or state.share < 1 or skeleton.hidden:
            settled.append(target)
        else:
            condition = skeleton.failed if skeleton.conditional else 0
            clauses = strongest([*clauses, Clause(path | skeleton.hidden, condition)])
    return list(targets.items())


def _softened(state: SearchState, cut: int, target: int) -> int:
    """After failures that nothing of the maximal size explains, fewer calls get faults beyond the target's."""
    if state.share >= 1:
        return cut
    calls = list(bits(state.evidence.elements.in_calls(cut & ~target)))
    kept = sum(state.random.sample(calls, int(state.share * len(calls))))
    softened = target | cut & state.evidence.elements.in_faults(kept)
    return target if state.evidence.contains_failing(softened) else softened
