"""Merge: failures that were tolerated one by one are injected together, for shorter paths."""

from dataclasses import dataclass

from cutset.search.bitset import bits
from cutset.search.certificates import Certificate
from cutset.search.steps.state import SearchState


@dataclass(frozen=True, slots=True)
class Merger:
    """The failures that are taken together, and the set to inject for it, if it is worth asking for."""

    tolerated: int
    cut: int | None


def merge(state: SearchState) -> Merger | None:
    """Failures that are tolerated one by one may be so together; that one experiment certifies much.

    Without those that keep others from happening: about what they hide, they certify nothing.
    """
    evidence = state.evidence
    first = evidence.baseline()
    if first is None or not evidence.infers_by_hidden_calls():
        return None
    every = tolerated = 0
    for known in evidence.certificates:
        every |= evidence.elements.in_calls(known.failed)
    for known in evidence.certificates:
        tolerated |= 0 if known.vanished & every else known.failed
    merged = any(known.failed == tolerated for known in evidence.certificates)
    if merged or tolerated in state.merged or evidence.contains_failing(tolerated):
        return None
    cut = tolerated | _off_another_path(state, first, tolerated)
    return Merger(tolerated, None if cut in state.asked or evidence.contains_failing(cut) else cut)


def _off_another_path(state: SearchState, first: Certificate, tolerated: int) -> int:
    """All replicas of the calls on the fault-free path, but for one of each that is left, a fresh one if possible."""
    evidence = state.evidence
    calls = evidence.elements.in_calls(first.path)
    path = 0
    for call in bits(calls & ~evidence.elements.in_calls(tolerated)):
        replicas = evidence.elements.in_faults(call)
        path |= state.random.choice(list(bits(replicas & ~first.path or replicas)))
    return evidence.elements.in_faults(calls) & ~path
