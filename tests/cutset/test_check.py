import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.recorded_campaign import KEY, Row, forged, recorded_campaign, rows_of
from tests.samples.simulated_campaign import SETTINGS
from tests.samples.simulated_systems import point, systems
from tests.samples.simulated_systems import points as cut

from cutset.check import Proof, check
from cutset.errors import InputError, UsageError
from cutset.model.effect import UNAVAILABLE, Effect, EffectChoice
from cutset.model.event import CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Cut, Fault, cut_of, points_of
from cutset.model.outcome import CallSeen, Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.proof import CheckedCampaign
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.search.cuts import CutSearch
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.program_laboratory import Bother, ProgramLaboratory
from cutset.simulation.random_programs import Taste, random_request
from cutset.simulation.simulated import All, Call, Conditions, FirstOf, Optional, Simulation, System, all_points
from cutset.store.codec import event_from_json, event_to_json
from cutset.store.ledger import NAME, open_ledger

NOBODY: Points = frozenset()


def survived(*faults: str, calls: Points, fired: Points | None = None, **fields: Any) -> Outcome:
    faulted = cut(*faults)
    return Outcome(
        cut_of(faulted), Verdict.SURVIVED, calls=calls, fired=faulted & calls if fired is None else fired, **fields
    )


def failed(*faults: str, calls: Points = NOBODY, **fields: Any) -> Outcome:
    known: dict[str, Any] = {"calls": calls | cut(*faults), "trials": 2, "failures": 2, "healthy_after": True}
    known["fired"] = cut(*faults) & known["calls"]
    return Outcome(cut_of(cut(*faults)), Verdict.FAILED, **(known | fields))


def proof(*runs: Outcome, usual: Points = NOBODY) -> Proof:
    return Proof(runs, usual, NOBODY, EffectChoice())


def is_decided(known: Proof, *points: str) -> bool:
    return known.survives(known.mask(cut_of(cut(*points))))


# What a run decides


def test_a_survivor_decides_what_contains_all_that_fired_and_misses_the_rest_of_what_it_called() -> None:
    known = proof(survived("a", calls=cut("a", "b")), survived("z", calls=cut("c", "z")))

    assert is_decided(known, "a")
    assert is_decided(known, "a", "c")  # which it did not call
    assert not is_decided(known, "a", "b")  # which was healthy then
    assert not is_decided(known, "c")  # without what fired


def test_a_call_that_failed_by_itself_is_in_the_zone() -> None:
    """The load balancer's case: it tolerates the 500 that the server makes of a failed callee, and no injected 503."""
    known = proof(
        survived(calls=cut("server", "callee")),
        survived("callee", calls=cut("server", "callee"), failed=cut("server", "callee")),
    )

    assert known.first_open(1) == (cut_of(cut("server")), 0)
    assert not is_decided(known, "server")
    assert not is_decided(known, "server", "callee")


def test_a_failed_run_proves_what_fired_and_no_more() -> None:
    known = proof(survived(calls=cut("a", "b")), failed("a", "b", fired=cut("a")))

    assert [points_of(known.faults_in(each)) for each in known.failing] == [cut("a")]


def test_if_what_fired_is_known_to_survive_the_trace_of_the_failure_was_not_whole() -> None:
    known = proof(survived("a", calls=cut("a", "b")), failed("a", "b", fired=cut("a")))

    assert [points_of(known.faults_in(each)) for each in known.failing] == [cut("a", "b")]


def test_where_runs_vary_a_leaf_has_the_calls_of_all_of_them() -> None:
    hit, miss = survived(calls=cut("a")), survived(calls=cut("a", "cached"))

    assert is_decided(proof(hit), "cached")
    assert not is_decided(proof(hit, miss), "cached")
    assert not is_decided(proof(hit, usual=cut("cached")), "cached")  # the audit saw it
    assert proof(hit, miss).varying()
    assert not proof(hit, hit).varying()


def test_what_fails_and_survives_varies() -> None:
    assert proof(survived("a", calls=cut("a")), failed("a")).varying()
    assert proof(survived(calls=cut("a"), trials=5, failures=1)).varying()


# Replicas


def test_a_replica_that_no_request_met_is_not_proven_to_be_spare() -> None:
    """Load balancing is not failover."""
    met = survived(calls=cut("a#2"))
    other = survived(calls=cut("a#1"))

    assert not is_decided(proof(met, other), "a#1")


