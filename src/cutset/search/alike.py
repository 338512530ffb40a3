"""Effects that look alike: in larger sets, one of them stands for the others. The certificates `classes` rest on it.

- *(Q)* Effects of a point whose own runs look alike everywhere else (calls, callers, statuses, durations, verdict), and
  which both spoil the call or both do not, do so along with other faults, too, as long as none of these changes how the
  point is called.

Wrong where a call is optional, so that all its failures look alike, and is also somebody's fallback who tells them
apart. No single fault is inferred so; and where a set of representatives fails, those that they stand for are injected
themselves.
"""

from collections.abc import Mapping

from cutset.search.bitset import bits
from cutset.search.elements import Elements
from cutset.search.observed_run import NOT_CALLED, ObservedRun, statuses

_GOOD = {"200", "grpc 0"}


def representatives(leaves: Mapping[int, ObservedRun], elements: Elements, quantum: int) -> dict[int, int]:
    """Of each fault that was survived alone: the first one at its point that looks like it."""
    first: dict[object, int] = {}
    return {
        fault: first.setdefault(_looks(fault, leaf, elements, quantum), fault)
        for fault, leaf in leaves.items()
        if fault.bit_count() == 1
    }


def _looks(fault: int, leaf: ObservedRun, elements: Elements, quantum: int) -> object:
    """Of a run: all but the answer at the point itself. Durations are as coarse as the shortest delay."""
    point = elements.whole(fault)
    elsewhere = frozenset((other, answer) for other, answer in leaf.answers.items() if other != point)
    took = frozenset((other, round(each / quantum)) for other, each in leaf.took.items() if other != point)
    answered = statuses(leaf.answers.get(point, NOT_CALLED)) <= _GOOD and not elements.spoils(fault)
    return point, elsewhere, took, answered, leaf.verdict


def stand_in(cut: int, alike: Mapping[int, int], leaves: Mapping[int, ObservedRun], elements: Elements) -> int:
    """The set of representatives; but for faults at points that others of the set cause to be called otherwise."""
    usual, moved = leaves[0].answers, 0
    for fired, leaf in leaves.items():
        if fired and fired & cut == fired:
            for fault in bits(cut & ~fired & leaf.called):
                point = elements.whole(fault)
                if leaf.answers.get(point, NOT_CALLED) != usual.get(point, NOT_CALLED):
                    moved |= fault
    return sum(fault if fault & moved else alike.get(fault, fault) for fault in bits(cut))
