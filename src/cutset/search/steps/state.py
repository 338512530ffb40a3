"""What Cutset's own strategy knows and remembers between rounds. The steps read it; `cutset.search.cuts` changes it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from cutset.search.bitset import bits
from cutset.search.certificates import Evidence
from cutset.search.strategy import SearchSettings
from cutset.search.uncovered import Clause, OutOfPatienceError, uncovered_sets

FIRST_COVER_ROUND = 4
LARGEST_ROUND = 20_000  # sets that are looked at for one round
SAMPLED_CANDIDATES = 600  # enough to tell which path covers most


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What a step would ask for in one round, and for some of these sets, what they are meant to cover at least."""

    cuts: tuple[int, ...] = ()
    targets: Mapping[int, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.cuts)


@dataclass(frozen=True, slots=True)
class Discovery:
    """Whether there may be replicas that nobody told of, and the set that was injected last to find them."""

    needed: bool
    cut: int = 0
    careful: bool = False  # after a failure: one replica of each call stays healthy


@dataclass(slots=True)
class SearchState:
    settings: SearchSettings
    evidence: Evidence
    random: Random
    discovery: Discovery
    asked: dict[int, int] = field(default_factory=dict)  # how often
    rounds: int = 0
    plan: RoundPlan = RoundPlan()  # of the present round
    predicted: frozenset[int] = frozenset()  # expected to fail, by the latest predictions
    owed: tuple[int, ...] = ()  # what the last round was meant to cover
    unexpected: set[int] = field(default_factory=set)  # failed, though they were expected to survive
    given_up: set[int] = field(default_factory=set)  # of these: no set of at most the maximal size explains them
    merged: set[int] = field(default_factory=set)  # tolerated failures that were taken together
    held: int = 0  # rounds in a row in which most predictions held
    cover_window: int = FIRST_COVER_ROUND
    share: float = 1.0  # of the calls of a set that covers: those that get faults beyond its target's


def in_size(state: SearchState, cut: int) -> bool:
    return cut.bit_count() <= state.settings.max_size


def settled_sets(evidence: Evidence) -> list[int]:
    """Whatever contains one of these needs no experiment."""
    return [*evidence.failing, *evidence.undecided()]


def is_open(state: SearchState, cut: int) -> bool:
    evidence = state.evidence
    settled = evidence.contains_failing(cut) or any(known & cut == known for known in evidence.undecided())
    return not settled and not evidence.covers(cut)


def is_plainly_replicated(evidence: Evidence) -> bool:
    """Then the loss of all replicas is a safe bet; a call without replicas may well have one to fall back on."""
    baseline = evidence.baseline()
    calls = baseline.calls if baseline else 0
    return all(evidence.elements.in_faults(call).bit_count() > 1 for call in bits(calls))


def open_sets(state: SearchState, clauses: Sequence[Clause], settled: Sequence[int]) -> Iterator[int]:
    """The smallest first; raises OutOfPatienceError."""
    evidence = state.evidence
    elements = evidence.elements
    every = uncovered_sets(
        clauses,
        state.settings.max_size,
        accepted=evidence.accepted,
        everything=elements.everything(),
        is_plan=elements.is_plan,
    )
    return (cut for cut in every if not any(known & cut == known for known in settled))


def some_open_sets(state: SearchState, clauses: Sequence[Clause], settled: Sequence[int]) -> list[int]:
    found: list[int] = []
    with suppress(OutOfPatienceError):
        found.extend(islice(open_sets(state, clauses, settled), SAMPLED_CANDIDATES))
    return found


def smallest_open_sets(state: SearchState) -> list[int]:
    """All of the smallest size."""
    found: list[int] = []
    every = open_sets(state, state.evidence.clauses(), settled_sets(state.evidence))
    with suppress(OutOfPatienceError):
        for cut in islice(every, LARGEST_ROUND):
            if found and cut.bit_count() > found[0].bit_count():
                break
            found.append(cut)
    return found


def by_promise(state: SearchState, cuts: Iterable[int]) -> list[int]:
    """What failed other requests first, then the smallest, then what fails with another effect, then the heaviest.

    And the most unlike the known cuts before the others: of predictions that are wrong for the same reason, few are
    ventured before that shows.
    """
    evidence, elements = state.evidence, state.evidence.elements
    known = 0
    for cut in evidence.failing:
        known |= cut if in_size(state, cut) else 0
    hints = {elements.to_bits(hint) for hint in state.settings.hints if elements.know(hint)}
    fatal = {elements.whole(cut) for cut in evidence.failing} if elements.have_several_effects() else set()
    shuffled = sorted(cuts)
    state.random.shuffle(shuffled)
    return sorted(
        shuffled,
        key=lambda cut: (
            cut not in hints,
            cut.bit_count(),
            elements.whole(cut) not in fatal,
            -_weight(state, cut),
            (cut & known).bit_count(),
        ),
    )


def _weight(state: SearchState, cut: int) -> float:
    return sum(state.settings.weights.get(fault.point.of_api, 0.0) for fault in state.evidence.elements.to_cut(cut))
