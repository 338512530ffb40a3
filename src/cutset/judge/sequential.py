"""When a failure is believed: a one-sided sequential test.

An answer that shows a whole path around the faults is proof by itself, so the first success ends the test. A failure
may be chance: it is believed after m failures and no success. If a share p of answers fails by chance, a request that
survives its faults is taken to fail with a probability of at most p to the power of m. Trials that prove nothing, for
want of a trace or because a fault did not fire, count for neither side.
"""

from collections.abc import Sequence

from cutset.model.outcome import Verdict

_ROUNDING = 1 + 1e-9  # 0.1 ** 3 is a little more than 0.001


def failures_needed(flake_rate: float, error_rate: float) -> int:
    """The smallest m for which chance alone brings a false finding about at most `error_rate` of the time."""
    failures = 1
    while chance_of_false_finding(flake_rate, failures) > error_rate * _ROUNDING:
        failures += 1
    return failures


def chance_of_false_finding(flake_rate: float, failures: int) -> float:
    return flake_rate**failures


def decide(verdicts: Sequence[Verdict], failures: int) -> Verdict:
    """What the trials so far amount to; unknown: go on."""
    for verdict in verdicts:
        if verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
            return verdict
    return Verdict.FAILED if verdicts.count(Verdict.FAILED) >= failures else Verdict.UNKNOWN
