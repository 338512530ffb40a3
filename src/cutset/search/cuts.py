"""Cutset's own strategy: every minimal cut up to a size, with proof, in few experiments and fewer rounds.

FastFI (§3.2.2, Algorithm 2) injects one candidate at a time and waits for it to survive or fail; most of its
experiments refute candidates one by one. This strategy predicts, and asks only for what its predictions leave open.
Each round is planned by one of five steps, a file each in `cutset.search.steps`:

- *confirm*: what the observed paths predict to fail is injected, each set once, exactly;
- *cover*: to prove that nothing else fails, it injects the complements of chosen paths, large sets that are expected to
  survive, each of which certifies all the sets that miss its path;
- *merge*: failures that were tolerated one by one are injected together, for shorter paths;
- *discover*: where replicas are not known beforehand, everything seen is injected at once as long as new points appear;
- *diagnose*: where a set that was expected to survive fails, its possible causes are tried.

A step reads the state and returns what it would ask for; only this file changes the state. Predictions decide only what
to ask. The proof is `cutset.search.certificates`: the search ends when no set up to the size is uncovered, so that what
it reports is complete and minimal whatever the predictions were worth.
"""

from dataclasses import dataclass, replace
from random import Random

from cutset.model.fault import Cut, points_of
from cutset.model.outcome import Outcome, Verdict
from cutset.search.certificates import ALIKE, DETERMINISM, INDEPENDENCE, REPLICAS_ARE_ALIKE, Evidence
from cutset.search.elements import Elements
from cutset.search.steps.confirm import confirm
from cutset.search.steps.cover import cover
from cutset.search.steps.diagnose import ask_again, diagnose, name_degradations
from cutset.search.steps.discover import discover, discovered
from cutset.search.steps.level import level
from cutset.search.steps.merge import merge
from cutset.search.steps.state import (
    FIRST_COVER_ROUND,
    Discovery,
    RoundPlan,
    SearchState,
    in_size,
    open_sets,
    settled_sets,
)
from cutset.search.steps.superpose import superpose
from cutset.search.strategy import Certificates, SearchResult, SearchSettings
from cutset.search.uncovered import OutOfPatienceError

COVER_GROWTH = 4  # of a round, as long as what is expected to survive does
LEAST_SHARE = 1 / 16  # of the calls of a set that covers; with less, its target is asked for alone


@dataclass(frozen=True, slots=True)
class _Proof:
    """Up to which size everything is decided. Without an uncovered set, and short of the goal: it takes too long."""

    complete_up_to: int
    uncovered: int | None = None


class CutSearch:
    """The rounds: asks for what a step has planned, and learns what came of it."""

    def __init__(self, settings: SearchSettings) -> None:
        evidence = Evidence(settings.certificates, Elements(settings.effects))
        evidence.elements.at(settings.inventory - settings.stand_ins)
        if settings.trust_hints:
            for hint in filter(evidence.elements.know, settings.hints):
                evidence.assume_failing(evidence.elements.to_bits(hint))
        chance = Random(settings.seed)  # noqa: S311 - picks what to try
        self._state = SearchState(settings, evidence, chance, Discovery(needed=not settings.inventory))
        self._round: list[int] = []  # what is left of it, the next one last
        self._pending: set[int] = set()
        self._proofs: dict[Certificates, _Proof] = {}  # computed since the last outcome

    def ask(self, limit: int) -> list[Cut]:
        cuts = self._hand_out(limit)
        while not cuts and not self._round and not self._pending:
            _conclude_round(self._state)
            self._state.plan = self._plan()
            self._round = list(reversed(self._state.plan.cuts))
            if not self._round:
                return []
            self._state.rounds += 1
            cuts = self._hand_out(limit)
        return [self._state.evidence.elements.to_cut(cut) for cut in cuts]

    def learn(self, outcome: Outcome) -> None:
        state = self._state
        spared = state.settings.stand_ins - points_of(outcome.cut)
        outcome = replace(outcome, path=outcome.path - spared, calls=outcome.calls - spared)
        if not state.evidence.elements.know(outcome.cut):
            return  # of effects that are not tried here
        cut = state.evidence.elements.to_bits(outcome.cut)
        state.asked.setdefault(cut, 1)
        self._pending.discard(cut)
        known = state.evidence.elements.everything()
        state.evidence.learn(outcome)
        self._proofs = {}
        failed = outcome.verdict is Verdict.FAILED
        if failed and state.plan.targets.get(cut, cut) != cut:
            state.unexpected.add(cut)
        state.discovery = discovered(
            state.discovery, cut, failed=failed, news=state.evidence.elements.everything() != known
        )

    def result(self) -> SearchResult:
        state, evidence = self._state, self._state.evidence
        elements = evidence.elements
        proof, exact = self._prove(), self._prove(Certificates.EXACT)
        return SearchResult(
            minimal_cuts=tuple(elements.to_cut(cut) for cut in evidence.failing if in_size(state, cut)),
            complete_up_to=proof.complete_up_to,
            finished=proof.complete_up_to == state.settings.max_size,
            left=len(self._round) + len(self._pending),
            undecided=tuple(elements.to_cut(cut) for cut in evidence.undecided() if in_size(state, cut)),
            rounds=state.rounds,
            predicted=tuple(
                elements.to_cut(cut) for cut in state.predicted if cut in self._round or cut in self._pending
            ),
            certificates=len(evidence.certificates),
            assumption=_assumption(state, beyond=exact.complete_up_to if exact != proof else None),
            # No run of this request decides anything about stand-ins.
            exact_up_to=min(exact.complete_up_to, 0) if state.settings.stand_ins else exact.complete_up_to,
            masked=evidence.masked(),
        )

    def _hand_out(self, limit: int) -> list[int]:
        asked = self._state.asked
        cuts: list[int] = []
        while self._round and len(cuts) < limit:
            cut = self._round.pop()
            if _is_still_wanted(self._state, cut):
                cuts.append(cut)
                asked[cut] = asked.get(cut, 0) + 1
        self._pending.update(cuts)
        return cuts

    def _plan(self) -> RoundPlan:
        state = self._state
        if state.evidence.baseline() is None:
            return RoundPlan() if 0 in state.asked else RoundPlan((0,))
        while (uncovered := self._prove().uncovered) is not None:
            if plan := _plan_faults(state):
                return replace(plan, cuts=plan.cuts[: state.settings.round_size or None])
            state.evidence.settle(uncovered)  # where paths vary, survivors may certify nothing, however often we ask
            self._proofs = {}
        return name_degradations(state)

    def _prove(self, kind: Certificates | None = None) -> _Proof:
        """By certificates of this kind; of the search's own, unless told otherwise."""
        kind = kind or self._state.settings.certificates
        if kind not in self._proofs:
            self._proofs[kind] = _prove(self._state, kind)
        return self._proofs[kind]