def test_a_replica_stands_for_another_once_a_call_was_seen_to_turn_to_it() -> None:
    turned = survived("a#1", calls=cut("a#1", "a#2"), retried=cut("a#1", "a#2"))
    known = proof(survived(calls=cut("a#1")), survived(calls=cut("a#2")), turned, failed("a#1", "a#2"))

    assert is_decided(known, "a#1")
    assert is_decided(known, "a#2")
    assert known.first_open(3) == (None, 3)


def test_to_turn_to_another_replica_for_a_reason_of_its_own_is_no_failover_from_a_fault() -> None:
    retried = survived(calls=cut("a#1", "a#2"), retried=cut("a#1", "a#2"))

    assert not is_decided(proof(retried, survived(calls=cut("a#2"))), "a#1")


def test_a_fault_that_failed_one_call_and_was_passed_over_by_another_is_a_condition() -> None:
    both = survived("a#1", calls=cut("a#1", "a#2"), retried=cut("a#1", "a#2"), failed=cut("a#1"))

    assert not is_decided(proof(both), "b")


# The enumeration


def call_trees() -> st.SearchStrategy[System]:
    """Without replicas."""
    apis = st.sampled_from("ABCDEFG")

    def extend(parts: st.SearchStrategy[System]) -> st.SearchStrategy[System]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            several.map(All),
            several.map(FirstOf),
            st.builds(Optional, parts, st.none() | parts),
            st.builds(Call, apis, parts),
        )

    return st.recursive(st.builds(Call, apis), extend, max_leaves=7)


def brute_first_open(known: Proof, points: Points, most: int) -> int:
    """The size up to which each set is decided, by asking for each."""
    for size in range(most + 1):
        for chosen in combinations(sorted(points), size):
            mask = known.mask(cut_of(chosen))
            if not known.survives(mask) and not any(cut & mask == cut for cut in known.failing):
                return size - 1
    return most


@given(systems(), st.integers(0, 99), st.data())
def test_no_set_is_passed_by_and_none_is_said_to_be_decided_that_may_fail(
    system: System, seed: int, data: st.DataObject
) -> None:
    simulation = Simulation(system, Conditions(seed=seed))
    points = sorted(all_points(system))
    sets = [frozenset(each) for size in range(4) for each in combinations(points, size)]
    chosen = data.draw(st.lists(st.sampled_from(sets), max_size=40)) + sets[: data.draw(st.integers(0, len(sets)))]
    runs = [simulation.run(cut_of(each)) for each in chosen]
    known = proof(*(run for run in runs if run.fired or not run.cut))

    _, proven = known.first_open(3)

    if known.replicas:
        assert proven == brute_first_open(known, frozenset(points), 3)
    truth = {each for each in minimal_cuts_by_brute_force(system, 3) if len(each) <= proven}
    assert truth == {found for each in known.failing if len(found := known.faults_in(each)) <= proven}


def explored(simulation: Simulation) -> list[Outcome]:
    """Runs whatever is open, until nothing is."""
    runs = [simulation.run(NOBODY)]
    while (missing := proof(*runs).first_open(3)[0]) is not None:
        runs.append(simulation.run(missing))
    return runs


@given(call_trees())
def test_the_checker_alone_could_explore_and_then_no_run_can_be_spared(system: System) -> None:
    """Theorem 2: as many runs as there are sets that fire as a whole and contain no failing one."""
    runs = explored(Simulation(system))

    assert {run.cut for run in runs if run.verdict is Verdict.FAILED} == minimal_cuts_by_brute_force(system, 3)
    for number in range(len(runs)):
        _, proven = proof(*runs[:number], *runs[number + 1 :]).first_open(3)
        assert proven < 3


def test_too_many_sets_are_not_claimed_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = cut("a", "b", "c")
    runs = [survived(*each, calls=calls) for each in ((), ("a",), ("b",), ("c",))]
    monkeypatch.setattr("cutset.check.MOST_SETS", 2)
    assert proof(*runs).first_open(3) == (None, 0)
    assert proof(*runs, failed("c")).first_open(0) == (None, 0)

    monkeypatch.setattr("cutset.check.MOST_SETS", 3)
    without_c, opened = runs[:3], cut("c")
    assert proof(*without_c).first_open(3) == (cut_of(opened), 0)  # and not passed by for want of room


def test_a_fault_that_fired_where_none_was_expected_to_is_part_of_what_fails() -> None:
    """Else nothing would be left of the set that failed, and everything contains nothing."""
    runs = [survived(calls=cut("a", "b")), failed("stray", "a"), failed("stray")]

    known = Proof(runs, cut("a", "b"), cut("stray"), EffectChoice())

    assert [points_of(known.faults_in(each)) for each in known.failing] == [cut("stray")]
    assert known.first_open(1) == (cut_of(cut("a")), 0)


