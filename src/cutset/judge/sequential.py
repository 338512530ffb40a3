"""What the trials of one experiment amount to: Wald's sequential test of the share of requests that fail.

Chance alone lets a share p of answers fail (`flake_rate`). Does the cut fail more? Each failure multiplies the odds for
"a share q of requests fails" by q/p, each survival by (1-q)/(1-p). A failure is believed once the odds reach 1 to p^m
and m trials have failed: however many trials there are, chance brings that about with a probability of at most p^m
(Ville's inequality). It is put down to chance at odds of `EXCUSED`, which a share of q or more seldom reaches.

Where requests behave alike, q is 1: the first survival is proof, and so are m failures without one. Where they vary, by
caches, balancers or chance, q is the share that would hardly ever leave all of `trials` unharmed. Trials that
contradict each other show that requests vary, whatever was known before: hence two tests, and twice p^m at most.

Requests in which no fault was called tell nothing of what it does: they count among the trials that were left unharmed,
and never against a failure of those in which one was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, exp, inf, log

from cutset.model.outcome import Verdict

UNHARMED = 0.045  # the chance with which a failing share of the stated size shows in none of the trials
EXCUSED = 0.005  # and the one with which it shows, but is put down to chance
OVERLOOKED = UNHARMED + EXCUSED
NOTABLE = 3  # times the flake rate: what is less than that takes very many trials to be told from chance
MOST_TRIALS = 300  # of one experiment: where so many cannot tell, nobody can
_ROUNDING = 1 + 1e-9  # 0.1 ** 3 is a little more than 0.001


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often an experiment is repeated before its verdict is believed."""

    repeats: int  # failures in a row
    flake_rate: float = 0.01  # the share of answers that fail by chance, without any fault
    trials: int = 10  # at least so many, where requests vary


def failures_needed(flake_rate: float, error_rate: float) -> int:
    """The smallest m for which chance alone brings a false finding about at most `error_rate` of the time."""
    failures = 1
    while chance_of_false_finding(flake_rate, failures) > error_rate * _ROUNDING:
        failures += 1
    return failures


def chance_of_false_finding(flake_rate: float, failures: int) -> float:
    return min(1.0, 2 * flake_rate**failures)


def chance_of_so_many(failures: int, of: int, flake_rate: float) -> float:
    """That chance alone fails as many of these answers, or more."""
    return sum(comb(of, k) * flake_rate**k * (1 - flake_rate) ** (of - k) for k in range(failures, of + 1))


def overlooked_share(flake_rate: float, trials: int) -> float:
    """So large a share of failing requests passes for survived with a chance of at most `OVERLOOKED`."""
    return min(1.0, max(1 - exp(log(UNHARMED) / trials), NOTABLE * flake_rate))


def trials_to_see(share: float, rule: Repetition) -> int:
    """So many that so large a share is not overlooked any more likely; less than what is notable nobody can see."""
    share = max(share, NOTABLE * rule.flake_rate)
    return max(rule.trials, ceil(log(UNHARMED) / log(1 - share))) if 0 < share < 1 else rule.trials


def decide(fired: Sequence[Verdict], rule: Repetition, *, varying: bool, unfired: int = 0) -> Verdict | None:
    """By the trials in which faults fired, and the number of those in which none was called. None: go on."""
    if not fired:
        return None
    total, is_clean = len(fired) + unfired, set(fired) == {Verdict.SURVIVED}
    varying = varying or len(set(fired)) > 1
    if total < rule.trials and (varying or (unfired and not is_clean)):
        return None
    share = overlooked_share(rule.flake_rate, rule.trials) if varying else 1.0
    for verdict, bad in (
        (Verdict.FAILED, {Verdict.FAILED}),
        (Verdict.DEGRADED, {Verdict.FAILED, Verdict.DEGRADED}),
    ):
        found = _is_more_than_chance([each in bad for each in fired], rule, share)
        if found is None:
            return Verdict.UNKNOWN if total >= MOST_TRIALS else None
        if found:
            return verdict
    return Verdict.SURVIVED


def _is_more_than_chance(bad: Sequence[bool], rule: Repetition, share: float) -> bool | None:
    """Whether a share of these trials is bad that chance does not explain; None: nobody can tell yet."""
    if not any(bad):
        return False
    chance = rule.flake_rate
    if not chance:  # then any bad trial is the cut's doing
        return True if sum(bad) >= rule.repeats else None
    for_it = log(share / chance)
    against = log((1 - share) / (1 - chance)) if share < 1 else -inf
    odds, seen = 0.0, 0
    for each in bad:
        seen += each
        odds += for_it if each else against
        if seen >= rule.repeats and odds * _ROUNDING >= rule.repeats * log(1 / chance):
            return True
    return False if odds <= log(EXCUSED) else None
