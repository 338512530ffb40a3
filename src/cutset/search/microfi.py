"""MicroFI's search (§4.4): LDFI that remembers what it has tried, here and for other requests, and tries by impact.

- History (§4.4.3): within a request, what was tested and what contains a failing cut is not tried, as in every strategy
  here. `hints`, the cuts that fail other request classes, are the history that classes share. The paper both takes them
  over and has them "validated by injection": by default they are tried before everything else in their round; with
  `trust_hints` they are predicted to fail, untested. FastFI §4.2.1 shows that trusting them is wrong where callers
  handle the same failure differently.
- Priority (§4.4.4): the rest goes by the weight of a cut's heaviest point, the heaviest first. The published code takes
  the mean instead. `cutset.select.api_rank` computes such weights.

MicroFI's Algorithm 1 solves again after every experiment; its published code, and FastFI's measurements of it, try the
solutions of the older formula nonetheless. That is the reading here: a round is LDFI's. Where LDFI cuts a round short,
the order holds within what is left of it.

Known gaps: those of LDFI; with `trust_hints` nothing is proven from the size of the smallest prediction on.
"""

from cutset.model.outcome import Points
from cutset.search.ldfi import Ldfi


class MicroFi(Ldfi):
    def _plan(self) -> list[Points]:
        return sorted(super()._plan(), key=self._priority)

    def _is_predicted_to_fail(self, cut: Points) -> bool:
        return self._settings.trust_hints and cut in self._hints

    def _priority(self, cut: Points) -> tuple[bool, float]:
        weights = self._settings.weights
        return cut not in self._hints, -max((weights.get(point.of_api, 0.0) for point in cut), default=0.0)
