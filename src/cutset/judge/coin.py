"""The coin: whether failures come with the fault, told exactly and at any time, by each user's first failure.

Which group a marked user is in was decided by a coin that nothing else knows of. If the fault does nothing, each user's
*first* failure fell into one of two groups of equal size by that coin, whatever the failure rate does over time; later
failures of the same user say little that is new, and counting them would raise false alarms. Of m such failures, k
with the fault, the evidence e compares "the fault group gets a share above one half", mixed over a prior, with "one
half": without an effect it is a martingale that begins at 1, so that it ever reaches 1/p with a probability of at most
p (Ville's inequality). No asymptotics, no planned number of looks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, inf, log

from scipy.special import betaincc, betaln  # type: ignore[import-untyped]

from cutset.model.impact import Group

# Symmetric Beta distributions of the fault group's share. The flat one is quick where failures are many more; the
# narrow one saves a fifth of all requests where they are frequent anyway and a few more (5 to 6 %).
PRIORS = (1.0, 50.0)


@dataclass(slots=True)
class Coin:
    priors: tuple[float, ...] = PRIORS
    harm_only: bool = True
    fault: int = 0
    control: int = 0
    most: float = 0.0  # the largest logarithm of the evidence so far

    def add(self, group: Group) -> None:
        if group is Group.FAULT:
            self.fault += 1
        else:
            self.control += 1
        self.most = max(self.most, log_evidence(self.fault, self.control, self.priors, harm_only=self.harm_only))

    @property
    def chance(self) -> float:
        """With which chance alone ever brings so much evidence about: a p-value that holds at every look."""
        return exp(-self.most)


def log_evidence(fault: int, control: int, priors: Iterable[float], *, harm_only: bool) -> float:
    """Of the mean of the priors: what is fair for each is fair for their mean."""
    evidence = [_log_evidence(fault, control, prior, harm_only=harm_only) for prior in priors]
    top = max(evidence)
    if top == -inf:
        return top
    return top + log(sum(exp(each - top) for each in evidence) / len(evidence))


def _log_evidence(fault: int, control: int, prior: float, *, harm_only: bool) -> float:
    evidence = float(betaln(fault + prior, control + prior) - betaln(prior, prior)) + (fault + control) * log(2)
    if not harm_only:
        return evidence
    # The prior is restricted to shares above one half, which is half of it.
    above = 2 * float(betaincc(fault + prior, control + prior, 0.5))
    return evidence + log(above) if above else -inf  # too little of it to be a number: nearly all are of the control