# Campaigns, in real ledgers


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_campaign(tmp_path_factory.mktemp("recorded"))


def experiments(rows: Sequence[Row]) -> list[tuple[int, ExperimentFinished]]:
    events = ((number, event_from_json(kind, fields)) for number, (_, kind, fields) in enumerate(rows))
    return [(number, event) for number, event in events if isinstance(event, ExperimentFinished)]


def with_outcome(row: Row, change: Callable[[Outcome], Outcome]) -> Row:
    at, kind, fields = row
    event = event_from_json(kind, fields)
    assert isinstance(event, ExperimentFinished)
    return (at, *event_to_json(replace(event, outcome=change(event.outcome))))


def halved(outcome: Outcome) -> Cut:
    return frozenset(Fault(each.point, percent=50) for each in outcome.cut)


def test_what_a_true_campaign_claims_is_proven(recorded: Path) -> None:
    checked = check(recorded, key=KEY)

    assert checked.proven
    assert checked.sealed
    assert checked.refuted == ()
    assert [(each.proven_up_to, each.claimed_up_to) for each in checked.requests] == [(3, 3), (3, 3)]
    assert [len(each.findings) for each in checked.requests] == [each.minimal for each in checked.requests] == [3, 6]


def test_each_experiment_of_an_exact_campaign_is_needed_or_another_shows_the_same(
    recorded: Path, tmp_path: Path
) -> None:
    """Taken out one by one, with the chain mended: at API level no experiment can be spared."""
    rows = rows_of(recorded)
    for number, event in experiments(rows):
        rest = [row for other, row in enumerate(rows) if other != number]
        checked = check(forged(recorded, tmp_path, rest))
        if event.outcome.verdict is Verdict.FAILED:
            assert checked.refuted, event.outcome.cut
            assert any("nothing decides" in wrong for wrong in checked.refuted)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda outcome: replace(outcome, fired=NOBODY), "no fault is proven to have fired"),
        (lambda outcome: replace(outcome, calls=NOBODY), "what fired was not planned, or not called"),
        (lambda outcome: replace(outcome, failures=1), "it failed 1 times, not 2"),
        (lambda outcome: replace(outcome, healthy_after=False), "was not asked for without it, right after"),
        (lambda outcome: replace(outcome, cut=halved(outcome)), "a share of the calls"),
    ],
)
def test_a_finding_needs_all_of_its_evidence(
    recorded: Path, tmp_path: Path, change: Callable[[Outcome], Outcome], words: str
) -> None:
    rows = rows_of(recorded)
    number = next(number for number, event in experiments(rows) if event.outcome.verdict is Verdict.FAILED)
    rows[number] = with_outcome(rows[number], change)

    refuted = check(forged(recorded, tmp_path, rows)).refuted

    assert any("the finding" in each and words in each for each in refuted), refuted


def test_a_finding_of_which_only_a_part_fired_is_not_minimal(recorded: Path, tmp_path: Path) -> None:
    rows = rows_of(recorded)
    number = next(number for number, event in experiments(rows) if event.outcome.verdict is Verdict.FAILED)
    rows[number] = with_outcome(rows[number], lambda outcome: replace(outcome, cut=outcome.cut | {Fault(point("x"))}))

    refuted = check(forged(recorded, tmp_path, rows)).refuted

    assert any("is not minimal: only" in each for each in refuted), refuted


def test_a_claim_beyond_the_proof_is_refuted_and_a_set_is_named(recorded: Path, tmp_path: Path) -> None:
    rows = [row for row in rows_of(recorded) if row[1] != "ExperimentFinished"]

    checked = check(forged(recorded, tmp_path, rows))

    assert "said to be exact up to size 3, but nothing decides simulated/" in checked.refuted[0]
    assert not checked.proven


def test_more_than_was_asked_for_is_not_claimed(recorded: Path, tmp_path: Path) -> None:
    rows = [
        (at, kind, fields.replace('"complete_up_to":3', '"complete_up_to":4') if kind == "RequestFinished" else fields)
        for at, kind, fields in rows_of(recorded)
    ]

    refuted = check(forged(recorded, tmp_path, rows)).refuted

    assert refuted[0] == "GET /: said to be complete up to size 4, and explored up to 3"


def test_less_may_be_claimed_than_is_proven(recorded: Path, tmp_path: Path) -> None:
    def modest(row: Row) -> Row:
        at, kind, fields = row
        ends = json.loads(fields) | {"complete_up_to": 1, "exact_up_to": 1, "reason": "the budget is spent"}
        return (at, kind, json.dumps(ends)) if kind == "RequestFinished" else row

    checked = check(forged(recorded, tmp_path, [modest(row) for row in rows_of(recorded)]))

    assert not checked.refuted
    assert not checked.proven


