"""Re-verifies a campaign from its ledger alone. Nothing here is shared with the search, the laboratory or the reports:
it imports what records consist of (`model`) and how they are written (`store.codec`), and reads the file by itself.

The theorem. A fault is an effect at a point, and a set of faults has one per point at most. Let a request always do the
same under the same faults (determinism). A run that *called* the points C, and at which the faults F *fired*, is also
the run of every set H that agrees with F on C: go through both side by side; the first difference could only be a call
that is made in both and meets different faults, but every call made is in C. So

- a run that survived decides that each H survives that contains F and no other fault at C. It is a *leaf* with the
  *condition* F; its *zone* is whatever else could have happened at C. What a call that was answered 503 would have done
  to a request had it been slow is in the zone: nothing is concluded from one effect to another;
- a run that failed proves that F fails, whatever else was planned.

Runs in which the same fired and different calls were made (caches) are one leaf, with all their calls. Where replicas
are told apart, (R): of a call that was seen to turn to another replica when a fault failed the first, any replica may
stand for any other under that effect: the zone needs only the one that served, and a fault so passed over is no
condition. Of any other call all replicas that were ever called are in the zone: a balancer sends the next elsewhere.

A request is *exact up to k* if each set of at most k faults, of all that the campaign tries at calls that were seen,
contains one that fails or is decided by a leaf. Pictures, and what this does not cover: docs/explanation/proof.md.
"""

import hashlib
import hmac
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from cutset.errors import InputError, UsageError
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Cut, Fault, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.proof import CheckedCampaign, CheckedRequest
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.codec import RecordedEvent, event_from_json

_NO_AUDIT = RequestAudited(
    request="", healthy=False, reason="", calls=frozenset(), not_reached=frozenset(), trace_ids=()
)
MOST_SETS = 1_000_000  # of one size that are looked at, a minute or two; beyond that the checker says that it gave up


def check(
    ledger: Path, run: str = "", *, key: bytes = b"", tell: Callable[[str], None] = lambda _: None
) -> CheckedCampaign:
    """The campaign of this id, by default the latest. With a `key`, its end must have been sealed with it."""
    rows = _rows(ledger, run)
    run, link, sealed = rows[0][1], "", False
    wrong: list[str] = []
    events: list[RecordedEvent] = []
    for number, _, at, kind, fields, written in rows:
        event = event_from_json(kind, fields)
        if isinstance(event, RunFinished):
            sealed = bool(key) and hmac.compare_digest(event.seal, _seal(key, run, link, event.reason))
        link = hashlib.sha256("\n".join((link, run, repr(at), kind, fields)).encode()).hexdigest()
        if link != written and not wrong:
            wrong.append(f"record {number} ({kind}) is not as it was written, or one before it is missing")
        events.append(event)
    begun = next((each for each in reversed(events) if isinstance(each, CampaignStarted)), None)
    finished = isinstance(events[-1], RunFinished)  # else it was interrupted, or its end was taken away
    if key and finished and not sealed:
        wrong.append("it is not sealed with this key (`CUTSET_KEY`): it was changed, or recorded with another")
    return CheckedCampaign(
        id=run,
        effects=begun.effects if begun else EffectChoice(),
        certificates=begun.certificates if begun else "",
        records=len(rows),
        head=link,
        sealed=sealed,
        finished=finished,
        requests=tuple(_checked(name, begun, events, tell) for name in begun.requests) if begun else (),
        wrong=tuple(wrong),
    )


def _seal(key: bytes, run: str, link: str, reason: str) -> str:
    """What `store.ledger` puts on the end of a run. Who lacks the key cannot put it on another chain."""
    return hmac.new(key, "\n".join(("cutset ledger", run, link, reason)).encode(), hashlib.sha256).hexdigest()


