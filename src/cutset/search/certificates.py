"""What experiments prove about sets that were never injected.

LDFI and FastFI (§3.1) take a surviving request's path P as proof that every set that misses P survives. That is unsound
where a tolerated failure hides a mandatory call ("optional X, then Y only if X answered": the survivor of {X} does not
call Y, so its path says that Y is harmless). Here a survivor is a *certificate* with a condition. With P all that it
called without a fault, whether the answer was of use or the call failed by itself (who tolerates its 500 need not
tolerate our 503), and E the faults that fired, it *covers* a set H, that is, proves that H survives,

- strict: if H misses P and contains E. This needs only that a request's behaviour depends on which faults fire, and not
  on which replica serves. Replicas of a call are alternatives once one call was seen to try a second one when the first
  failed; until then all that were ever called belong to P, since a balancer sends the next request elsewhere.
- hybrid: also if H misses P and touches nothing that is *hidden*: no call that *vanished*, one that was made in a run
  in which less failed, but not in this one; and none of several calls that failed together, unless it was seen to fail
  alone (or, if it is only made once others failed, with fewer of them), since what it leads to by itself may have
  vanished, too. This needs, besides, that failures which are tolerated one by one do not upset each other unseen.

Where paths vary without any fault (caches), a call that was made in another run in which exactly the same failed, but
not in this one, though each might have gone the other's way and nothing took its place, is *wavering*: a certificate
says nothing about it.

A set that no certificate covers and that contains no failing set is *uncovered*: nobody knows whether it survives. In
terms of clauses: it hits the zone of each clause whose condition it contains. So the minimal uncovered sets are
minimal hitting sets of the clauses without a condition, extended, where they meet conditions, by points of those zones.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from cutset.model.fault import points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.bitset import bits
from cutset.search.hitting_sets import minimal_hitting_sets
from cutset.search.strategy import Certificates, Masked

ASSUMPTIONS = {
    Certificates.HYBRID: "behaviour depends on which faults fire, and failures that are tolerated one by one do not "
    "upset each other unseen",
    Certificates.STRICT: "behaviour depends on which faults fire",
}


@dataclass(frozen=True, slots=True)
class Clause:
    """Whatever contains `condition` and misses `zone` is covered."""

    zone: int
    condition: int = 0

    def covers(self, candidate: int) -> bool:
        return not candidate & self.zone and self.condition & candidate == self.condition

    def implies(self, other: "Clause") -> bool:
        return self.zone & other.zone == self.zone and self.condition & other.condition == self.condition


@dataclass(slots=True)
class Certificate:
    """A surviving run, as bit sets: of points, but for `calls` and `vanished`, which are of calls."""

    outcome: Outcome
    cut: int
    path: int
    failed: int
    calls: int
    vanished: int = 0


class Evidence:
    """All outcomes so far, and what follows from them. Points and calls are numbered as they appear."""

    def __init__(self, kind: Certificates) -> None:
        self.kind = kind
        self.certificates: list[Certificate] = []
        self.failing: list[int] = []  # only the minimal ones
        self.accepted: set[int] = set()  # survived as often as they were tried, though no certificate covers them
        self.points_of_call: list[int] = []  # the replicas of each call
        self._outcomes_of_failing: dict[int, Outcome] = {}
        self._failures: set[int] = set()  # what failed in one surviving run or another
        self._failed_over = 0  # calls of which another replica was seen to answer when one failed
        self._ever_called = 0  # points
        self._usual_calls = 0  # those that are made where nothing fails
        self._wavering: dict[int, int] = {}  # calls that come and go, by what failed in the runs that show it
        self._unknown: list[int] = []
        self._points: list[Point] = []
        self._point_bits: dict[Point, int] = {}
        self._call_bits: dict[Point, int] = {}  # by point without replica
        self._call_of_point: list[int] = []
        self._clauses: list[Clause] | None = None

    def learn(self, outcome: Outcome) -> None:
        cut = self.to_bits(points_of(outcome.cut))
        self._clauses = None
        if outcome.verdict is Verdict.FAILED:
            self._outcomes_of_failing.setdefault(cut, outcome)
            self.assume_failing(cut)
        elif outcome.verdict is Verdict.UNKNOWN:
            self._unknown.append(cut)
        else:
            self._certify(cut, outcome)
        self._ever_called |= self.to_bits(outcome.calls)  # a failing run shows replicas, too
        self._failed_over |= self.in_calls(self.to_bits(outcome.retried))

    def assume_failing(self, cut: int) -> None:
        if not any(known & cut == known for known in self.failing):
            self.failing = [known for known in self.failing if known & cut != cut] + [cut]

    def clauses(self) -> list[Clause]:
        """Without those that others imply."""
        if self._clauses is None:
            self._clauses = strongest(
                clause for certificate in self.certificates for clause in self.clauses_of(certificate)
            )
        return self._clauses

    def clauses_of(self, certificate: Certificate) -> Iterator[Clause]:
        zone = self._with_alternatives(certificate.path) | self.in_points(self.wavering_in(certificate))
        zone &= ~certificate.failed
        if self.kind is Certificates.STRICT:
            yield Clause(zone, certificate.failed)
        else:
            hidden = self.hidden_by(certificate)
            yield Clause(zone | hidden)
            if hidden:
                yield Clause(zone, certificate.failed)

    def _with_alternatives(self, path: int) -> int:
        """A balancer sends the next request elsewhere: other replicas are alternatives once one was seen to step in."""
        return path | self.in_points(self.in_calls(path) & ~self._failed_over) & self._ever_called

    def wavering_in(self, certificate: Certificate) -> int:
        """Calls that come and go by themselves under such failures, and were not made in this run."""
        found = 0
        for failed, wavering in self._wavering.items():
            if failed & certificate.failed == failed:
                found |= wavering
        return found & ~certificate.calls

    def hidden_by(self, certificate: Certificate) -> int:
        """The points that a hybrid certificate says nothing of, unless all that failed in its run fails."""
        unwitnessed = certificate.failed
        if self.in_calls(unwitnessed).bit_count() == 1:
            unwitnessed = 0
        for failed in self._failures if unwitnessed else ():
            if failed & certificate.failed == failed != certificate.failed:
                alone = self.in_calls(failed).bit_count() == 1
                unwitnessed &= ~(failed if alone else failed & ~self.in_points(self._usual_calls))
        return self.in_points(certificate.vanished) | unwitnessed

    def covers(self, candidate: int) -> bool:
        return candidate in self.accepted or any(clause.covers(candidate) for clause in self.clauses())

    def undecided(self) -> list[int]:
        """Sets whose own outcome stayed unknown and that no other experiment decides."""
        return [cut for cut in dict.fromkeys(self._unknown) if not self.covers(cut) and not self.contains_failing(cut)]

    def contains_failing(self, candidate: int) -> bool:
        return any(known & candidate == known for known in self.failing)

    def masked(self) -> tuple[Masked, ...]:
        """Only the smallest survivor of each failing cut."""
        found = []
        for cut in self._outcomes_of_failing:
            survivors = [known.cut for known in self.certificates if known.cut & cut == cut != known.cut]
            if survivors:
                found.append(Masked(self.to_points(cut), self.to_points(min(survivors, key=int.bit_count))))
        return tuple(found)

    def explain(self, candidate: int) -> tuple[Verdict, Outcome | None]:
        """Its own experiment counts most; then failing wins, since a masked cut fails although it may be covered."""
        survived = [known.outcome for known in self.certificates if known.cut == candidate]
        if survived and candidate not in self._outcomes_of_failing:  # where paths vary, it may do both
            return Verdict.SURVIVED, survived[0]
        failing = [cut for cut in self._outcomes_of_failing if cut & candidate == cut]
        if failing:
            return Verdict.FAILED, self._outcomes_of_failing[min(failing, key=int.bit_count)]
        for certificate in self.certificates:
            if any(clause.covers(candidate) for clause in self.clauses_of(certificate)):
                return Verdict.SURVIVED, certificate.outcome
        return Verdict.UNKNOWN, None

    def baseline(self) -> Certificate | None:
        return next((known for known in self.certificates if not known.cut), None)

    def settle(self, cut: int) -> None:
        """Take what its own experiments showed, since no certificate will ever cover it."""
        if any(known.cut == cut for known in self.certificates):
            self.accepted.add(cut)
        else:
            self._unknown.append(cut)

    def all_points(self) -> int:
        return (1 << len(self._points)) - 1

    def has_replicas(self) -> bool:
        return any(point.replica for point in self._points)

    def in_points(self, calls: int) -> int:
        points = 0
        for call in bits(calls):
            points |= self.points_of_call[call.bit_length() - 1]
        return points

    def in_calls(self, points: int) -> int:
        calls = 0
        for point in bits(points):
            calls |= self._call_of_point[point.bit_length() - 1]
        return calls

    def to_bits(self, points: Points) -> int:
        for point in sorted(points - self._point_bits.keys()):  # in the same order in every process
            self._add(point)
        return sum(self._point_bits[point] for point in points)

    def to_points(self, cut: int) -> Points:
        return frozenset(self._points[bit.bit_length() - 1] for bit in bits(cut))

    def _certify(self, cut: int, outcome: Outcome) -> None:
        # Whatever was called and had no fault was relied on to be as it was: that it answered may matter even if the
        # answer was of no use, and how it failed by itself may matter to who tolerates that and no other failure.
        path = self.to_bits(outcome.path | outcome.calls) & ~cut
        fired = self.to_bits(outcome.calls) & cut
        failed = self.to_bits(outcome.failed) & cut
        new = Certificate(
            outcome=outcome,
            cut=cut,
            path=path,
            # A fault that fired and was waited for (a delay) is a condition, too; unless another replica answered.
            failed=cut & self.in_points(self.in_calls(failed)) | self._of_one_replica(fired),
            calls=self.in_calls(self.to_bits(outcome.calls | outcome.path)),
        )
        if any(
            (old.cut, old.path, old.failed, old.calls) == (new.cut, new.path, new.failed, new.calls)
            for old in self.certificates
        ):
            return
        for old in self.certificates:
            self._compare(old, new)
            self._compare(new, old)
        self.certificates.append(new)
        self._failures.add(new.failed)
        if not new.failed:
            self._usual_calls |= new.calls

    def _of_one_replica(self, points: int) -> int:
        return sum(point for point in bits(points) if self.in_points(self.in_calls(point)).bit_count() == 1)

    def _compare(self, known: Certificate, other: Certificate) -> None:
        """What the first run made and the second, in which at least as much failed, did not."""
        missing = known.calls & ~other.calls
        if known.failed == other.failed:
            # A call that others take the place of is one of several ways; one that nothing replaces comes and goes.
            replaced = other.calls & ~known.calls
            possible = self._could_take(known.path, other.cut) and self._could_take(other.path, known.cut)
            if missing and possible and not replaced:
                self._wavering[known.failed] = self._wavering.get(known.failed, 0) | missing
        elif known.failed & other.failed == known.failed:
            other.vanished |= missing

    def _could_take(self, path: int, cut: int) -> bool:
        """By other replicas, if need be."""
        return all(self.in_points(call) & ~cut for call in bits(self.in_calls(path)))

    def _add(self, point: Point) -> None:
        self._point_bits[point] = 1 << len(self._points)
        self._points.append(point)
        call = self._call_bits.setdefault(replace(point, replica=""), 1 << len(self._call_bits))
        if call.bit_length() > len(self.points_of_call):
            self.points_of_call.append(0)
        self.points_of_call[call.bit_length() - 1] |= self._point_bits[point]
        self._call_of_point.append(call)
        self._clauses = None  # a replica of a call that vanished, maybe


def strongest(clauses: Iterable[Clause]) -> list[Clause]:
    kept: list[Clause] = []
    for clause in sorted(set(clauses), key=lambda each: (each.zone.bit_count(), each.condition.bit_count())):
        if not any(other.implies(clause) for other in kept):
            kept.append(clause)
    return kept


class OutOfPatienceError(Exception):
    """The enumeration took too long; all sets smaller than `size` had been served."""

    def __init__(self, size: int) -> None:
        super().__init__(f"too many sets of {size} points")
        self.size = size


def uncovered_sets(
    clauses: Sequence[Clause],
    max_size: int,
    *,
    accepted: Collection[int] = (),
    points: int = 0,
    patience: int = 1_000_000,
) -> Iterator[int]:
    """Each set of at most so many points that no clause covers contains one of these. The smallest first.

    Sets that are accepted count as covered, but not what contains them: they are extended by any of the points.
    Patience is in steps of a few microseconds; raises OutOfPatienceError.
    """
    conditional = [clause for clause in clauses if clause.condition]
    unconditional = [clause.zone for clause in clauses if not clause.condition]
    steps = iter(range(patience))
    larger: list[set[int]] = [set() for _ in range(max_size + 2)]  # by size: what is covered, with one more point
    for size in range(max_size + 1):
        hitting = minimal_hitting_sets(
            unconditional, size, min_size=size, may_go_on=lambda: next(steps, None) is not None
        )
        for candidate in chain(sorted(larger[size]), (each for each in hitting if each not in larger[size])):
            covering = next((clause for clause in conditional if clause.covers(candidate)), None)
            if covering is None and candidate not in accepted:
                yield candidate
            else:
                for point in bits((covering.zone if covering else points) & ~candidate):
                    larger[size + 1].add(candidate | point)
            if next(steps, None) is None:
                raise OutOfPatienceError(size)
        if next(steps, None) is None:  # it may have run out between two sets
            raise OutOfPatienceError(size)


@dataclass(frozen=True, slots=True)
class Explanation:
    verdict: Verdict  # failed, survived or unknown
    because: Outcome | None  # the experiment that proves it
    reason: str  # one sentence


def explain(outcomes: Iterable[Outcome], points: Points, certificates: Certificates) -> Explanation:
    """Why a set of points fails or survives, whether or not it was injected itself."""
    evidence = Evidence(certificates)
    for outcome in outcomes:
        evidence.learn(outcome)
    verdict, because = evidence.explain(evidence.to_bits(points))
    if because is None:
        return Explanation(verdict, None, "No experiment tells: it was not injected, and no certificate covers it.")
    same = points_of(because.cut) == points
    if verdict is Verdict.FAILED:
        reason = "It was injected and failed." if same else "It contains a cut that was injected and failed."
    elif same:
        reason = "It was injected and survived."
    else:
        reason = "An experiment survived on a path that needs none of these points."
    return Explanation(verdict, because, reason)