def test_a_broken_chain_is_named(recorded: Path, tmp_path: Path) -> None:
    copy = tmp_path / NAME
    shutil.copy(recorded, copy)
    database = sqlite3.connect(copy)
    database.execute("UPDATE events SET at = at + 1 WHERE id = 5")
    database.commit()
    database.close()

    assert "record 5 (" in check(copy).refuted[0]


def test_a_campaign_without_its_end_is_interrupted_and_never_proven(recorded: Path, tmp_path: Path) -> None:
    checked = check(forged(recorded, tmp_path, rows_of(recorded)[:-1]), key=KEY)

    assert not checked.finished
    assert not checked.proven
    assert not checked.refuted  # nobody claims that it is complete


def test_whoever_lacks_the_key_cannot_make_a_campaign_that_passes_for_sealed(recorded: Path, tmp_path: Path) -> None:
    rows = rows_of(recorded)
    number = next(number for number, event in experiments(rows) if event.outcome.verdict is Verdict.SURVIVED)
    rows[number] = with_outcome(rows[number], lambda outcome: replace(outcome, reason="a word changed"))
    copy = forged(recorded, tmp_path, rows)

    assert check(copy).proven  # what it says is consistent
    assert not check(copy).sealed
    assert "is not sealed with this key" in check(copy, key=KEY).refuted[0]
    assert "is not sealed with this key" in check(recorded, key=b"another" * 5).refuted[0]


def events_of(*outcomes: Outcome, **claim: Any) -> list[Any]:
    runs = tuple(each for each in outcomes if not each.cut)
    told: dict[str, Any] = {"complete_up_to": 2, "exact_up_to": 2, "reason": ""} | claim
    began = {"requests": ("R",), "certificates": "exact", **claim.pop("began", {})}
    started = CampaignStarted(max_size=2, repeats=2, strategy="cuts", **began)
    told.pop("began", None)
    calls = NOBODY.union(*(run.calls for run in runs))
    return [
        RunStarted(loop=Loop.CAMPAIGN, run="only"),
        started,
        RequestAudited(request="R", healthy=True, reason="", calls=calls, not_reached=NOBODY, trace_ids=(), runs=runs),
        *(ExperimentFinished(request="R", outcome=each) for each in outcomes if each.cut),
        RequestFinished(request="R", **told),
        RunFinished(),
    ]


def checked_events(folder: Path, events: Sequence[Any]) -> CheckedCampaign:
    with open_ledger(folder) as ledger:
        for event in events:
            ledger.append("only", event)
    return check(folder / NAME)


def test_what_is_only_trusted_to_fail_is_no_proof(tmp_path: Path) -> None:
    began = {"across_requests": "trust"}
    baseline = survived(calls=cut("a"))

    checked = checked_events(tmp_path, events_of(baseline, predicted=(cut_of(cut("a")),), exact_up_to=0, began=began))

    assert not checked.refuted
    assert not checked.proven
    assert checked.requests[0].trusted == (cut_of(cut("a")),)


@pytest.mark.parametrize("seen", ["each alone", "one alone", "none turned to", "nothing"])
def test_less_than_what_is_trusted_to_fail_is_harmless_if_another_request_shows_it(tmp_path: Path, seen: str) -> None:
    """That one saw each replica of a call serve while the other had a fault. Else it is for this request to show."""
    calls = cut("a#1", "a#2")
    retried = NOBODY if seen == "none turned to" else calls
    shown = [
        survived("a#1", calls=calls, path=cut("a#2"), retried=retried),
        survived("a#2", calls=calls, path=cut("a#1"), retried=retried),
    ]
    shown = shown[: {"one alone": 1, "nothing": 0}.get(seen, 2)]
    events = events_of(
        survived(calls=cut("a#1")),
        predicted=(cut_of(calls),),
        exact_up_to=0,
        began={"across_requests": "trust", "requests": ("R", "S")},
    )
    events[2:2] = [ExperimentFinished(request="S", outcome=run) for run in shown]

    checked = checked_events(tmp_path, events)

    assert bool(checked.refuted) is (seen != "each alone")


