"""Lineage-driven fault injection, as FastFI §2.1 and §4.2.1 describe it: solve, try every solution, solve again.

The reading behind the baselines of FastFI's Table 5, "standardised with dynamic configuration": the size k starts at 1,
all candidates of at most k points are tried even when a survivor among them has made others pointless meanwhile, and k
rises when none is left. So a round has all candidates of the present k.

Known gaps: FastFI's LDFI takes more experiments than its MicroFI, so it seems to repeat what it has tried; no strategy
here does. Complete up to the size asked for if the request is monotone, see `cutset.search.clauses`.
"""

from itertools import islice

from cutset.model.outcome import Points
from cutset.search.clauses import LineageSearch

# The solutions of one formula can be millions; a round beyond this is cut short, and the next one solves anew. Nothing
# is lost by it.
MOST_PER_ROUND = 10_000


class Ldfi(LineageSearch):
    def _plan(self) -> list[Points]:
        while True:
            candidates = self._clauses.hitting_sets(self._size)
            cuts = list(islice(filter(self._admit, candidates), MOST_PER_ROUND))
            if cuts or self._size >= self._settings.max_size:
                return cuts
            self._size += 1
