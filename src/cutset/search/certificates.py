"""What experiments prove about sets that were never injected.

LDFI and FastFI (§3.1) take a surviving request's path P as proof that every set that misses P survives. That is unsound
where a tolerated failure hides a mandatory call ("optional X, then Y only if X answered": the survivor of {X} does not
call Y, so its path says that Y is harmless). Here a survivor is a *certificate* with a condition. With C all that it
called, whatever came of it, and F the faults that fired, it *covers* a set H, that is, proves that H survives,

- exact: if H contains F and misses the rest of C. Then H and F agree wherever this run asked, so that their runs are
  the same one, if a request's behaviour depends on nothing but which faults fire. A call that failed by itself was
  called: who tolerates its 500 need not tolerate our 503. A delay that was waited for fired.
- independent, where replicas are told apart: also if H misses the rest of C and touches nothing that is *hidden*: no
  call that *vanished*, one that was made in a run in which less failed, but not in this one; and none of several calls
  that failed together, unless it was seen to fail alone (or, if it is only made once others failed, with fewer of
  them), since what it leads to by itself may have vanished, too. Elsewhere it is `cutset.search.superposition`.

Replicas of a call are alternatives once one call was seen to try a second one when the first failed: then C has only
the one that answered. Until then all that were ever called belong to C, since a balancer sends the next request
elsewhere.

Where runs vary without any fault (caches), a call that was made in another run in which exactly the same failed, but
not in this one, is *wavering*: a certificate says nothing about it.

A set that no certificate covers and that contains no failing set is *uncovered* (`cutset.search.uncovered`): nobody
knows whether it survives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut, Fault
from cutset.model.outcome import Outcome, Verdict
from cutset.search.bitset import bits
from cutset.search.elements import Elements
from cutset.search.observed_run import REQUEST, ObservedRun
from cutset.search.strategy import Certificates, Masked
from cutset.search.superposition import Superposition
from cutset.search.uncovered import Clause, Cover, strongest

DETERMINISM = "behaviour depends on which faults fire"
REPLICAS_ARE_ALIKE = "a replica that was seen to stand in for another serves as well"
INDEPENDENCE = "failures that do together what they do alone do not upset each other unseen"
ALIKE = "effects of a call that look alike by themselves do so along with others"


@dataclass(slots=True)
class Certificate:
    """A surviving run, as bit sets: of faults, but for `calls` and `vanished`, which are of calls."""

    outcome: Outcome
    cut: int
    path: int  # what was called and had no fault
    failed: int  # the faults that fired, but for those of replicas that another one stood in for
    calls: int
    vanished: int = 0


class Evidence:
    """All outcomes so far, and what follows from them."""

    def __init__(self, kind: Certificates, elements: Elements) -> None:
        self.kind = kind
        self.elements = elements
        self.certificates: list[Certificate] = []
        self.failing: list[int] = []  # only the minimal ones
        self.accepted: set[int] = set()  # survived as often as they were tried, though no certificate covers them
        self._certified: set[tuple[int, int, int, int]] = set()  # certificates, to tell what was seen before
        self._outcomes_of_failing: dict[int, Outcome] = {}
        self._failures: set[int] = set()  # what failed in one surviving run or another
        self._failed_over = 0  # calls of which another replica was seen to answer when one failed
        self._ever_called = 0  # faults at the points that were
        self._usual_calls = 0  # those that are made where nothing fails
        self._wavering: dict[int, int] = {}  # calls that come and go, by what failed in the runs that show it
        self._wavering_asks: dict[int, int] = {}  # faults for an n-th call where the number of calls varies, likewise
        self._unknown: list[int] = []
        self.superposition = Superposition(elements, by_classes=kind is Certificates.CLASSES)
        self._proofs: dict[Certificates, list[tuple[Clause, Certificate]]] = {}
        self._clauses: dict[Certificates, list[Clause]] = {}
        self._cover: Cover | None = None
        self._elements_then = 0  # when the clauses were made

    def learn(self, outcome: Outcome) -> None:
        """Of faults that are not among those to be tried nothing is to be decided."""
        elements = self.elements
        if not elements.know(outcome.cut):
            return
        cut = elements.to_bits(outcome.cut)
        self._forget_clauses()
        if outcome.verdict is Verdict.FAILED:
            self._outcomes_of_failing.setdefault(cut, outcome)
            self.assume_failing(cut)
        elif outcome.verdict is Verdict.UNKNOWN or elements.at(outcome.calls - outcome.fired) & cut:
            self._unknown.append(cut)  # it was called, and nothing proves that its fault happened
        else:
            self._certify(cut, outcome)
        self._ever_called |= elements.at(outcome.calls)  # a failing run shows replicas, too
        self._failed_over |= elements.in_calls(elements.at(outcome.retried & outcome.fired))

    def assume_failing(self, cut: int) -> None:
        if not any(known & cut == known for known in self.failing):
            self.failing = [known for known in self.failing if known & cut != cut] + [cut]

    def clauses(self, kind: Certificates | None = None) -> list[Clause]:
        """Without those that others imply; `kind` is that of the search, unless told otherwise."""
        kind = kind or self.kind
        proofs = self._proofs_of(kind)
        if kind not in self._clauses:
            self._clauses[kind] = strongest(clause for clause, _ in proofs)
        return self._clauses[kind]

    def _proofs_of(self, kind: Certificates) -> list[tuple[Clause, Certificate]]:
        """All clauses, each with the run that it comes from."""
        if self._elements_then != len(self.elements):  # a replica of a call that vanished, maybe
            self._forget_clauses()
        if kind not in self._proofs:
            self._proofs[kind] = [
                (clause, each) for each in self.certificates for clause in self.clauses_of(each, kind)
            ]
        return self._proofs[kind]

    def clauses_of(self, certificate: Certificate, kind: Certificates | None = None) -> Iterator[Clause]:
        zone = self._with_alternatives(certificate.path) | self.elements.in_faults(self.wavering_in(certificate))
        zone |= _under(certificate.failed, self._wavering_asks)
        zone &= ~certificate.failed
        if self.infers_by_hidden_calls(kind):
            hidden = self.hidden_by(certificate)
            yield Clause(zone | hidden)
            if not hidden:
                return
        yield Clause(zone, certificate.failed)

    def infers_by_superposition(self, kind: Certificates | None = None) -> bool:
        inferring = (kind or self.kind) is not Certificates.EXACT and not self.elements.tell_replicas_apart()
        return inferring and self.superposition.is_usable

    def infers_by_hidden_calls(self, kind: Certificates | None = None) -> bool:
        return (kind or self.kind) is not Certificates.EXACT and self.elements.tell_replicas_apart()

    def _with_alternatives(self, path: int) -> int:
        """A balancer sends the next request elsewhere: other replicas are alternatives once one was seen to step in."""
        if not self.elements.tell_replicas_apart():
            return path
        return path | self.elements.in_faults(self.elements.in_calls(path) & ~self._failed_over) & self._ever_called

    def wavering_in(self, certificate: Certificate) -> int:
        """Calls that come and go by themselves under such failures, and were not made in this run."""
        return _under(certificate.failed, self._wavering) & ~certificate.calls

    def hidden_by(self, certificate: Certificate) -> int:
        """The points that an independent certificate says nothing of, unless all that failed in its run fails."""
        unwitnessed = certificate.failed
        if self.elements.in_calls(unwitnessed).bit_count() == 1:
            unwitnessed = 0
        for failed in self._failures if unwitnessed else ():
            if failed & certificate.failed == failed != certificate.failed:
                alone = self.elements.in_calls(failed).bit_count() == 1
                unwitnessed &= ~(failed if alone else failed & ~self.elements.in_faults(self._usual_calls))
        return self.elements.in_faults(certificate.vanished) | unwitnessed

    def covers(self, candidate: int) -> bool:
        clauses = self.clauses()
        if self._cover is None:
            self._cover = Cover(clauses)
        if candidate in self.accepted or self._cover.clause_for(candidate) is not None:
            return True
        return self.infers_by_superposition() and self.superposition.decided_by(candidate, self.failing) is not None

    def undecided(self) -> list[int]:
        """Sets whose own outcome stayed unknown and that no other experiment decides."""
        return [cut for cut in dict.fromkeys(self._unknown) if not self.covers(cut) and not self.contains_failing(cut)]

    def contains_failing(self, candidate: int) -> bool:
        return any(known & candidate == known for known in self.failing)

    def fired_in_failures(self) -> set[int]:
        """Where a failed run's trace shows less than its whole cut to have fired: that, maybe, is what failed it."""
        return {self.elements.at(each.fired) & cut for cut, each in self._outcomes_of_failing.items()} - {0}

    def masked(self) -> tuple[Masked, ...]:
        """Only the smallest survivor of each failing cut."""
        found = []
        for cut in self._outcomes_of_failing:
            survivors = [known.cut for known in self.certificates if known.cut & cut == cut != known.cut]
            if survivors:
                found.append(Masked(self.elements.to_cut(cut), self.elements.to_cut(min(survivors, key=int.bit_count))))
        return tuple(found)

    def explain(self, cut: Cut) -> tuple[Verdict, Outcome | None]:
        """Its own experiment counts most; then failing wins, since a masked cut fails although it may be covered."""
        if not self.elements.know(cut):
            return Verdict.UNKNOWN, None
        candidate = self.elements.to_bits(cut)
        survived = [known.outcome for known in self.certificates if known.cut == candidate]
        if survived and candidate not in self._outcomes_of_failing:  # where paths vary, it may do both
            return Verdict.SURVIVED, survived[0]
        failing = [cut for cut in self._outcomes_of_failing if cut & candidate == cut]
        if failing:
            return Verdict.FAILED, self._outcomes_of_failing[min(failing, key=int.bit_count)]
        if (proof := self.run_of(cut) or self._proof(candidate, self.kind)) is not None:
            return Verdict.SURVIVED, proof
        if (
            self.infers_by_superposition()
            and (fired := self.superposition.decided_by(candidate, self.failing)) is not None
        ):
            return Verdict.SURVIVED, next(known.outcome for known in self.certificates if known.failed == fired)
        return Verdict.UNKNOWN, None

    def run_of(self, cut: Cut) -> Outcome | None:
        """A survivor that is also the run of this set, since it differs from it in nothing that was called."""
        return self._proof(self.elements.to_bits(cut), Certificates.EXACT)

    def _proof(self, candidate: int, kind: Certificates) -> Outcome | None:
        return next((each.outcome for clause, each in self._proofs_of(kind) if clause.covers(candidate)), None)

    def baseline(self) -> Certificate | None:
        return next((known for known in self.certificates if not known.cut), None)

    def settle(self, cut: int) -> None:
        """Take what its own experiments showed, since no certificate will ever cover it."""
        own = [known for known in self.certificates if known.cut == cut]
        if own and not any(map(self.missed_by, own)):
            self.accepted.add(cut)
        else:
            self._unknown.append(cut)

    def missed_by(self, certificate: Certificate) -> int:
        """Faulted replicas that the balancer did not choose, in a call that was never seen to try another one."""
        made = self.elements.in_faults(certificate.calls & ~self._failed_over)
        return certificate.cut & made & ~self.elements.at(certificate.outcome.fired)

    def _certify(self, cut: int, outcome: Outcome) -> None:
        # Whatever was called and had no fault was relied on to be as it was: that it answered may matter even if the
        # answer was of no use, and how it failed by itself may matter to who tolerates that and no other failure.
        elements = self.elements
        called = elements.asked_for_in(outcome)
        fired, failed = (elements.at(each) & cut for each in (outcome.fired, outcome.failed))
        self._superpose(outcome, fired, called)
        replaced = elements.at(outcome.retried)
        new = Certificate(
            outcome=outcome,
            cut=cut,
            path=called & ~elements.whole(cut),
            failed=cut & elements.in_faults(elements.in_calls(failed)) | fired & ~replaced,
            calls=elements.in_calls(called),
        )
        as_before = (new.cut, new.path, new.failed, new.calls)
        if as_before in self._certified:
            return
        self._certified.add(as_before)
        for old in self.certificates:
            if old.failed & new.failed == old.failed:
                self._compare(old, new)
            if old.failed & new.failed == new.failed:
                self._compare(new, old)
        self.certificates.append(new)
        self._failures.add(new.failed)
        if not new.failed:
            self._usual_calls |= new.calls

    def _superpose(self, outcome: Outcome, fired: int, called: int) -> None:
        """Only where the trace tells how each call was answered."""
        answers: dict[int, list[str]] = {}
        took: dict[int, int] = {} if outcome.milliseconds is None else {REQUEST: outcome.milliseconds}
        for each in outcome.seen:
            point = self.elements.at({each.point})
            answers.setdefault(point, []).append(f"{each.status}@{each.caller}")
            took[point] = took.get(point, 0) + each.milliseconds
        self.superposition.is_usable &= outcome.calls == {each.point for each in outcome.seen}
        sorted_answers = {point: tuple(sorted(each)) for point, each in answers.items()}
        self.superposition.learn(fired, ObservedRun(called, sorted_answers, took, outcome.verdict))

    def _compare(self, known: Certificate, other: Certificate) -> None:
        """What the first run made and the second, in which at least as much failed, did not."""
        missing = known.calls & ~other.calls
        if known.failed == other.failed:
            # Both are runs of one plan, as far as it was asked: what one made comes and goes by itself. Unless the
            # plan was known without being asked, as where routing avoids what is down.
            if not self._is_routed(known, other) and not self._is_routed(other, known):
                self._wavering[known.failed] = self._wavering.get(known.failed, 0) | missing
                asks = known.path & ~other.path & self.elements.whole(other.path)
                self._wavering_asks[known.failed] = self._wavering_asks.get(known.failed, 0) | asks
        else:
            other.vanished |= missing

    def _is_routed(self, run: Certificate, around: Certificate) -> bool:
        return bool(run.cut) and not run.outcome.fired and not self._could_take(around.path, run.cut)

    def _could_take(self, path: int, cut: int) -> bool:
        """By other replicas, if need be."""
        return all(self.elements.in_faults(call) & ~cut for call in bits(self.elements.in_calls(path)))

    def _forget_clauses(self) -> None:
        self._proofs = {}
        self._clauses = {}
        self._cover = None
        self._elements_then = len(self.elements)


