"""Confirm: what the observed paths predict to fail is injected, each set once, exactly.

It has to be: only so is a failing set known to fail.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, islice

from cutset.search.bitset import bits
from cutset.search.steps.state import (
    LARGEST_ROUND,
    SearchState,
    by_promise,
    in_size,
    is_open,
    is_plainly_replicated,
)
from cutset.search.uncovered import Clause, OutOfPatienceError, strongest, uncovered_sets

CONFIRM_GROWTH = 32  # of a round, as long as predictions hold


def confirm(state: SearchState) -> list[int]:
    evidence = state.evidence
    cuts = by_promise(state, (cut for cut in _predicted(state) if cut not in state.asked))
    if evidence.infers_by_hidden_calls() and not is_plainly_replicated(evidence) and not state.settings.one_shot:
        replicated = sum(points.bit_count() > 1 for points in evidence.elements.faults_of_call)
        # One prediction that holds may be luck.
        growth = CONFIRM_GROWTH ** (state.held if replicated > 1 else max(0, state.held - 1))
        cuts = cuts[: max(1, replicated) * growth]
    return cuts


def _predicted(state: SearchState) -> set[int]:
    """What fails if replicas of a call are equals, and calls fail the request unless a path was seen without."""
    evidence = state.evidence
    clauses = strongest(
        Clause(evidence.elements.in_calls(clause.zone), evidence.elements.in_calls(clause.condition))
        for certificate in evidence.certificates
        for clause in evidence.clauses_of(certificate)
    )
    calls: list[int] = []
    with suppress(OutOfPatienceError):
        for each in islice(uncovered_sets(clauses, state.settings.max_size), LARGEST_ROUND):
            if not any(smaller & each == smaller for smaller in calls):  # it fails, as predicted
                calls.append(each)
    predicted = {evidence.elements.in_faults(each) for each in calls} | set(_siblings(state))
    return {cut for cut in predicted if in_size(state, cut) and is_open(state, cut)}


def _siblings(state: SearchState) -> Iterator[int]:
    """Where some replicas of a call fail the request without the others, as many others may do so, too."""
    evidence = state.evidence
    for cut in evidence.failing:
        calls = evidence.elements.in_calls(cut)
        replicas = evidence.elements.in_faults(calls)
        if in_size(state, cut) and calls.bit_count() == 1 and replicas.bit_count() <= 8:
            for chosen in combinations(bits(replicas), cut.bit_count()):
                yield sum(chosen)