def _prove(state: SearchState, kind: Certificates) -> _Proof:
    evidence, most = state.evidence, state.settings.max_size
    settled = settled_sets(evidence)
    if evidence.baseline() is None:
        return _Proof(most if 0 in settled else -1)
    try:
        if evidence.infers_by_superposition(kind):
            opened = evidence.superposition.open_sets(settled, evidence.accepted, most)
            found = next((each.cut for each in opened), None)
        else:
            found = next(open_sets(state, evidence.clauses(kind), settled), None)
    except OutOfPatienceError as error:
        return _Proof(error.size - 1)
    return _Proof(most if found is None else found.bit_count() - 1, found)


def _assumption(state: SearchState, beyond: int | None) -> str:
    """`beyond` this size the proof needs independence; None: nowhere."""
    parts = [DETERMINISM]
    if state.evidence.elements.tell_replicas_apart():
        parts.append(REPLICAS_ARE_ALIKE)
    if state.settings.trust_hints:
        parts.append("what failed another request fails this one")
    if state.settings.stand_ins:
        parts.append("replicas that stood in for each other there do so here")
    if beyond is not None:
        parts.append(f"beyond size {max(beyond, 0)}, {INDEPENDENCE}")
        if state.settings.certificates is Certificates.CLASSES and state.evidence.elements.have_several_effects():
            parts.append(ALIKE)
    return ", and ".join(parts)


def _is_still_wanted(state: SearchState, cut: int) -> bool:
    """After the answers to the first of its round."""
    if state.evidence.contains_failing(cut):
        return False
    return cut in state.plan.targets or not cut or not state.evidence.covers(cut)


def _plan_faults(state: SearchState) -> RoundPlan:
    """By the steps that fit. Exact certificates lose nothing by doing all at once: what is tolerated proves no more."""
    if state.discovery.needed:
        state.discovery = discover(state)
        if state.discovery.needed:
            return RoundPlan((state.discovery.cut,))
    if not state.evidence.elements.tell_replicas_apart():
        plan = superpose(state) if state.evidence.infers_by_superposition() else level(state)
        state.predicted = frozenset(plan.cuts) - plan.targets.keys()
        return plan
    cuts = confirm(state)
    state.predicted = frozenset(cuts)
    plan = RoundPlan(tuple(cuts))
    if not state.evidence.infers_by_hidden_calls():
        again = RoundPlan() if cuts else ask_again(state)  # what is predicted may show failover, so that it is no use
        return again or _joined(plan, _diagnosed(state), cover(state, expected=cuts))
    if state.settings.one_shot and state.rounds <= 1:
        plan = _joined(plan, cover(state, expected=cuts))
    elif single := [cut for cut in cuts if state.evidence.elements.in_calls(cut).bit_count() == 1]:
        plan = RoundPlan(tuple(single))
    else:
        plan = _merged(state) or plan
    return plan or ask_again(state) or _diagnosed(state) or cover(state)


def _joined(*plans: RoundPlan) -> RoundPlan:
    cuts = dict.fromkeys(cut for plan in plans for cut in plan.cuts)
    targets = {cut: target for plan in reversed(plans) for cut, target in plan.targets.items()}
    return RoundPlan(tuple(cuts), targets)


def _merged(state: SearchState) -> RoundPlan:
    merger = merge(state)
    if merger is None:
        return RoundPlan()
    state.merged.add(merger.tolerated)
    return RoundPlan() if merger.cut is None else RoundPlan((merger.cut,))


def _diagnosed(state: SearchState) -> RoundPlan:
    diagnosis = diagnose(state)
    for cut in diagnosis.unexplained:
        state.given_up.add(cut)
        if not in_size(state, cut):  # it took too many faults at once
            state.share = state.share / 2 if state.share > LEAST_SHARE else 0
    return diagnosis.plan


def _conclude_round(state: SearchState) -> None:
    """Whether predictions held decides how many are ventured next."""
    tried = [cut for cut in state.predicted if cut in state.asked]
    if tried:
        failed = sum(state.evidence.contains_failing(cut) for cut in tried)
        state.held = state.held + 1 if 2 * failed > len(tried) else 0
        state.predicted = frozenset()
    targets = state.plan.targets
    rows = [cut for cut, target in targets.items() if cut != target]
    state.owed = tuple(target for target in targets.values() if target)
    state.plan = RoundPlan()
    if any(cut in state.unexpected for cut in rows):
        state.cover_window = FIRST_COVER_ROUND
    elif rows:
        state.cover_window *= COVER_GROWTH
        state.share = min(1.0, max(state.share, LEAST_SHARE) * 2)
