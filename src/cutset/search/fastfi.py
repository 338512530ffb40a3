"""FastFI's dynamic k-fault injection (§3.2.2, Algorithm 2): one candidate at a time, solved anew after every survivor.

As printed, k rises only when no set of at most k points hits every path. A failing cut hits every path forever, so the
search never goes beyond the smallest size at which anything fails: it returns exactly the failing cuts of minimum
cardinality. One single point of failure hides all combinations. `repaired=True` raises k whenever the candidates of at
most k points have all been tried, and finds every minimal cut up to the size asked for.

Algorithm 1 (`benchmarks.fastfi_solver`) returns all solutions anew after every survivor, far too many with six
replicas; the candidates here are the same ones in the same order, generated as they are needed. Its `best_depth` makes
no difference as printed, where all solutions have the same size, and would lose cuts in the repaired search; it is left
out of both.

Where the text is open: literals are in the order of their names, and a request counts as failed by its verdict alone.
Both searches believe that a call which served a surviving request keeps it alive whatever else fails, and lose cuts
where a tolerated failure hides a mandatory call.
"""

from collections.abc import Iterator

from cutset.model.outcome import Points
from cutset.search.clauses import LineageSearch
from cutset.search.strategy import SearchSettings


class FastFi(LineageSearch):
    def __init__(self, settings: SearchSettings, *, repaired: bool = False) -> None:
        super().__init__(settings)
        self._repaired = repaired
        self._candidates: Iterator[Points] = iter(())
        self._solved = (-1, -1)
        if not repaired:
            self._assumption += "; as printed, only the smallest size at which anything fails is searched"

    def _plan(self) -> list[Points]:
        while True:
            if self._solved != (len(self._clauses), self._size):
                self._solved = (len(self._clauses), self._size)
                self._candidates = self._clauses.hitting_sets(self._size)
            cut = next(filter(self._admit, self._candidates), None)
            if cut is not None:
                return [cut]
            if self._size >= self._settings.max_size or (not self._repaired and self._has_solutions()):
                return []
            self._size += 1

    def _has_solutions(self) -> bool:
        return next(self._clauses.hitting_sets(self._size), None) is not None
