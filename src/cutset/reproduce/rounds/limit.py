"""How long a round may take, by how long it takes when nothing fails."""

from collections.abc import Iterable

_LEAST_S = 15.0  # a program that is made to fail waits, tries again, and gives up after its own time limits
_TIMES = 10.0  # as long as without a fault, and
_MORE_S = 5.0  # what a delay takes
_LONG_S = 5.0  # of what is longer than this without a fault,
_TIMES_LONG = 4.0  # so much more: its own time limits do not grow with it, but rounds at a time share a machine


def limit_after(good_seconds: Iterable[float], timeout_s: float, quiet_s: float = 0.0) -> float:
    """Seconds: never more than the user allows; time enough to see that nothing has happened for `quiet_s`."""
    slowest = max(good_seconds, default=timeout_s)
    short = min(slowest, _LONG_S)
    usual = _TIMES * short + _TIMES_LONG * (slowest - short) + _MORE_S
    return min(timeout_s, max(_LEAST_S, usual, slowest + 2 * quiet_s))
