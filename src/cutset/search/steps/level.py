"""Level: where replicas are not told apart, all sets of the smallest size that is open are injected in one round.

An exact certificate decides just the sets that agree with its run on what it called, so that no experiment decides a
larger set for another. Of the smallest open sets each fires as a whole (what does not fire is decided by the run of
what does), hence needs an experiment of its own, whatever the method: level by level, the number of experiments is the
least there is, and the rounds are k + 1, with the fault-free one.
"""

from cutset.search.steps.diagnose import REPEATED_ASKS
from cutset.search.steps.state import (
    RoundPlan,
    SearchState,
    by_promise,
    smallest_open_sets,
)


def level(state: SearchState) -> RoundPlan:
    """What nothing foretells comes first, so that a search that is stopped early knows most.

    Where runs vary, what survived because a call was not made is asked for again.
    """
    found = smallest_open_sets(state)
    fresh = by_promise(state, (cut for cut in found if cut not in state.asked))
    if not fresh:
        return RoundPlan(tuple(cut for cut in found if state.asked[cut] < REPEATED_ASKS))
    inference = state.evidence.superposition
    tame = {cut for cut in fresh if inference.is_usable and inference.may_be_merged(cut)}
    return RoundPlan(tuple(sorted(fresh, key=tame.__contains__)), {cut: cut for cut in fresh if cut in tame})
