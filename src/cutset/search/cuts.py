"""Cutset's own strategy: every minimal cut up to a size, with proof, in few experiments and fewer rounds.

FastFI (§3.2.2, Algorithm 2) injects one candidate at a time and waits for it to survive or fail; most of its
experiments refute candidates one by one. This strategy predicts, and asks only for what its predictions leave open:

- *confirm*: what the observed paths predict to fail is injected, each set once, exactly (it has to be: only so is a
  failing set known to fail);
- *cover*: to prove that nothing else fails, it injects the complements of chosen paths, large sets that are expected to
  survive, each of which certifies all the sets that miss its path. Choosing the paths is a covering-array problem, see
  `cutset.search.cover`;
- *merge*: failures that were tolerated one by one are injected together, for shorter paths;
- *discover*: where replicas are not known beforehand, everything seen is injected at once as long as new points appear;
- *diagnose*: where a set that was expected to survive fails, its possible causes are tried.

Predictions decide only what to ask. The proof is `cutset.search.certificates`: the search ends when no set up to the
size is uncovered, so that what it reports is complete and minimal whatever the predictions were worth.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice
from random import Random

from cutset.model.fault import points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.search.bitset import bits
from cutset.search.certificates import (
    ASSUMPTIONS,
    Clause,
    Evidence,
    OutOfPatienceError,
    strongest,
    uncovered_sets,
)
from cutset.search.cover import choose_paths
from cutset.search.discovery import Discovery
from cutset.search.skeleton import Skeleton, best_path
from cutset.search.strategy import Certificates, SearchResult, SearchSettings

COVER_EFFORT = 400  # see `choose_paths`: a few seconds for the largest requests, which an experiment is worth
SAMPLED_CANDIDATES = 600  # enough to tell which path covers most
PREDICTIONS = 20_000  # looked at in one round
EXPLANATIONS = 16  # of one unexpected failure, tried in one round
REPEATED_ASKS = 6  # of a set that survives on paths that vary, without the call in question
CONFIRM_GROWTH, COVER_GROWTH = 32, 4  # of a round, as long as predictions hold
FIRST_COVER_ROUND = 4


@dataclass(frozen=True, slots=True)
class _Row:
    """An experiment that is expected to survive: `target` is what it is meant to cover at least."""

    cut: int
    target: int


@dataclass(frozen=True, slots=True)
class _Proof:
    """Up to which size everything is decided. Without an uncovered set, and short of the goal: it takes too long."""

    complete_up_to: int
    uncovered: int | None = None


class CutSearch:
    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._max_size = settings.max_size
        self._evidence = Evidence(settings.certificates)
        self._random = Random(settings.seed)  # noqa: S311 - picks what to try
        self._asked: dict[int, int] = {}  # how often
        self._round: list[int] = []  # what is left of it, the next one last
        self._pending: set[int] = set()
        self._rounds = 0
        self._predicted: set[int] = set()  # in this round: expected to fail
        self._targets: dict[int, int] = {}  # in this round: what its sets are meant to cover at least
        self._owed: list[int] = []  # targets of the last round
        self._unexpected: set[int] = set()  # rows that failed
        self._given_up: set[int] = set()  # unexpected failures that no set of at most the maximal size explains
        self._merged: set[int] = set()
        self._held = 0  # rounds in a row in which most predictions held
        self._cover_window = FIRST_COVER_ROUND
        self._share = 1.0  # of the calls of a row that get faults beyond its target's
        self._discovery = Discovery(needed=not settings.inventory)
        self._proof: _Proof | None = None  # if computed since the last outcome
        self._evidence.to_bits(settings.inventory)
        if settings.trust_hints:
            for hint in settings.hints:
                self._evidence.assume_failing(self._evidence.to_bits(hint))

    def ask(self, limit: int) -> list[Points]:
        cuts = self._hand_out(limit)
        while not cuts and not self._round and not self._pending:
            self._conclude_round()
            self._round = self._plan()[::-1]
            if not self._round:
                return []
            self._rounds += 1
            cuts = self._hand_out(limit)
        return [self._evidence.to_points(cut) for cut in cuts]

    def learn(self, outcome: Outcome) -> None:
        cut = self._evidence.to_bits(points_of(outcome.cut))
        self._asked.setdefault(cut, 1)
        self._pending.discard(cut)
        known = self._evidence.all_points()
        self._evidence.learn(outcome)
        self._proof = None
        failed = outcome.verdict is Verdict.FAILED
        if failed and cut in self._targets and cut != self._targets[cut]:
            self._unexpected.add(cut)
        self._discovery.learn(cut, failed=failed, news=self._evidence.all_points() != known)

    def result(self) -> SearchResult:
        evidence = self._evidence
        proof = self._prove()
        return SearchResult(
            minimal_cuts=tuple(evidence.to_points(cut) for cut in evidence.failing if self._in_size(cut)),
            complete_up_to=proof.complete_up_to,
            finished=proof.complete_up_to == self._max_size,
            left=len(self._round) + len(self._pending),
            undecided=tuple(evidence.to_points(cut) for cut in evidence.undecided() if self._in_size(cut)),
            rounds=self._rounds,
            predicted=tuple(
                evidence.to_points(cut) for cut in self._predicted if cut in self._round or cut in self._pending
            ),
            certificates=len(evidence.certificates),
            assumption=ASSUMPTIONS[evidence.kind]
            + (", and what failed another request fails this one" if self._settings.trust_hints else ""),
            masked=evidence.masked(),
        )

    # ---------------------------------------------------------------------------------------------- rounds

    def _hand_out(self, limit: int) -> list[int]:
        cuts: list[int] = []
        while self._round and len(cuts) < limit:
            cut = self._round.pop()
            if self._is_still_wanted(cut):
                cuts.append(cut)
                self._asked[cut] = self._asked.get(cut, 0) + 1
        self._pending.update(cuts)
        return cuts

    def _is_still_wanted(self, cut: int) -> bool:
        """After the answers to the first of its round."""
        if self._evidence.contains_failing(cut):
            return False
        return cut in self._targets or not cut or not self._evidence.covers(cut)

    def _plan(self) -> list[int]:
        if self._evidence.baseline() is None:
            return [] if 0 in self._asked else [0]
        while (uncovered := self._prove().uncovered) is not None:
            if cuts := self._plan_faults():
                return cuts[: self._settings.round_size or None]
            self._evidence.settle(uncovered)  # where paths vary, survivors may certify nothing, however often we ask
            self._proof = None
        return []

    def _plan_faults(self) -> list[int]:
        if self._discovery.needed and (
            cut := self._discovery.plan(self._evidence, self._asked, self._max_size, self._random)
        ):
            return [cut]
        cuts = self._confirm()
        if self._settings.one_shot and self._rounds <= 1:
            cuts += self._cover(expected=cuts)
        elif single := [cut for cut in cuts if self._evidence.in_calls(cut).bit_count() == 1]:
            cuts = single
        else:
            cuts = self._merge() or cuts
        return cuts or self._ask_again() or self._diagnose() or self._cover(expected=[])

    def _conclude_round(self) -> None:
        """Whether predictions held decides how many are ventured next."""
        tried = [cut for cut in self._predicted if cut in self._asked]
        if tried:
            failed = sum(self._evidence.contains_failing(cut) for cut in tried)
            self._held = self._held + 1 if 2 * failed > len(tried) else 0
            self._predicted = set()
        rows = [cut for cut, target in self._targets.items() if cut != target]
        self._owed = [target for target in self._targets.values() if target]
        self._targets = {}
        if rows:
            if any(cut in self._unexpected for cut in rows):
                self._cover_window = FIRST_COVER_ROUND
            else:
                self._cover_window *= COVER_GROWTH
                self._share = min(1.0, max(self._share, 1 / 16) * 2)

    # ---------------------------------------------------------------------------------------------- confirm

    def _confirm(self) -> list[int]:
        """What failed other requests first, then the smallest, then the heaviest, then the most unlike the known cuts.

        So that, of predictions that are wrong for the same reason, few are ventured before that shows.
        """
        known = 0
        for cut in self._evidence.failing:
            known |= cut if self._in_size(cut) else 0
        hints = {self._evidence.to_bits(hint) for hint in self._settings.hints}
        cuts = sorted(cut for cut in self._predict() if cut not in self._asked)
        self._random.shuffle(cuts)
        cuts.sort(key=lambda cut: (cut not in hints, cut.bit_count(), -self._weight(cut), (cut & known).bit_count()))
        if not self._is_plainly_replicated() and not self._settings.one_shot:
            replicated = sum(points.bit_count() > 1 for points in self._evidence.points_of_call)
            # One prediction that holds may be luck.
            growth = CONFIRM_GROWTH ** (self._held if replicated > 1 else max(0, self._held - 1))
            cuts = cuts[: max(1, replicated) * growth]
        self._predicted = set(cuts)
        return cuts

    def _predict(self) -> set[int]:
        """What fails if replicas of a call are equals, and calls fail the request unless a path was seen without."""
        evidence = self._evidence
        clauses = strongest(
            Clause(evidence.in_calls(clause.zone), evidence.in_calls(clause.condition))
            for certificate in evidence.certificates
            for clause in evidence.clauses_of(certificate)
        )
        calls: list[int] = []
        with suppress(OutOfPatienceError):
            calls.extend(islice(uncovered_sets(clauses, self._max_size), PREDICTIONS))
        predicted = {evidence.in_points(each) for each in calls} | set(self._siblings())
        return {cut for cut in predicted if self._in_size(cut) and self._is_open(cut)}

    def _siblings(self) -> Iterator[int]:
        """Where some replicas of a call fail the request without the others, as many others may do so, too."""
        for cut in self._evidence.failing:
            replicas = self._evidence.in_points(self._evidence.in_calls(cut))
            if self._in_size(cut) and self._evidence.in_calls(cut).bit_count() == 1 and replicas.bit_count() <= 8:
                for chosen in combinations(bits(replicas), cut.bit_count()):
                    yield sum(chosen)

    def _is_plainly_replicated(self) -> bool:
        """Then the loss of all replicas is a safe bet; a call without replicas may well have one to fall back on."""
        baseline = self._evidence.baseline()
        calls = baseline.calls if baseline else 0
        return all(self._evidence.in_points(call).bit_count() > 1 for call in bits(calls))

    # ---------------------------------------------------------------------------------------------- cover

    def _cover(self, expected: Sequence[int]) -> list[int]:
        """Sets that are expected to survive and then leave nothing uncovered, if what is expected to fail does."""
        settled = [*self._evidence.failing, *self._evidence.undecided(), *expected]
        skeletons = self._skeletons()
        rows = self._covering_array(skeletons, settled) or self._covering_greedily(skeletons, settled)
        if not self._is_plainly_replicated():
            rows = rows[: self._cover_window]
        self._targets = {row.cut: row.target for row in rows}
        return list(self._targets)

    def _skeletons(self) -> list[Skeleton]:
        """Without those for which a shorter one serves as well."""
        evidence = self._evidence
        strict = evidence.kind is Certificates.STRICT
        found: dict[tuple[int, int], Skeleton] = {}
        for known in evidence.certificates:
            hidden = evidence.hidden_by(known) | evidence.in_points(evidence.wavering_in(known))
            skeleton = Skeleton(evidence.in_calls(known.path), known.failed, hidden, strict and bool(known.failed))
            key = (skeleton.calls, skeleton.failed if strict else hidden)
            if key not in found or skeleton.failed.bit_count() < found[key].failed.bit_count():
                found[key] = skeleton
        free = [each for each in found.values() if not each.hidden and not each.conditional]
        return [
            each
            for each in found.values()
            if not any(other.calls & each.calls == other.calls != each.calls for other in free)
        ]

    def _covering_array(self, skeletons: list[Skeleton], settled: list[int]) -> list[_Row]:
        """Where one skeleton serves for all: paths by `choose_paths`."""
        free = [each for each in skeletons if each.calls and not each.hidden and not each.conditional]
        if len(free) != 1 or self._share < 1 or (len(skeletons) > 1 and self._evidence.kind is Certificates.HYBRID):
            return []
        skeleton = free[0]
        columns = [self._evidence.in_points(call) for call in bits(skeleton.calls)]
        # A path has a point of each column, so it cannot certify what contains all of one.
        whole = [column for column in columns if self._in_size(column)]
        if not all(any(column & cut == column for column in whole) for cut in settled if self._in_size(cut)):
            return []
        seen = [clause.zone for clause in self._evidence.clauses() if not clause.condition]
        paths = choose_paths(columns, seen, whole + settled, self._max_size, random=self._random, effort=COVER_EFFORT)
        everything = self._evidence.in_points(skeleton.calls)
        rows = [_Row(skeleton.failed | everything & ~path, 0) for path in paths]
        return [row for row in rows if row.cut not in self._asked and not self._evidence.contains_failing(row.cut)]

    def _covering_greedily(self, skeletons: list[Skeleton], settled: list[int]) -> list[_Row]:
        """The path that covers most of what is left, again and again."""
        settled = list(settled)
        clauses = list(self._evidence.clauses())
        rows: dict[int, _Row] = {}
        window = len(self._asked) + 64 if self._is_plainly_replicated() else self._cover_window
        while len(rows) < window:
            candidates = self._uncovered(clauses, settled, SAMPLED_CANDIDATES)
            if not candidates:
                break
            best = best_path(skeletons, candidates, settled, self._evidence, self._random)
            if best is None:  # no path that we can foresee covers any of them
                target = cut = min(candidates, key=int.bit_count)
            else:
                skeleton, path, covered = best
                target = self._random.choice(covered)
                cut = self._soften(skeleton.failed | self._evidence.in_points(skeleton.calls) & ~path, target)
            if cut in self._asked:  # and it did not do what was expected of it
                cut = target
            if cut not in self._asked:
                rows.setdefault(cut, _Row(cut, target))
            if best is None or cut == target or self._share < 1 or skeleton.hidden:
                settled.append(target)
            else:
                condition = skeleton.failed if skeleton.conditional else 0
                clauses = strongest([*clauses, Clause(path | skeleton.hidden, condition)])
        return list(rows.values())

    def _soften(self, cut: int, target: int) -> int:
        """After failures that nothing of the maximal size explains, fewer calls get faults beyond the target's."""
        if self._share >= 1:
            return cut
        calls = list(bits(self._evidence.in_calls(cut & ~target)))
        kept = sum(self._random.sample(calls, int(self._share * len(calls))))
        softened = target | cut & self._evidence.in_points(kept)
        return target if self._evidence.contains_failing(softened) else softened

    # ------------------------------------------------------------------------------ merge, diagnose, ask again

    def _merge(self) -> list[int]:
        """Failures that are tolerated one by one may be so together; that one experiment certifies much.

        Without those that keep others from happening: about what they hide, they certify nothing.
        """
        first = self._evidence.baseline()
        if first is None or self._evidence.kind is Certificates.STRICT:
            return []
        every = tolerated = 0
        for known in self._evidence.certificates:
            every |= self._evidence.in_calls(known.failed)
        for known in self._evidence.certificates:
            tolerated |= 0 if known.vanished & every else known.failed
        merged = any(known.failed == tolerated for known in self._evidence.certificates)
        if merged or tolerated in self._merged or self._evidence.contains_failing(tolerated):
            return []
        self._merged.add(tolerated)
        path = 0
        for call in bits(self._evidence.in_calls(first.path) & ~self._evidence.in_calls(tolerated)):
            replicas = self._evidence.in_points(call)
            path |= self._random.choice(list(bits(replicas & ~first.path or replicas)))
        cut = tolerated | self._evidence.in_points(self._evidence.in_calls(first.path)) & ~path
        return [] if cut in self._asked or self._evidence.contains_failing(cut) else [cut]

    def _ask_again(self) -> list[int]:
        """A row that survived on another path than foreseen leaves its target open, as does one that stayed unknown.

        And where paths vary, a set may survive because the call in question was not made.
        """
        direct = [cut for cut in dict.fromkeys(self._owed) if cut not in self._asked and self._is_open(cut)]
        if not direct:
            survived = {known.cut for known in self._evidence.certificates if self._evidence.wavering_in(known)}
            direct = [
                cut
                for cut in survived
                if self._in_size(cut) and 0 < self._asked[cut] < REPEATED_ASKS and self._is_open(cut)
            ]
        self._targets = {cut: cut for cut in direct}
        return direct

    def _diagnose(self) -> list[int]:
        """Why did a set fail that was expected to survive? By the replicas of one call, or by its smallest causes."""
        causes: dict[int, None] = {}
        for cut in self._unexpected & set(self._evidence.failing) - self._given_up:
            if all(self._evidence.covers(cut & ~point) for point in bits(cut)):
                continue  # minimal: it explains itself
            slices = [cut & self._evidence.in_points(call) for call in bits(self._evidence.in_calls(cut))]
            found = [each for each in slices if each != cut and each not in self._asked and self._is_open(each)]
            if not found:
                found = self._explanations(cut)
            if not found:
                self._given_up.add(cut)
                if not self._in_size(cut):
                    self._share = self._share / 2 if self._share > 1 / 16 else 0
            causes |= dict.fromkeys(found)
        self._targets = {cut: cut for cut in causes}
        return list(causes)

    def _explanations(self, failing: int) -> list[int]:
        clauses = [Clause(clause.zone & failing, clause.condition) for clause in self._evidence.clauses()]
        others = [cut for cut in self._evidence.failing if cut != failing]
        within = [clause for clause in clauses if clause.condition & failing == clause.condition]
        found = [cut for cut in self._uncovered(within, others, SAMPLED_CANDIDATES) if cut not in self._asked]
        found.sort(key=lambda cut: (cut.bit_count(), self._evidence.in_calls(cut).bit_count()))
        return found[:EXPLANATIONS]

    # ---------------------------------------------------------------------------------------------- candidates

    def _prove(self) -> _Proof:
        if self._proof is None:
            settled = [*self._evidence.failing, *self._evidence.undecided()]
            if self._evidence.baseline() is None:
                return _Proof(self._max_size if 0 in settled else -1)
            try:
                found = next(self._uncovered_sets(self._evidence.clauses(), settled), None)
                self._proof = _Proof(self._max_size if found is None else found.bit_count() - 1, found)
            except OutOfPatienceError as error:
                self._proof = _Proof(error.size - 1)
        return self._proof

    def _uncovered(self, clauses: Sequence[Clause], settled: Sequence[int], limit: int) -> list[int]:
        found: list[int] = []
        with suppress(OutOfPatienceError):
            found.extend(islice(self._uncovered_sets(clauses, settled), limit))
        return found

    def _uncovered_sets(self, clauses: Sequence[Clause], settled: Sequence[int]) -> Iterator[int]:
        every = uncovered_sets(
            clauses, self._max_size, accepted=self._evidence.accepted, points=self._evidence.all_points()
        )
        return (cut for cut in every if not any(known & cut == known for known in settled))

    def _is_open(self, cut: int) -> bool:
        evidence = self._evidence
        settled = evidence.contains_failing(cut) or any(known & cut == known for known in evidence.undecided())
        return not settled and not evidence.covers(cut)

    def _in_size(self, cut: int) -> bool:
        return cut.bit_count() <= self._max_size

    def _weight(self, cut: int) -> float:
        return sum(self._settings.weights.get(point.of_api, 0.0) for point in self._evidence.to_points(cut))