def _rows(ledger: Path, wanted: str) -> list[tuple[Any, ...]]:
    """Writes nothing: what is on a read-only disk can be checked."""
    if not ledger.exists():
        raise UsageError(f"There is no ledger at `{ledger}`", hint="Run `cutset explore` or `cutset demo` first")
    # A log beside it: another process is at it, or was killed. Else nothing is expected, not even leave to write one.
    mode = "mode=ro" if Path(f"{ledger}-wal").exists() else "immutable=1"
    database = sqlite3.connect(f"{ledger.resolve().as_uri()}?{mode}", uri=True)
    try:
        begun = "SELECT run, fields FROM events WHERE kind = 'RunStarted' ORDER BY id"
        campaigns = {
            run: event.part_of
            for run, fields in database.execute(begun)
            if isinstance(event := event_from_json("RunStarted", fields), RunStarted) and event.loop is Loop.CAMPAIGN
        }
        found = [run for run, part_of in campaigns.items() if (run == wanted if wanted else not part_of)]
        if not found:
            raise UsageError(f"There is no campaign {f'`{wanted}` ' if wanted else ''}in `{ledger}`")
        query = "SELECT id, run, at, kind, fields, link FROM events WHERE run = ? ORDER BY id"
        return database.execute(query, (found[-1],)).fetchall()
    except sqlite3.DatabaseError as error:
        raise InputError(f"`{ledger}` is not a readable ledger: {error}", hint="Restore it from a copy") from error
    finally:
        database.close()


def _checked(
    name: str, begun: CampaignStarted, events: Sequence[RecordedEvent], tell: Callable[[str], None]
) -> CheckedRequest:
    """What the campaign claims of this request, held against what its runs prove."""
    ends = [each for each in events if isinstance(each, RequestFinished) and each.request == name]
    end = ends[-1] if ends else RequestFinished(request=name, complete_up_to=-1, reason="it was interrupted")
    audited, outcomes, sound = _runs(name, begun, events)
    proof = Proof(sound, audited.calls, audited.not_reached, begun.effects)
    tell(name)
    trusted = end.predicted if begun.across_requests == "trust" else ()
    others = [run for other in begun.requests if trusted and other != name for run in _runs(other, begun, events)[2]]
    open_set, proven = proof.first_open(begun.max_size)
    left_over, assumed = proof.first_open(
        begun.max_size, more_hurts=True, alike=begun.certificates == "classes", trusted=trusted, others=others
    )
    is_exact = begun.certificates == "exact" and begun.strategy == "cuts" and not trusted
    exact = end.complete_up_to if is_exact else end.exact_up_to
    wrong = list(_false_findings(outcomes, begun, proof, minimal_up_to=end.complete_up_to + 1))
    if end.complete_up_to > begun.max_size:
        wrong.append(f"said to be complete up to size {end.complete_up_to}, and explored up to {begun.max_size}")
    elif proven < exact and open_set is not None:  # else there are too many sets, and nobody can tell
        wrong.append(f"said to be exact up to size {exact}, but nothing decides {_named(open_set)}")
    elif assumed < end.complete_up_to and left_over is not None and begun.strategy == "cuts":
        wrong.append(f"said to be complete up to size {end.complete_up_to}, but nothing covers {_named(left_over)}")
    return CheckedRequest(
        name=name,
        asked_up_to=begun.max_size,
        claimed_up_to=end.complete_up_to,
        exact_up_to=exact,
        assumption=end.assumption,
        proven_up_to=proven,
        assumed_up_to=assumed,
        open=open_set,
        findings=tuple(proof.faults_in(cut) for cut in proof.failing if cut.bit_count() <= begun.max_size),
        degraded=sum(outcome.verdict is Verdict.DEGRADED for outcome in proof.survivors),
        points=len(proof.points),
        faults=len(proof.bit),
        untried=proof.untried,
        runs=len(proof.runs),
        uncoverable=tuple(_uncoverable(audited, outcomes)),
        undecided=end.undecided,
        trusted=trusted,
        by_failover=bool(proof.failed_over),
        trials=min((outcome.trials for outcome in proof.survivors if outcome.cut), default=len(outcomes)),
        varying=proof.varying() or bool(audited.varies),
        unfinished=end.reason,
        wrong=tuple(wrong),
    )


def _runs(
    name: str, begun: CampaignStarted, events: Sequence[RecordedEvent]
) -> tuple[RequestAudited, list[Outcome], list[Outcome]]:
    """Its audit, all outcomes, and those that prove something."""
    audits = [each for each in events if isinstance(each, RequestAudited) and each.request == name]
    # Each resumption audits anew: what an audit saw during an outage is not how the request behaves.
    audited = audits[-1] if audits else _NO_AUDIT
    outcomes = [*audited.runs]
    outcomes += [each.outcome for each in events if isinstance(each, ExperimentFinished) and each.request == name]
    # Where requests vary, those survivors count that were repeated; the others were tried again, or left out.
    proving = [each for each in outcomes if each.is_proof(begun.trials, varying=bool(audited.varies))]
    return audited, outcomes, [each for each in proving if not _doubt(each, begun)]