@pytest.mark.parametrize("shows_it", [True, False])
def test_what_rests_on_more_than_determinism_is_never_proven_and_refuted_if_no_run_speaks_for_it(
    tmp_path: Path, shows_it: bool
) -> None:
    calls = cut("a", "b", "c")
    together = survived("a", "b", "c", calls=calls) if shows_it else survived("a", "b", calls=calls)
    runs = [survived(calls=calls), survived("a", calls=calls), survived("b", calls=calls), survived("c", calls=calls)]
    independent = {"certificates": "independent"}

    checked = checked_events(tmp_path, events_of(*runs, together, exact_up_to=1, began=independent))

    assert bool(checked.refuted) is not shows_it
    assert not checked.proven
    assert (checked.requests[0].proven_up_to, checked.requests[0].assumed_up_to) == (1, 2 if shows_it else 1)


def test_what_no_part_of_a_set_calls_the_set_is_taken_not_to_call_where_more_is_assumed() -> None:
    """The fallback f of c is called only where c fails: {a, b, f} is no other set than {a, b}."""
    calls, more = cut("a", "b", "c"), cut("a", "b", "c", "f")
    alone = [survived(calls=calls), survived("a", calls=calls), survived("b", calls=calls), survived("c", calls=more)]
    known = proof(*alone, failed("c", "f", calls=more), survived("a", "b", "c", calls=more))

    assert known.first_open(3)[1] == 1
    assert known.first_open(3, more_hurts=True) == (None, 3)


def test_a_request_without_a_call_is_not_complete(tmp_path: Path) -> None:
    checked = checked_events(tmp_path, events_of(survived(calls=NOBODY)))

    assert checked.requests[0].proven_up_to == -1
    assert checked.refuted == ("R: said to be exact up to size 2, but nothing decides the request without a fault",)


def test_runs_that_vary_say_what_share_may_be_overlooked(tmp_path: Path) -> None:
    runs = [survived(calls=cut("a")), survived(calls=cut("a", "b")), survived("a", calls=cut("a", "b"), trials=10)]

    (request,) = checked_events(tmp_path, events_of(*runs, complete_up_to=0, exact_up_to=0)).requests

    assert request.varying
    assert 0.26 < request.overlooked < 0.27


def test_where_runs_vary_what_survived_once_proves_nothing(tmp_path: Path) -> None:
    calls = cut("a", "b")
    weak = [survived("a", calls=calls), survived("b", calls=calls, trials=10)]

    def refuted(*more: Outcome, varies: str) -> tuple[str, ...]:
        events = events_of(survived(calls=calls), *weak, *more, complete_up_to=1, exact_up_to=1)
        told = [replace(each, varies=varies) if isinstance(each, RequestAudited) else each for each in events]
        begun = [replace(each, max_size=1, trials=10) if isinstance(each, CampaignStarted) else each for each in told]
        folder = tmp_path / f"{len(more)}{varies}"
        folder.mkdir()
        return checked_events(folder, begun).refuted

    assert refuted(varies="") == ()
    assert refuted(varies="at times") == (
        "R: said to be exact up to size 1, but nothing decides simulated/a:abort(503)",
    )
    assert refuted(survived("a", calls=calls, trials=10), varies="at times") == ()


def test_a_degradation_needs_evidence_too(tmp_path: Path) -> None:
    calls = cut("a")
    unproven = replace(survived("a", calls=calls, fired=NOBODY), verdict=Verdict.DEGRADED)

    (wrong, *_) = checked_events(tmp_path, events_of(survived(calls=calls), unproven, complete_up_to=0)).refuted

    assert wrong == "R: the degradation simulated/a:abort(503) is not proven: no fault is proven to have fired"


# The file


