"""Whether both groups are of equal size, as a fair coin makes them: tested on users, never on their requests.

With sticky users the requests of few busy ones decide how many requests a group has: a test of those calls a sound
split broken. The prior is narrow because what breaks a split, marks that get lost on one side, takes a few per cent.
Simulated: 0.05 % false; a tenth of one group's marks lost is found after 6,500 marked users, 3 % after 72,000.
"""

from cutset.judge.coin import Coin

PRIOR = 500.0  # shares of 0.5 ± 0.03
EVIDENCE = 1000  # a split that is called broken makes the whole run worthless: be sure


def balance() -> Coin:
    """To be told of each user once."""
    return Coin(priors=(PRIOR,), harm_only=False)


def is_unequal(split: Coin) -> bool:
    return split.chance * EVIDENCE <= 1
