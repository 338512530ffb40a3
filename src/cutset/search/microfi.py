"""MicroFI's search (§4.4): LDFI that remembers what it has tried, here and for other requests, and tries by impact.

- History (§4.4.3): within a request, what was tested and what contains a failing cut is not tried, as in every strategy
  here. `hints`, the cuts that fail other request classes, are the history that classes share. The paper both takes them
  over and has them "validated by injection". By default they are tried before everything else in their round. With
  `trust_hints` it is as the published code has it, whose logs show no validation: a candidate that is a hint, or a part
  of one, is not tried, and the hint is predicted to fail, untested. So an API costs injections in one class only.
  FastFI §4.2.1 shows that trusting them is wrong where callers handle the same failure differently.
- Priority (§4.4.4): the rest goes by the weight of a cut's heaviest point, the heaviest first. The published code takes
  the mean instead. `cutset.select.api_rank` computes such weights.

MicroFI's Algorithm 1 solves again after every experiment; its published code, and FastFI's measurements of it, try the
solutions of the older formula nonetheless. That is the reading here: a round is LDFI's, in either of its readings.
`--strategy microfi` is `one_per_path`, the published code. Where LDFI cuts a round short, the order holds within what
is left of it.

Known gaps: those of LDFI; with `trust_hints` nothing is proven from the size of the smallest prediction on, or of what
was not tried for its sake. The published code also skips what survived another class; here it is tried.
"""

from cutset.model.outcome import Points
from cutset.search.ldfi import Ldfi


class MicroFi(Ldfi):
    def _plan(self) -> list[Points]:
        return sorted(super()._plan(), key=self._priority)

    def _predicted_instead(self, cut: Points) -> Points | None:
        if not self._settings.trust_hints or not cut:
            return None
        known = (hint for hint in self._hints if cut <= hint and hint not in self._outcomes and self._is_open(hint))
        return min(known, key=lambda hint: (len(hint), sorted(hint)), default=None)

    def _priority(self, cut: Points) -> tuple[bool, float]:
        weights = self._settings.weights
        return cut not in self._hints, -max((weights.get(point.of_api, 0.0) for point in cut), default=0.0)
