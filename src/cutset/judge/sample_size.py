"""How many requests it takes: to see harm of a given size, and to show that there is none beyond a margin.

Shares of two groups that are compared at a fixed end need n per group for a power of 80 % (normal approximation). Who
looks at any time pays for it: plan for twice as many, by then the coin has seen the harm in 78–99 % of runs.
"""

from math import ceil, sqrt
from statistics import NormalDist

from cutset.judge.confidence_sequence import planned_information, sequence_z
from cutset.judge.intervals import normal_quantile

POWER = 0.8
LOOKING_AT_ANY_TIME = 2  # times as many requests as a test at a fixed end
MOST = 100_000_000  # requests per group: nobody waits for more
# Standard deviations of luck that 80 % of runs can do without. At one look 0.84; who looks at all has many chances.
# Simulated, 80 % had shown no harm by: 580 requests at 0.1 % and a margin of 1 point, 2,290 at 1 %, 1,179 at 5 % and 3.
LUCK = 0.35


def fixed_requests(control: float, fault: float, alpha: float, power: float = POWER) -> int:
    """Per group, if one looks once."""
    mean = (control + fault) / 2
    together, apart = 2 * mean * (1 - mean), control * (1 - control) + fault * (1 - fault)
    reach = normal_quantile(alpha) * sqrt(together) + NormalDist().inv_cdf(power) * sqrt(apart)
    difference = abs(fault - control)
    return MOST if reach >= difference * sqrt(MOST) else ceil((reach / difference) ** 2)


def requests_to_see_harm(control: float, fault: float, alpha: float) -> int:
    """Per group, if one looks at any time."""
    return min(MOST, LOOKING_AT_ANY_TIME * fixed_requests(control, fault, alpha))


def requests_to_exclude_harm(control: float, fault: float, margin: float, alpha: float) -> int:
    """Per group, until the difference probably is known to be below the margin, if one looks at any time."""
    if fault - control >= margin:
        return MOST
    planned = planned_information(margin, alpha)

    def is_enough(requests: int) -> bool:
        smoothed = [(share * requests + 1) / (requests + 2) for share in (control, fault)]
        variance = sum(share * (1 - share) for share in smoothed) / (requests + 2)
        by_chance = sqrt((control * (1 - control) + fault * (1 - fault)) / requests)
        reach = sequence_z(1 / variance, planned, alpha) * sqrt(variance) + LUCK * by_chance
        return smoothed[1] - smoothed[0] + reach < margin

    few, enough = 0, 1
    while not is_enough(enough):
        few, enough = enough, 2 * enough
        if enough >= MOST:
            return MOST
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if is_enough(middle) else (middle, enough)
    return enough