def test_a_ledger_on_a_read_only_disk_is_checked_and_nothing_is_written(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    shutil.copy(recorded, folder / NAME)
    (folder / NAME).chmod(0o400)
    folder.chmod(0o500)
    try:
        assert check(folder / NAME).proven
        assert [each.name for each in folder.iterdir()] == [NAME]
    finally:
        folder.chmod(0o700)


def test_a_ledger_that_is_being_written_can_be_checked(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for event in events_of(survived(calls=cut("a")))[:3]:
            ledger.append("only", event)

        checked = check(tmp_path / NAME)

        assert checked.records == 3
        assert not checked.finished


def test_what_is_not_there_is_said(tmp_path: Path, recorded: Path) -> None:
    with pytest.raises(UsageError, match="no ledger at"):
        check(tmp_path / NAME)
    with pytest.raises(UsageError, match="no campaign `other`"):
        check(recorded, "other")
    (tmp_path / NAME).write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match="not a readable ledger"):
        check(tmp_path / NAME)


# The search and the checker agree, though neither knows the other


@pytest.mark.parametrize("seed", range(20))
def test_what_the_exact_search_calls_complete_the_checker_proves(seed: int) -> None:
    system = All(
        (
            Call("A", Optional(Call("B"), Call("C")), replicas=1 + seed % 2),
            FirstOf((Call("D"), Call("E", Call("F")), Call("G"))),
            Optional(Call("H"), Call(("I", "D")[seed % 3 == 0])),
        )
    )
    runs: list[Outcome] = []
    simulation = Simulation(system, Conditions(seed=seed))

    class Recording:
        def run(self, faults: Cut) -> Outcome:
            runs.append(simulation.run(faults))
            return runs[-1]

    search = CutSearch(SearchSettings(3, certificates=Certificates.EXACT, inventory=all_points(system), seed=seed))
    drive(search, Recording())

    known = proof(*runs)
    assert search.result().complete_up_to == known.first_open(3)[1] == 3
    assert set(search.result().minimal_cuts) == {
        found for each in known.failing if len(found := known.faults_in(each)) <= 3
    }
    assert {run.cut for run in runs if run.verdict is Verdict.FAILED} >= set(search.result().minimal_cuts)


@pytest.mark.parametrize("certificates", Certificates)
@pytest.mark.parametrize("number", range(12))
def test_of_request_programs_what_either_search_claims_is_not_refuted(number: int, certificates: Certificates) -> None:
    """Callers that tell statuses apart, fallbacks, what is hidden: as `benchmarks.truth.random_systems` has them."""
    request = random_request(f"checked {number}", Taste("checked", points=(5, 8)))
    laboratory = ProgramLaboratory(request, Bother())
    runs = [laboratory.run(NOBODY)]
    search = CutSearch(SearchSettings(3, certificates))
    search.learn(runs[0])
    while asked := search.ask(100):
        for faults in asked:
            runs.append(laboratory.run(faults))
            search.learn(runs[-1])
    result, known = search.result(), proof(*(run for run in runs if run.verdict is not Verdict.UNKNOWN))

    assert known.first_open(3)[1] >= result.exact_up_to
    assert known.first_open(3, more_hurts=True)[1] >= result.complete_up_to


# Several effects


EFFECTS = EffectChoice((UNAVAILABLE, Effect.parse("timeout")), (("simulated/p3", (Effect.parse("empty"),)),))
MANY = tuple(Point("simulated", f"p{number}") for number in range(4))


@dataclass(frozen=True)
class DecisionTree:
    """A request of which nothing is known but that it is deterministic: what it calls next, and how it ends, follows
    from what happened at each call so far."""

    seed: int

    def run(self, cut: Cut) -> Outcome:
        fault_at = {fault.point: fault for fault in cut}
        history: list[str] = []
        called: list[Point] = []
        random = Random(f"{self.seed} {history}")
        while (left := [point for point in MANY if point not in called]) and random.random() < 0.9:
            called.append(random.choice(left))
            history.append(str(fault_at.get(called[-1], called[-1])))
            random = Random(f"{self.seed} {history}")
        fails = bool(fault_at.keys() & set(called)) and random.random() < 0.3
        evidence: dict[str, Any] = {"trials": 2, "failures": 2, "healthy_after": True} if fails else {}
        verdict = Verdict.FAILED if fails else Verdict.SURVIVED
        fired = frozenset(called) & fault_at.keys()
        return Outcome(cut, verdict, calls=frozenset(called), fired=fired, **evidence)


def plans(most: int) -> list[Cut]:
    """All sets of so many faults, at most one per point."""
    faults = [Fault(point, effect) for point in MANY for effect in EFFECTS.at(point)]
    sets = [frozenset(each) for size in range(most + 1) for each in combinations(faults, size)]
    return [each for each in sets if len(points_of(each)) == len(each)]


def minimal(cuts: list[Cut]) -> set[Cut]:
    return {each for each in cuts if not any(other < each for other in cuts)}


def of_effects(*runs: Outcome) -> Proof:
    return Proof(runs, NOBODY, NOBODY, EFFECTS)


@pytest.mark.parametrize("seed", range(60))
def test_what_the_checker_takes_as_decided_is_what_brute_force_finds_whatever_the_effects(seed: int) -> None:
    tree = DecisionTree(seed)
    runs = [tree.run(frozenset())]
    while runs[0].calls and (missing := of_effects(*runs).first_open(3)[0]) is not None:
        runs.append(tree.run(missing))
    if not runs[0].calls:  # then everything survives in vain
        return
    known = of_effects(*runs)
    truth = minimal([each for each in plans(3) if tree.run(each).verdict is Verdict.FAILED])

    assert {known.faults_in(each) for each in known.failing} == truth
    for plan in plans(3):
        assert known.fails(plan) == any(each <= plan for each in truth)
        if known.survives(known.mask(plan)):
            assert tree.run(plan).verdict is Verdict.SURVIVED
    for number in range(len(runs)):  # and none of them can be spared
        assert of_effects(*runs[:number], *runs[number + 1 :]).first_open(3)[1] < 3


def with_effect(outcome: Outcome, effect: str) -> Outcome:
    return replace(outcome, cut=cut_of(points_of(outcome.cut), Effect.parse(effect)))


def test_nothing_is_concluded_from_one_effect_to_another() -> None:
    runs = [survived(calls=cut("a", "b")), survived("a", calls=cut("a", "b")), survived("b", calls=cut("a", "b"))]
    both = survived("a", "b", calls=cut("a", "b"))
    slow = [with_effect(each, "timeout") for each in runs[1:]]

    assert of_effects(*runs, both).first_open(2)[1] == 0
    opened, size = of_effects(*runs, both, *slow).first_open(2)
    assert size == 1  # that each is survived when it is slow says nothing of one that is slow beside one that fails
    assert opened is not None
    assert len(points_of(opened)) == 2


def test_a_call_that_turned_to_another_replica_when_one_answered_503_may_wait_for_a_slow_one() -> None:
    turned = survived("a#1", calls=cut("a#1", "a#2"), retried=cut("a#1", "a#2"))
    known = of_effects(survived(calls=cut("a#1")), survived(calls=cut("a#2")), turned)

    assert known.survives(known.mask(cut_of(cut("a#2"))))
    assert not known.survives(known.mask(cut_of(cut("a#2"), Effect.parse("timeout"))))


ALONE = [
    survived(calls=cut("a", "b")),
    *(
        with_effect(survived(each, calls=cut("a", "b")), effect)
        for each in "ab"
        for effect in ("abort(503)", "timeout")
    ),
]


def tried(*events: Any, certificates: str, **told: Any) -> list[Any]:
    began = {"certificates": certificates, "effects": EFFECTS}
    return events_of(*events, complete_up_to=2, **told, began=began)


def test_effects_that_look_alike_may_stand_for_each_other_only_where_that_is_said_to_be_assumed(tmp_path: Path) -> None:
    both = survived("a", "b", calls=cut("a", "b"))
    (tmp_path / "classes").mkdir()
    (tmp_path / "exact").mkdir()

    by_classes = checked_events(tmp_path / "classes", tried(*ALONE, both, certificates="classes", exact_up_to=1))
    exact = checked_events(tmp_path / "exact", tried(*ALONE, both, certificates="exact", exact_up_to=2))

    assert not by_classes.refuted
    assert not by_classes.proven
    assert (by_classes.requests[0].proven_up_to, by_classes.requests[0].assumed_up_to) == (1, 2)
    assert "nothing decides" in exact.refuted[0]


def test_effects_that_make_other_calls_do_not_stand_for_each_other(tmp_path: Path) -> None:
    unlike = [*ALONE[:-1], with_effect(survived("b", calls=cut("a", "b", "fallback")), "timeout")]
    both = survived("a", "b", calls=cut("a", "b"))

    checked = checked_events(tmp_path, tried(*unlike, both, certificates="classes", exact_up_to=1))

    assert "nothing" in checked.refuted[0]


def test_an_effect_that_was_left_out_at_a_call_is_missed(tmp_path: Path) -> None:
    """The mutation that a search which forgets an effect would be."""
    checked = checked_events(tmp_path, tried(*ALONE[:-1], certificates="classes", exact_up_to=1))

    assert checked.refuted == ("R: said to be exact up to size 1, but nothing decides simulated/b:timeout",)


def test_a_fault_of_an_effect_that_is_not_tried_there_and_two_at_one_call_prove_nothing(tmp_path: Path) -> None:
    garbled = with_effect(failed("a", calls=cut("a", "b")), "garbled")
    twice = failed("b", calls=cut("a", "b"))
    twice = replace(twice, cut=twice.cut | cut_of(points_of(twice.cut), Effect.parse("timeout")))

    refuted = checked_events(tmp_path, tried(ALONE[0], garbled, twice, certificates="exact")).refuted

    assert any("simulated/a:garbled is not tried in this campaign" in each for each in refuted)
    assert any("a call has two faults" in each for each in refuted)


def test_a_call_at_which_no_effect_is_possible_is_named_and_nothing_is_proven_of_all(tmp_path: Path) -> None:
    began = {"effects": EffectChoice((Effect.parse("connection-refused"),))}

    checked = checked_events(tmp_path, events_of(survived(calls=cut("a")), began=began))

    assert not checked.refuted
    assert not checked.proven
    assert checked.requests[0].untried == cut("a")


def test_a_fault_for_a_second_call_is_decided_by_a_run_with_one_call_if_all_calls_are_told() -> None:
    choice = EffectChoice((Effect.parse("abort(503),call=2"),))
    point = Point.parse("a>rpc/httpx/GET /x")
    once = CallSeen(point, "", "200", 1)

    def opened(*seen: CallSeen) -> Cut | None:
        run = Outcome(frozenset(), Verdict.SURVIVED, calls=frozenset({point}), seen=seen)
        return Proof([run], NOBODY, NOBODY, choice).first_open(1)[0]

    assert opened(once) is None
    assert opened(once, once) == cut_of([point], choice.usual[0])
    assert opened() == cut_of([point], choice.usual[0])


SEVERAL = EffectChoice(tuple(map(Effect.parse, ("abort(503)", "timeout", "garbled", "abort(503),attempts=1"))))


@pytest.mark.parametrize("certificates", Certificates)
@pytest.mark.parametrize("number", range(10))
def test_of_several_effects_what_either_search_claims_is_not_refuted(number: int, certificates: Certificates) -> None:
    request = random_request(f"effects {number}", Taste("checked", points=(4, 7)))
    laboratory = ProgramLaboratory(request, Bother())
    runs = [laboratory.run(frozenset())]
    search = CutSearch(SearchSettings(2, certificates, effects=SEVERAL))
    search.learn(runs[0])
    while asked := search.ask(100):
        for faults in asked:
            runs.append(laboratory.run(faults))
            search.learn(runs[-1])
    result = search.result()
    known = Proof([run for run in runs if run.verdict is not Verdict.UNKNOWN], NOBODY, NOBODY, SEVERAL)

    assert known.first_open(2)[1] >= result.exact_up_to
    by_classes = certificates == "classes"
    assert known.first_open(2, more_hurts=True, alike=by_classes)[1] >= result.complete_up_to
    found = {known.faults_in(each) for each in known.failing}
    assert {each for each in found if len(each) <= result.complete_up_to} <= set(result.minimal_cuts)


TWO = EffectChoice((UNAVAILABLE, Effect.parse("timeout")))


@pytest.fixture(scope="module")
def recorded_effects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    systems: dict[str, System] = {  # replicas are told apart with one effect only
        "GET /": All((Call("session"), Call("products"), Optional(Call("ads")))),
        "POST /checkout": All(
            (FirstOf((Call("charge"), Call("backup"))), Optional(Call("recommend"), Call("currency")))
        ),
    }
    folder = tmp_path_factory.mktemp("effects")
    return recorded_campaign(folder, settings=replace(SETTINGS, effects=TWO), systems=systems)


def test_what_a_true_campaign_with_two_effects_claims_is_proven(recorded_effects: Path) -> None:
    checked = check(recorded_effects, key=KEY)

    assert checked.proven
    assert {each.proven_up_to for each in checked.requests} == {2}
    assert all(each.faults == 2 * each.points for each in checked.requests)


def test_no_experiment_of_two_effects_can_be_left_out_or_be_given_the_other_effect(
    recorded_effects: Path, tmp_path: Path
) -> None:
    rows = rows_of(recorded_effects)

    def swapped(outcome: Outcome) -> Outcome:
        others = {UNAVAILABLE: TWO.usual[1], TWO.usual[1]: UNAVAILABLE}
        return replace(outcome, cut=frozenset(Fault(each.point, others[each.effect]) for each in outcome.cut))

    for number, event in experiments(rows):
        if event.outcome.cut:
            assert check(forged(recorded_effects, tmp_path, [*rows[:number], *rows[number + 1 :]])).refuted
            other = with_outcome(rows[number], swapped)
            assert check(forged(recorded_effects, tmp_path, [*rows[:number], other, *rows[number + 1 :]])).refuted


@pytest.mark.parametrize("effects", [("abort(503)",), ("abort(503)", "timeout", "empty"), ("garbled",)])
def test_effects_that_were_not_tried_cannot_be_claimed_and_those_that_were_not_be_hidden(
    recorded_effects: Path, tmp_path: Path, effects: tuple[str, ...]
) -> None:
    def told(row: Row) -> Row:
        at, kind, fields = row
        if kind != "CampaignStarted":
            return row
        started = event_from_json(kind, fields)
        assert isinstance(started, CampaignStarted)
        return at, *event_to_json(replace(started, effects=EffectChoice(tuple(map(Effect.parse, effects)))))

    assert check(forged(recorded_effects, tmp_path, [told(row) for row in rows_of(recorded_effects)])).refuted
