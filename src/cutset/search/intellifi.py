"""IntelliFI (Long et al., ICWS 2020), by the two rules that FastFI §4.2.1 gives of it, on top of LDFI's rounds.

- Upstream: no fault is injected at a call that a trace already shows failing because of a fault further down. In terms
  of outcomes: when the request failed, and calls failed in it that had no fault of their own, then a set of calls that
  all failed, not all of them by their own fault, is predicted to fail the request too.
- Superset: nothing is tried that contains a cut which was not injected, or one that fails.

Known gaps: a predicted cut is reported as predicted, not as found, and nothing is proven from its size on; MicroFI §6.3
measures 5 % of the solutions lost. The superset rule alone never fires, since no candidate contains another one of its
formula. IntelliFI's choice of what to test by fitness is not part of either description. Otherwise as LDFI.
"""

from cutset.model.fault import points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.search.ldfi import Ldfi
from cutset.search.strategy import SearchSettings


class IntelliFi(Ldfi):
    def __init__(self, settings: SearchSettings) -> None:
        super().__init__(settings)
        self._failed_upstream: list[tuple[Points, Points]] = []  # failing cuts, and all calls that failed with them

    def learn(self, outcome: Outcome) -> None:
        super().learn(outcome)
        cut = points_of(outcome.cut)
        if outcome.verdict is Verdict.FAILED and not outcome.failed <= cut:
            self._failed_upstream.append((cut, outcome.failed))

    def _predicted_instead(self, cut: Points) -> Points | None:
        return cut if any(cut <= failed and not cut <= tried for tried, failed in self._failed_upstream) else None