def _uncoverable(audited: RequestAudited, runs: Sequence[Outcome]) -> Iterator[Uncoverable]:
    yield from sorted({*audited.uncoverable, *(each for outcome in runs for each in outcome.uncoverable)})
    told = {each.call for each in audited.uncoverable}
    for call in sorted({str(_call(point)) for point in audited.not_reached} - told):
        yield Uncoverable(call, OutOfReach.OTHER_TRACE)


def _doubt(outcome: Outcome, begun: CampaignStarted) -> str:
    """Why a run proves nothing; empty if it does."""
    cut, failed = points_of(outcome.cut), outcome.verdict is Verdict.FAILED
    missed = frozenset(each for each in outcome.cut if each.point in outcome.calls - outcome.fired)
    strange = frozenset(each for each in outcome.cut if each.effect not in begun.effects.at(each.point))
    doubts = {
        "its verdict is unknown": outcome.verdict is Verdict.UNKNOWN,
        "its faults are for a share of the calls": any(each.percent != 100 for each in outcome.cut),
        f"{_named(strange)} is not tried in this campaign": strange,
        "a call has two faults": len(cut) < len(outcome.cut),
        "no fault is proven to have fired": cut and not outcome.fired,
        "what fired was not planned, or not called": not outcome.fired <= cut & outcome.calls,
        f"{_named(missed)} was called, and is not proven to have been failed": missed and not failed,
        f"it failed {outcome.failures} times, not {begun.repeats}": failed and outcome.failures < max(begun.repeats, 1),
        "the request was not asked for without it, right after": failed and cut and not outcome.healthy_after,
    }
    return next((doubt for doubt, holds in doubts.items() if holds), "")


def _false_findings(
    outcomes: Sequence[Outcome], begun: CampaignStarted, proof: "Proof", *, minimal_up_to: int
) -> Iterator[str]:
    """Of the sets that are reported, those without proof, and those that are said to be minimal and are not."""
    for kind, verdict in (("finding", Verdict.FAILED), ("degradation", Verdict.DEGRADED)):
        found = [each for each in outcomes if each.verdict is verdict and 0 < len(each.cut) <= begun.max_size]
        for outcome in found:
            cut = outcome.cut
            if any(other.cut < cut for other in found):
                continue  # reports leave out what contains another
            backed = [each for each in found if each.cut == outcome.cut and not _doubt(each, begun)]
            if not backed:
                yield f"the {kind} {_named(cut)} is not proven: {_doubt(outcome, begun)}"
            elif len(cut) <= minimal_up_to and any(_fired(each) < cut and proof.fails(_fired(each)) for each in backed):
                yield f"the {kind} {_named(cut)} is not minimal: only {_named(_fired(backed[0]))} fired"


