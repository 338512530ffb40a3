"""Every search strategy is asked for cuts and told their outcomes; it never touches the system under test.

The loop that owns the effects (`cutset.campaign`, a benchmark, a test) does

    while cuts := search.next_cuts(limit):
        for cut in cuts:
            search.learn(run(cut))

and may keep several asked cuts in flight: `next_cuts` returns nothing while everything that is left to ask depends on
answers that are still out, and never asks for the same cut twice.
"""

from dataclasses import dataclass
from typing import Protocol

from cutset.model.outcome import Outcome, Points


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What is known so far; valid at any time, not only at the end."""

    minimal_cuts: tuple[Points, ...]
    complete_up_to: (
        int  # each failing set of at most this size contains a minimal or an undecided cut; -1: nothing known
    )
    finished: bool  # complete up to the size that was asked for
    left: int  # cuts that are still to be tried, as far as known now
    undecided: tuple[Points, ...]  # cuts whose outcome stayed unknown


class Search(Protocol):
    def next_cuts(self, limit: int) -> list[Points]: ...

    def learn(self, outcome: Outcome) -> None: ...

    def result(self) -> SearchResult: ...
