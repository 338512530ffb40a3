"""Lineage-driven fault injection, in the two readings that were measured: solve, try every solution, solve again.

`one_per_path`, which is `--strategy ldfi`: what the authors of MicroFI ran and published (`basic_ldfi.py` and
`utils/z3_solver.py` of github.com/chenhy97/MicroFI). Of the formula's solutions it drops, as redundant, those with two
points of one path; what is left hits each path once. So of APIs with replicas each is looked at by itself, and no two
together, as their logs show: `benchmarks.microfi_counts` takes as many injections as these have different sets.

- Nothing is complete beyond what its candidates happened to decide: "fail if two of three replicas do" is lost, since
  the three are on one path. `complete_up_to` says so.
- The published program solves after each survivor, and tries what the newer formula has before the rest of the older.
  Here a round is one formula's candidates, so that they can run at the same time; on the authors' systems these are
  the same sets.
- It repeats sets that it has tried, see `benchmarks.microfi_counts`. No strategy here does.

Otherwise: what FastFI §2.1 and §4.2.1 describe and measure, "standardised with dynamic configuration". All minimal
solutions are candidates; the size k starts at 1, all candidates of at most k points are tried even when a survivor
among them has made others pointless meanwhile, and k rises when none is left. Complete up to the size asked for if the
request is monotone, see `cutset.search.clauses`. Known gaps: FastFI's LDFI takes more experiments than its MicroFI, so
it seems to repeat what it has tried, too.
"""

from collections.abc import Iterator
from itertools import islice

from cutset.model.outcome import Points
from cutset.search.clauses import LineageSearch
from cutset.search.strategy import SearchSettings

# The solutions of one formula can be millions; a round beyond this is cut short, and the next one solves anew. Nothing
# is lost by it.
MOST_PER_ROUND = 10_000


class Ldfi(LineageSearch):
    def __init__(self, settings: SearchSettings, *, one_per_path: bool = False) -> None:
        super().__init__(settings)
        self._one_per_path = one_per_path
        if one_per_path:
            self._assumption += "; as published, no two points of one path are failed together"

    def _plan(self) -> list[Points]:
        if self._one_per_path:
            return self._admitted(self._clauses.hitting_once(self._settings.max_size))
        while True:
            cuts = self._admitted(self._clauses.hitting_sets(self._size))
            if cuts or self._size >= self._settings.max_size:
                return cuts
            self._size += 1

    def _admitted(self, candidates: Iterator[Points]) -> list[Points]:
        return list(islice(filter(self._admit, candidates), MOST_PER_ROUND))

    def _decided_up_to(self) -> int:
        if not self._one_per_path:
            return super()._decided_up_to()
        for size in range(self._settings.max_size + 1):
            if not all(map(self._is_settled, self._clauses.hitting_sets(size))):
                return size - 1
        return self._settings.max_size
