"""How often requests are made, as far as traces tell: how many were seen, and in how long.

A number per day is what that pace would come to. Nobody saw the day unless traces last one, so the pace's time is told
with it, and the exact interval of the number that was seen (Garwood 1936): thirty requests in a minute may be twenty or
forty-three, whatever they are multiplied by.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import gammaincinv  # type: ignore[import-untyped]

from cutset.harden.failure_rates import CONFIDENCE

DAY_SECONDS = 86_400
LEAST_SECONDS = 60  # of less, one cannot tell a pace: a single request takes no time at all
APART_NS = DAY_SECONDS * 10**9  # nothing for so long: nobody recorded then


@dataclass(frozen=True, slots=True)
class TrafficSeen:
    requests: int
    seconds: float  # in which they were seen

    @property
    def per_day(self) -> float:
        return self.requests * self._days

    @property
    def between(self) -> tuple[float, float]:
        """Per day, of a pace that is likely (95 %) to show as many."""
        tail = (1 - CONFIDENCE) / 2
        low = float(gammaincinv(self.requests, tail)) if self.requests else 0.0
        return low * self._days, float(gammaincinv(self.requests + 1, 1 - tail)) * self._days

    @property
    def _days(self) -> float:
        return DAY_SECONDS / max(self.seconds, LEAST_SECONDS)

    def __str__(self) -> str:
        low, high = self.between
        in_a_day = "a day" if self.seconds >= DAY_SECONDS else "a day at that pace"
        taken = ", taken for a minute" if self.seconds < LEAST_SECONDS else ""
        return (
            f"{self.requests:,} seen in {lasting(self.seconds)}{taken}; "
            f"{_three_digits(self.per_day)} {in_a_day} ({_three_digits(low)} to {_three_digits(high)})"
        )


def seconds_covered(times: Iterable[tuple[int, int]]) -> float:
    """How long traces were recorded, from the first and last moments of their parts in nanoseconds."""
    covered, end = 0, 0
    for first, last in sorted(times):
        begin = first if first - end > APART_NS else end
        covered += max(0, last - begin)
        end = max(end, last)
    return covered / 1e9


def _three_digits(number: float) -> str:
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def pace_of(traffic: Iterable[TrafficSeen]) -> str:
    """In how long the traffic was seen that stands for a day's; empty if it lasted one."""
    seconds = min((each.seconds for each in traffic), default=DAY_SECONDS)
    return "" if seconds >= DAY_SECONDS else lasting(seconds)


def lasting(seconds: float) -> str:
    for name, unit in (("days", DAY_SECONDS), ("h", 3600), ("min", 60)):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} s"
