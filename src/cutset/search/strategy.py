"""Every search strategy is asked for cuts and told their outcomes; it never touches the system under test.

The loop that owns the effects (`cutset.campaign`, a benchmark, a test) does

    while cuts := search.ask(limit):
        for cut in cuts:
            search.learn(run(cut))

The first cut is the empty one, the request without any fault. A *round* is what a strategy asks for without needing an
answer in between: `ask` hands out the rest of the present round, and nothing while that round's answers are
still out. A cut is asked for again only where paths vary by themselves, so that a survivor may show less than it
should. Outcomes that nobody asked for (history, a second fault-free run) may be learnt at any time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Points
from cutset.model.point import Point


class Certificates(StrEnum):
    """What a surviving experiment is taken to prove; see `cutset.search.certificates`."""

    EXACT = "exact"
    INDEPENDENT = "independent"
    CLASSES = "classes"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    max_size: int
    certificates: Certificates = Certificates.EXACT
    effects: EffectChoice = field(default_factory=EffectChoice)  # at each point; a cut has at most one of them
    inventory: Points = frozenset()  # replicas known beforehand; the others are learnt from traces
    weights: Mapping[Point, float] = field(default_factory=dict)  # of APIs, by impact; the heavier are tried first
    hints: tuple[Cut, ...] = ()  # cuts that fail other request classes: of what is predicted, tried first
    trust_hints: bool = False  # MicroFI's rule: what failed another class fails this one, untested
    stand_ins: Points = frozenset()  # by the same rule: replicas that need no experiment, see `search.stand_ins`
    round_size: int = 0  # at most so many cuts before their answers are looked at; 0: as many as are of use
    one_shot: bool = False  # everything in one round after the fault-free one, as long as predictions hold
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Masked:
    """A cut that fails the request, although the request survives it when more fails along with it."""

    cut: Cut
    survived: Cut


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What is known so far; valid at any time, not only at the end."""

    minimal_cuts: tuple[Cut, ...]
    complete_up_to: (
        int  # each failing set of at most this size contains a minimal or an undecided cut; -1: nothing known
    )
    finished: bool  # complete up to the size that was asked for
    left: int  # cuts that are still to be tried, as far as known now
    undecided: tuple[Cut, ...]  # cuts whose outcome stayed unknown
    rounds: int = 0
    predicted: tuple[Cut, ...] = ()  # cuts that are expected to fail and have not been tried
    certificates: int = 0  # experiments that survived; each proves that many other sets survive
    assumption: str = ""  # what `complete_up_to` rests on
    exact_up_to: int = -1  # the part of it that rests on this alone: behaviour depends on which faults fire
    masked: tuple[Masked, ...] = ()


class Search(Protocol):
    def ask(self, limit: int) -> list[Cut]: ...

    def learn(self, outcome: Outcome) -> None: ...

    def result(self) -> SearchResult: ...
