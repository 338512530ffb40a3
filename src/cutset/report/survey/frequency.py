"""How often something was seen, and how far that may be from how often it happens: intervals of 95 %.

They hold for traces that were sampled by chance, not for those that somebody picked because they were slow or failed.
"""

from cutset.judge.intervals import normal_quantile, wilson

ALPHA = 0.05
# Of fewer traces the exact (Poisson) interval of their number reaches below half of it: how often such a thing happens,
# and its place in any order, is then anybody's guess.
ANECDOTE_BELOW = 12
ANECDOTES_IN_WORDS = (
    f"An anecdote is what fewer than {ANECDOTE_BELOW} traces have: how often it happens may be off by a factor of two."
)


def is_anecdote(traces: int) -> bool:
    return traces < ANECDOTE_BELOW


def share_document(seen: int, of: int) -> dict[str, float]:
    low, high = _interval(seen, of)
    return {"share": seen / of if of else 0.0, "share_low": low, "share_high": high}


def interval_in_words(seen: int, of: int) -> str:
    """`56.9–59.3 %`, with as many digits as its width is worth."""
    low, high = (100 * end for end in _interval(seen, of))
    if high < 1:
        return f"{low:.1g}–{high:.1g} %"
    digits = 0 if high - low > 10 else 1 if high - low > 0.2 else 2
    return f"{low:.{digits}f}–{high:.{digits}f} %"


def _interval(seen: int, of: int) -> tuple[float, float]:
    interval = wilson(seen, of, normal_quantile(ALPHA))
    return interval.low, interval.high
