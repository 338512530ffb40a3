"""Superpose: sets whose parts are known, and do not clash, are injected many at a time, as rows of a covering array.

`cutset.search.superposition` says what a row then proves. What cannot be foretold is injected itself: single failures,
calls that have just appeared, parts that clash; and what a row was to decide and did not. Of a row that failed, or in
which something new happened, no more than half are injected together again. Once there were as many rounds as exact
certificates take, nothing is merged: further rows decide little more than their members alone, and take further rounds.
"""

from dataclasses import dataclass
from random import Random

from cutset.search.bitset import bits
from cutset.search.observed_run import NOT_CALLED
from cutset.search.steps.state import RoundPlan, SearchState, by_promise, in_size, settled_sets
from cutset.search.superposition import Superposition

ROWS_TRIED = 8  # for each that is chosen


def superpose(state: SearchState) -> RoundPlan:
    evidence, inference = state.evidence, state.evidence.superposition
    opened = list(inference.open_sets(settled_sets(evidence), evidence.accepted, state.settings.max_size))
    direct = {*state.owed, *evidence.fired_in_failures()}
    if state.rounds > state.settings.max_size:  # a round for each size, with the fault-free one
        direct |= {each.cut for each in opened}
    alone = [each.cut for each in opened if not each.may_be_merged or each.cut in direct]
    merged = {each.cut for each in opened if each.may_be_merged} - direct
    targets = _rows(state, merged)
    cuts = [cut for cut in by_promise(state, alone) if cut not in state.asked]
    return RoundPlan((*cuts, *(row for row in targets if row not in cuts)), targets)


def _rows(state: SearchState, left: set[int]) -> dict[int, int]:
    """Greedily: the row that contains most of what is left, again and again; each with one of those sets."""
    table = _Table(state.evidence.superposition, state.evidence.failing, _broken(state), state.settings.max_size)
    rows: dict[int, int] = {}
    while left:
        tried = [table.row(left, state.random) for _ in range(ROWS_TRIED)]
        row, target = max(tried, key=lambda each: sum(cut & each[0] == cut for cut in left))
        left = {cut for cut in left if cut & row != cut}
        row = target if row in state.asked or row in table.inference.leaves else row
        if row not in state.asked:
            rows[row] = target
    return rows


def _broken(state: SearchState) -> list[int]:
    """Larger sets that failed for no known reason, or did what their parts do not explain."""
    evidence, inference = state.evidence, state.evidence.superposition
    failed = [
        fired
        for fired in evidence.fired_in_failures()
        if not in_size(state, fired) and not any(in_size(state, cut) and cut & fired == cut for cut in evidence.failing)
    ]
    odd = [fired for fired in inference.leaves if not in_size(state, fired) and not inference.is_explained(fired)]
    return failed + odd


@dataclass(frozen=True, slots=True)
class _Table:
    inference: Superposition
    failing: list[int]
    broken: list[int]
    max_size: int

    def row(self, left: set[int], random: Random) -> tuple[int, int]:
        """One of the largest sets, and all that goes along with it, what occurs most first."""
        weights: dict[int, int] = {}
        for cut in left:
            for fault in bits(cut):
                weights[fault] = weights.get(fault, 0) + 1
        largest = max(map(int.bit_count, left))
        target = row = random.choice(sorted(cut for cut in left if cut.bit_count() == largest))
        for fault in sorted(weights, key=lambda each: -weights[each] * random.uniform(0.5, 1)):
            fresh = self.inference.own[fault] & ~row
            taken = row & fault or fresh & self.inference.whole(row)  # a point has one effect at a time
            if not taken and self._may_hold(row | fresh) and self._go_along(fresh, row):
                row |= fresh
        return row, target

    def _may_hold(self, row: int) -> bool:
        if any(cut & row == cut for cut in self.failing):
            return False
        return all((row & each).bit_count() <= max(self.max_size, each.bit_count() // 2) for each in self.broken)

    def _go_along(self, fresh: int, row: int) -> bool:
        return all(self._are_compatible(one, other) for one in bits(fresh) for other in bits(row))

    def _are_compatible(self, one: int, other: int) -> bool:
        """Neither hides the other, nor do they change anything else in different ways; unless that was observed."""
        own, leaves, whole = self.inference.own, self.inference.leaves, self.inference.whole
        first, second = leaves[own[one]], leaves[own[other]]
        if first.changed.get(whole(other)) == NOT_CALLED or second.changed.get(whole(one)) == NOT_CALLED:
            return False
        if own[one] | own[other] in leaves:
            return True
        return all(
            point & (one | other) or second.changed.get(point, answer) == answer
            for point, answer in first.changed.items()
        )