def _under(failed: int, wavering: Mapping[int, int]) -> int:
    """What comes and goes where this fails: all that does so where less fails."""
    found = 0
    for less, each in wavering.items():
        if less & failed == less:
            found |= each
    return found


@dataclass(frozen=True, slots=True)
class Explanation:
    verdict: Verdict  # failed, survived or unknown
    because: Outcome | None  # the experiment that proves it
    reason: str  # one sentence
    same_run: bool = False  # whether that experiment is also the run of this set: it would be answered in the same way


def evidence_of(outcomes: Sequence[Outcome], certificates: Certificates, *others: Cut) -> Evidence:
    """With the effects that were tried, and those of others that may be asked for."""
    tried = frozenset[Fault]().union(*others, *(outcome.cut for outcome in outcomes))
    everywhere = EffectChoice(tuple(sorted({fault.effect for fault in tried})))
    evidence = Evidence(certificates, Elements(everywhere, tried))
    for outcome in outcomes:
        evidence.learn(outcome)
    return evidence


def explain(outcomes: Sequence[Outcome], cut: Cut, certificates: Certificates) -> Explanation:
    """Why a set of faults fails or survives, whether or not it was injected itself."""
    return explain_by(evidence_of(outcomes, certificates, cut), cut)


def explain_by(evidence: Evidence, cut: Cut) -> Explanation:
    """What appeared in no run makes no difference to any: it is left out, and evidence stays as it is."""
    appeared = frozenset(fault for fault in cut if evidence.elements.has(fault.point))
    verdict, because = evidence.explain(appeared)
    if because is None:
        return Explanation(verdict, None, "No experiment tells: it was not injected, and no certificate covers it.")
    same = because.cut == cut
    if verdict is Verdict.FAILED:
        reason = "It was injected and failed." if same else "It contains a cut that was injected and failed."
        return Explanation(verdict, because, reason, same_run=same)
    if same:
        return Explanation(verdict, because, "It was injected and survived.", same_run=True)
    if because is evidence.run_of(appeared):
        reason = "An experiment survived that differs from it in nothing that was called."
        return Explanation(verdict, because, reason, same_run=True)
    reason = "An experiment with other failures survived, and showed all that these do by themselves."
    return Explanation(verdict, because, reason)