def _named(cut: Cut) -> str:
    return " + ".join(map(str, sorted(cut))) or "the request without a fault"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A run that survived; bit sets."""

    zone: int
    condition: int

    def decides(self, faults: int) -> bool:
        return not faults & self.zone and faults & self.condition == self.condition


class Proof:
    """What runs of one request prove about sets of faults, as bit sets. `usual` calls are made without any fault."""

    def __init__(self, runs: Sequence[Outcome], usual: Points, not_reached: Points, effects: EffectChoice) -> None:
        self.runs = runs
        self.survivors = [run for run in runs if run.verdict is not Verdict.FAILED]
        beyond = not_reached.difference(*(run.fired for run in runs))  # reached now and then is reached
        usual = usual - beyond
        self.called = usual.union(*(run.calls for run in runs)) - beyond
        self.points = self.called.union(*(points_of(run.cut) for run in runs)) - beyond
        every = (Fault(point, effect) for point in sorted(self.points) for effect in effects.at(point))
        self.bit = {fault: 1 << number for number, fault in enumerate(every)}
        self.at: dict[Point, int] = defaultdict(int)  # whatever may happen at a point; a set has one of these at most
        self.replicas: dict[Point, int] = defaultdict(int)  # of each call, at those that were ever called
        for fault, bit in self.bit.items():
            self.at[fault.point] |= bit
            self.replicas[_call(fault.point)] |= bit if fault.point in self.called else 0
        failed_over = {(_call(each.point), each.effect) for run in runs for each in _fired(run) if _turned(run, each)}
        self.failed_over = sum(bit for each, bit in self.bit.items() if (_call(each.point), each.effect) in failed_over)
        self.runs_as_leaves = list(self._leaves(frozenset(map(_call, usual))))
        self.leaves = [*self.runs_as_leaves, *self._alone()]
        failing = {self._blamed(run) for run in runs if run.verdict is Verdict.FAILED and run.cut}
        minimal = [cut for cut in failing if not any(less & cut == less != cut for less in failing)]
        self.failing = sorted(minimal, key=lambda cut: (cut.bit_count(), cut))

    @property
    def untried(self) -> Points:
        """Calls that none of the effects is possible at, neither on the caller's side nor on the other."""
        tried = {fault.point.of_api for fault in self.bit}
        return frozenset(point for point in self.called if point.of_api not in tried)

    def first_open(
        self,
        most: int,
        *,
        more_hurts: bool = False,
        alike: bool = False,
        trusted: Sequence[Cut] = (),
        others: Sequence[Outcome] = (),
    ) -> tuple[Cut | None, int]:
        """The smallest set of at most so many faults that nothing decides, and up to which size there is none.

        `more_hurts` assumes that what fails less than a survivor survives, too, and that a set calls nothing that none
        of its parts calls: the least to be asked of certificates that rest on more than determinism. `alike` assumes
        that effects at a call stand for each other in larger sets if each survives alone and makes the same calls.
        `trusted` sets are assumed to fail. If such a set is all replicas of a call, and the runs of `others` show each
        of them serving while the rest had faults, then less than all of them is assumed to do nothing.

        Take any open set H, and G inside it, at first empty. A leaf that decides G, but not H, has its condition in G,
        so H has a fault in its zone: G and that fault are inside H, too. So every open set is come by, or one inside.
        """
        if not self.called:  # everything survives in vain
            return frozenset(), -1
        leaves = self.leaves + [Leaf(leaf.zone, 0) for leaf in self.leaves if more_hurts]
        known = (cut for cut in trusted if cut <= self.bit.keys())  # a part of what is trusted to fail need not fail
        failing, everything = [*self.failing, *map(self.mask, known)], sum(self.bit.values())
        harmless = self._at(point for cut in trusted for point in self._stand_ins(points_of(cut), others))
        level = {0}
        for size in range(most + 1):
            following: set[int] = set()
            for faults in level:
                if any(faults & cut == cut for cut in failing):
                    continue
                variants = list(self._variants(faults)) if alike and size > 1 else [faults]
                zones = [leaf.zone for each in variants for leaf in leaves if leaf.decides(each)]
                if more_hurts and faults & ~self._called_by_parts(faults):
                    zones.append(everything)  # it is as good as what is left of it, which was looked at before
                if not zones:
                    return self.faults_in(faults), size - 1
                zone = min(zones, key=int.bit_count) & ~self._excluded_by(faults) & ~harmless
                if len(following) <= MOST_SETS:
                    following.update(faults | bit for bit in self.bit.values() if bit & zone)
            if len(following) > MOST_SETS:
                return None, size
            level = following
        return None, most

    def _stand_ins(self, replicas: Points, others: Sequence[Outcome]) -> Points:
        """These, if they are all replicas of one call that others saw turn to another one, and each serve alone."""
        calls = set(map(_call, replicas))
        every = {point for point in self.points if _call(point) in calls}
        turned = any(_turned(run, each) for run in others for each in _fired(run) if each.point in replicas)
        serving = {
            point
            for run in others
            if run.verdict is Verdict.SURVIVED
            for point in replicas & run.path
            if replicas - points_of(run.cut) == {point}
        }
        return replicas if turned and len(calls) == 1 and every <= replicas == serving else frozenset()

    def _variants(self, faults: int) -> Iterator[int]:
        single = {leaf.condition: leaf.zone & ~self._excluded_by(leaf.condition) for leaf in self.runs_as_leaves}

        def alike(fault: int) -> list[int]:
            here = [bit for bit in self.bit.values() if bit & self._excluded_by(fault) and bit in single]
            return [bit for bit in here if fault in single and single[bit] == single[fault]] or [fault]

        return map(sum, product(*(alike(bit) for bit in self.bit.values() if bit & faults)))

    def varying(self) -> bool:
        """Whether the same faults were seen to have different consequences."""
        made = {(condition, calls) for _, _, condition, calls in self._traced()}
        came_and_went = len(made) > len({condition for condition, _ in made})
        flaky = any(0 < run.failures < run.trials for run in self.runs)
        return came_and_went or flaky or any(map(self.survives, self.failing))

    def fails(self, cut: Cut) -> bool:
        return any(self.mask(cut) & known == known for known in self.failing)

    def survives(self, faults: int) -> bool:
        return any(leaf.decides(faults) for leaf in self.leaves)

    def mask(self, cut: Cut) -> int:
        return sum(self.bit.get(fault, 0) for fault in cut)

    def faults_in(self, mask: int) -> Cut:
        return frozenset(fault for fault, bit in self.bit.items() if bit & mask)

    def _excluded_by(self, faults: int) -> int:
        """A call fails in one way at a time."""
        return self._at(points_of(self.faults_in(faults)))

    def _blamed(self, run: Outcome) -> int:
        """What fired; unless that survives: then some of the trace is missing, and all of the cut is to blame."""
        fired = self.mask(_fired(run))
        return self.mask(run.cut) if self.survives(fired) else fired

    def _called_by_parts(self, faults: int) -> int:
        found = 0
        for leaf in self.runs_as_leaves:
            if leaf.condition & faults == leaf.condition:
                found |= leaf.zone | leaf.condition
        return found

    def _leaves(self, usual: frozenset[Point]) -> Iterator[Leaf]:
        made = {0: usual}  # by condition: the calls of all runs with it
        for _, _, condition, calls in self._traced():
            made[condition] = made.get(condition, calls) | calls
        for _, zone, condition, calls in self._traced():
            yield Leaf((zone | self._ever_called(made[condition] - calls)) & ~condition, condition)

    def _alone(self) -> Iterator[Leaf]:
        """Where runs vary, a leaf may not even decide the set that was injected: that is decided, and no other."""
        for run, _, condition, calls in self._traced():
            cut = self.mask(run.cut)
            if not cut & ~condition & self._ever_called(calls) & ~self.failed_over:
                yield Leaf(sum(self.bit.values()) & ~cut, cut)

    def _traced(self) -> Iterator[tuple[Outcome, int, int, frozenset[Point]]]:
        """Each survivor; what it relied on to be as it was, what fired and mattered, and which calls were made."""
        for run in self.survivors:
            cut, calls = self.mask(run.cut), run.calls & self.called
            healthy = self._at(calls - points_of(run.cut)) & ~self._never_asked_for(run)
            condition = 0
            for fault in _fired(run):
                replicas, bit = self.replicas[_call(fault.point)], self.mask(frozenset({fault}))
                if fault.point in run.failed or not bit & self.failed_over:
                    condition |= replicas & cut  # also those that this run did not meet: another might
                elif fault.point not in run.retried or not replicas & healthy:
                    condition |= bit  # no other stepped in for it
            # Whatever else may happen where a fault fired did not, and nor did it where the next request may end up.
            served = frozenset(map(_call, calls - points_of(run.cut)))
            beside = self._at(run.fired) & ~cut | self._ever_called(served)
            zone = healthy | beside & ~self.failed_over & ~self._never_asked_for(run)
            yield run, zone, condition, frozenset(map(_call, calls))

    def _never_asked_for(self, run: Outcome) -> int:
        """Faults for an n-th call, where all calls are told and there were fewer at that point."""
        made = Counter(each.point for each in run.seen)
        return sum(bit for fault, bit in self.bit.items() if run.seen and fault.effect.call > max(made[fault.point], 1))

    def _at(self, points: Iterable[Point]) -> int:
        return sum(self.at[point] for point in points)

    def _ever_called(self, calls: frozenset[Point]) -> int:
        return sum(self.replicas[call] for call in calls)


def _fired(run: Outcome) -> Cut:
    return frozenset(fault for fault in run.cut if fault.point in run.fired)


def _turned(run: Outcome, fault: Fault) -> bool:
    """Whether a call was seen to turn to another replica when this fault failed the first."""
    return fault.point in run.retried


def _call(point: Point) -> Point:
    return replace(point, replica="")
