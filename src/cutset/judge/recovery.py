"""How long an API goes on failing after the last fault, by requests that nobody marked.

A second is *off* if chance brings so many failures about less than once in ten thousand seconds as they were before.
The API has recovered after the last second that is off; it still is off if the last few seconds together are.
"""

from collections import deque
from dataclasses import dataclass, field

from scipy.special import betainc  # type: ignore[import-untyped]

from cutset.judge.intervals import wilson
from cutset.model.impact import Tally

CHANCE = 1e-4  # some hundred seconds of some ten APIs are looked at
LAST = 5  # tallies, about one per second, that tell how it is now
_BEFORE_Z = 2.576  # the share of before is only known so well: its upper 99.5 % limit


@dataclass(slots=True)
class Aftermath:
    """Of one API."""

    usual_failed: int = 0
    usual_requests: int = 0
    last_off: float | None = None  # Unix seconds
    _last: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=LAST))

    def add_before(self, tally: Tally) -> None:
        self.usual_failed += tally.failed
        self.usual_requests += tally.requests

    def add_after(self, tally: Tally, at: float) -> None:
        self._last.append((tally.failed, tally.requests))
        if self._is_off(tally.failed, tally.requests):
            self.last_off = at

    @property
    def still_off(self) -> bool:
        return self._is_off(sum(failed for failed, _ in self._last), sum(requests for _, requests in self._last))

    def seconds_after(self, end: float) -> float | None:
        """None: was never off, or still is."""
        return None if self.last_off is None or self.still_off else max(0.0, self.last_off - end)

    def _is_off(self, failed: int, requests: int) -> bool:
        if not failed or not self.usual_requests:
            return False
        usual = wilson(self.usual_failed, self.usual_requests, _BEFORE_Z).high
        return usual < 1 and bool(betainc(failed, requests - failed + 1, usual) < CHANCE)
