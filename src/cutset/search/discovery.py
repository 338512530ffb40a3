"""Finds replicas that nobody told of: everything seen is injected at once while new points appear.

A call is believed to be known once its loss fails the request or, after the first failure, once it has as many replicas
as any; one of them stays healthy then.
"""

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from cutset.search.bitset import bits
from cutset.search.certificates import Evidence


@dataclass(slots=True)
class Discovery:
    needed: bool
    _cut: int = 0
    _careful: bool = False

    def plan(self, evidence: Evidence, asked: Collection[int], max_size: int, random: Random) -> int:
        groups = evidence.points_of_call
        if not evidence.has_replicas():
            self.needed = False
            return 0
        most = max(map(int.bit_count, groups))
        healthy = 0
        for cut in evidence.failing:
            if not cut & healthy and cut.bit_count() <= max_size:
                healthy |= random.choice(list(bits(cut)))
        if self._careful:
            for group in groups:
                if group.bit_count() >= most and not group & healthy:
                    healthy |= random.choice(list(bits(group)))
        cut = evidence.all_points() & ~healthy
        if cut in asked or evidence.contains_failing(cut) or evidence.covers(cut):
            self.needed = False
            return 0
        self._cut = cut
        return cut

    def learn(self, cut: int, *, failed: bool, news: bool) -> None:
        if news:
            self.needed = self.needed or self._cut != 0
        elif cut == self._cut != 0:
            self.needed = failed and not self._careful
        if failed and cut == self._cut:
            self._careful = True
