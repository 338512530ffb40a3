"""Discover: finds replicas that nobody told of; everything seen is injected at once while new points appear.

A call is believed to be known once its loss fails the request or, after the first failure, once it has as many replicas
as any; one of them stays healthy then.
"""

from dataclasses import replace

from cutset.search.bitset import bits
from cutset.search.steps.state import Discovery, SearchState, in_size


def discover(state: SearchState) -> Discovery:
    """With the set to inject next; not needed any more, if there is none."""
    evidence, random = state.evidence, state.random
    groups = evidence.elements.faults_of_call
    done = replace(state.discovery, needed=False)
    if not evidence.elements.have_replicas():
        return done
    most = max(map(int.bit_count, groups))
    healthy = 0
    for cut in evidence.failing:
        if not cut & healthy and in_size(state, cut):
            healthy |= random.choice(list(bits(cut)))
    if state.discovery.careful:
        for group in groups:
            if group.bit_count() >= most and not group & healthy:
                healthy |= random.choice(list(bits(group)))
    cut = evidence.elements.everything() & ~healthy
    if cut in state.asked or evidence.contains_failing(cut) or evidence.covers(cut):
        return done
    return replace(state.discovery, cut=cut)


def discovered(before: Discovery, cut: int, *, failed: bool, news: bool) -> Discovery:
    """After an outcome; `news` are points that were never seen before."""
    needed = before.needed
    if news:
        needed = needed or before.cut != 0
    elif cut == before.cut != 0:
        needed = failed and not before.careful
    return Discovery(needed, before.cut, before.careful or (failed and cut == before.cut))
