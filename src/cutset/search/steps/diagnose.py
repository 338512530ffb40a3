"""Diagnose: where a set that was expected to survive fails, its possible causes are tried.

And where it survived, but not as foreseen, what it was meant to cover is asked for directly.
"""

from dataclasses import dataclass

from cutset.model.outcome import Verdict
from cutset.search.bitset import bits
from cutset.search.steps.state import RoundPlan, SearchState, in_size, is_open, some_open_sets
from cutset.search.uncovered import Clause

EXPLANATIONS = 16  # of one unexpected failure, tried in one round
REPEATED_ASKS = 6  # of a set that survives on paths that vary, without the call in question


@dataclass(frozen=True, slots=True)
class Diagnosis:
    plan: RoundPlan
    unexplained: frozenset[int]  # unexpected failures that no set of at most the maximal size explains


def ask_again(state: SearchState) -> RoundPlan:
    """A row that survived on another path than foreseen leaves its target open, as does one that stayed unknown.

    And where runs vary, a set may survive because the call in question was not made, or another replica served it.
    """
    evidence, asked = state.evidence, state.asked
    direct = [cut for cut in dict.fromkeys(state.owed) if cut not in asked and is_open(state, cut)]
    if not direct:
        survived = {
            known.cut for known in evidence.certificates if evidence.wavering_in(known) or evidence.missed_by(known)
        }
        direct = [
            cut for cut in survived if in_size(state, cut) and 0 < asked[cut] < REPEATED_ASKS and is_open(state, cut)
        ]
    return _as_targets(direct)


def name_degradations(state: SearchState) -> RoundPlan:
    """What takes a part of the answer away in a larger set, by itself: that it survives is known, but not its name."""
    causes = (each.failed for each in state.evidence.certificates if each.outcome.verdict is Verdict.DEGRADED)
    return _as_targets([cut for cut in dict.fromkeys(causes) if cut not in state.asked and in_size(state, cut)])


def diagnose(state: SearchState) -> Diagnosis:
    """Why did a set fail that was expected to survive? By the replicas of one call, or by its smallest causes."""
    evidence = state.evidence
    causes: dict[int, None] = {}
    unexplained = []
    for cut in state.unexpected & set(evidence.failing) - state.given_up:
        if all(evidence.covers(cut & ~point) for point in bits(cut)):
            continue  # minimal: it explains itself
        found = _replicas_of_one_call(state, cut) or _smallest_causes(state, cut)
        if not found:
            unexplained.append(cut)
        causes |= dict.fromkeys(found)
    return Diagnosis(_as_targets(list(causes)), frozenset(unexplained))


def _replicas_of_one_call(state: SearchState, failing: int) -> list[int]:
    evidence = state.evidence
    slices = [failing & evidence.elements.in_faults(call) for call in bits(evidence.elements.in_calls(failing))]
    return [each for each in slices if each != failing and each not in state.asked and is_open(state, each)]


def _smallest_causes(state: SearchState, failing: int) -> list[int]:
    evidence = state.evidence
    clauses = [Clause(clause.zone & failing, clause.condition) for clause in evidence.clauses()]
    others = [cut for cut in evidence.failing if cut != failing]
    within = [clause for clause in clauses if clause.condition & failing == clause.condition]
    found = [cut for cut in some_open_sets(state, within, others) if cut not in state.asked]
    found.sort(key=lambda cut: (cut.bit_count(), evidence.elements.in_calls(cut).bit_count()))
    return found[:EXPLANATIONS]


def _as_targets(cuts: list[int]) -> RoundPlan:
    return RoundPlan(tuple(cuts), {cut: cut for cut in cuts})
