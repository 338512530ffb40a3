"""Intervals of a difference that hold at every look at once: Robbins' normal mixture, with variances by user.

    difference ± z(I)·√V,  I = 1/V,  z² = (I+r)/I · log((I+r) / (r·α²))

It may be watched, and the run ended for what it shows: the truth is inside at all looks together with probability
1 − α, asymptotically (Waudby-Smith et al.). It is tightest at the information that is planned, where it is about 1.4
times as wide as an interval for a fixed end at 99 %, 1.55 times at 95 %. Peeking at fixed intervals instead misses the
truth in a fifth to half of all runs.
"""

from math import log, sqrt

from cutset.judge.user_sums import UserSums
from cutset.model.impact import Interval


def sequence_z(information: float, planned: float, alpha: float) -> float:
    """What stands for 1.96 if one may look at any time."""
    r = planned * _ratio(alpha)
    return sqrt((information + r) / information * log((information + r) / (r * alpha * alpha)))


def planned_information(margin: float, alpha: float) -> float:
    """So much that an interval around 0 is about to be within the margin: there it has to be tight.

    A third of it, because large effects are seen much earlier, and being late costs little: 2 to 4 % of the width.
    """
    ratio = _ratio(alpha)
    return (1 + ratio) * log((1 + ratio) / (ratio * alpha * alpha)) / margin**2 / 3


def difference_at_any_time(fault: UserSums, control: UserSums, planned: float, alpha: float) -> Interval:
    """Of the shares of bad requests, fault less control."""
    first, second = fault.smoothed(), control.smoothed()
    variance = first.variance + second.variance
    reach = sequence_z(1 / variance, planned, alpha) * sqrt(variance)
    difference = first.share - second.share
    return Interval(max(-1.0, difference - reach), min(1.0, difference + reach))


def _ratio(alpha: float) -> float:
    a = -2 * log(alpha)
    return 1 / (a + log(a + 1))
