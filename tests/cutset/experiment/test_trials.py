from dataclasses import replace

from tests.samples.small_shop import cut, points

from cutset.experiment.trials import amount_to, given_up, is_idle, may_spare_others, variation, why_in_vain
from cutset.judge.sequential import MOST_TRIALS, Repetition
from cutset.model.fault import BASELINE, points_of
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point

RULE = Repetition(repeats=2, flake_rate=0.01, trials=4)
CUT = cut("cart/Get#1", "ad/Get")
FIRST, SECOND = Point.parse("cart/Get#1"), Point.parse("cart/Get#2")


def trial(verdict: Verdict, *called: str, reason: str = "", **fields: object) -> Outcome:
    outcome = Outcome(CUT, verdict, reason, calls=points(*called), fired=points_of(CUT) & points(*called))
    path = points(*called) - points_of(CUT) if verdict is Verdict.SURVIVED else frozenset()
    return replace(outcome, path=path, trace_ids=(f"{verdict}{len(called)}",), **fields)  # type: ignore[arg-type]


SERVED_BY_FIRST = trial(Verdict.FAILED, "cart/Get#1", reason="500")
SERVED_BY_SECOND = trial(Verdict.SURVIVED, "cart/Get#2")
VOID = replace(trial(Verdict.UNKNOWN), reason="no trace")


def test_a_trial_that_proves_nothing_counts_for_neither_side() -> None:
    outcome = amount_to([SERVED_BY_FIRST, VOID, SERVED_BY_FIRST], RULE, varying=False)

    assert outcome is not None
    assert (outcome.verdict, outcome.trials, outcome.failures, outcome.requests) == (Verdict.FAILED, 2, 2, 3)
    assert outcome.reason == "500"


def test_the_trace_to_be_shown_is_of_what_users_see_most_often() -> None:
    seen = ["502", "500", "500"]
    trials = [replace(SERVED_BY_FIRST, reason=each, trace_ids=(f"{n}",)) for n, each in enumerate(seen)]

    outcome = amount_to(trials, replace(RULE, repeats=3), varying=False)

    assert outcome is not None
    assert (outcome.reason, outcome.trace_ids) == ("500", ("1", "2", "0"))


def test_a_share_is_that_of_all_requests_and_says_which_they_are() -> None:
    trials = [SERVED_BY_FIRST, SERVED_BY_SECOND, SERVED_BY_SECOND]
    assert amount_to(trials, RULE, varying=False) is None

    outcome = amount_to([*trials, SERVED_BY_FIRST], RULE, varying=False)

    assert outcome is not None
    assert outcome.reason == "500; fails a share of requests: those that cart/Get#1 serves, 2 of 4"
    assert (outcome.trials, outcome.failures) == (4, 2)
    assert outcome.fired == points("cart/Get#1")
    assert outcome.calls == points("cart/Get#1", "cart/Get#2")
    assert outcome.path == frozenset()
    assert len(outcome.trace_ids) == 2


def test_a_share_that_does_not_follow_from_who_was_called_is_a_number() -> None:
    tolerated = trial(Verdict.SURVIVED, "cart/Get#1")

    outcome = amount_to([SERVED_BY_FIRST, tolerated] * 3, RULE, varying=True)

    assert outcome is not None
    assert outcome.reason == "500; fails a share of requests: 3 of 6"


def test_survivors_are_united() -> None:
    seen = CallSeen(SECOND, "", "200", 5)
    trials = [
        trial(Verdict.SURVIVED, "ad/Get", "cart/Get#2", seen=(seen, replace(seen, milliseconds=9))),
        trial(Verdict.SURVIVED, "cart/Get#1", "db/Get", seen=(replace(seen, milliseconds=7),)),
        trial(Verdict.SURVIVED, "db/Get"),
        trial(Verdict.SURVIVED, "ad/Get"),
    ]

    outcome = amount_to(trials, RULE, varying=True)

    assert outcome is not None
    assert (outcome.verdict, outcome.trials) == (Verdict.SURVIVED, 4)
    assert outcome.fired == points_of(CUT)
    assert outcome.calls == points("ad/Get", "cart/Get#1", "cart/Get#2", "db/Get")
    assert outcome.path == points("cart/Get#2", "db/Get")
    assert outcome.seen == (replace(seen, milliseconds=9), replace(seen, milliseconds=7))


def test_a_degradation_of_a_share_says_so() -> None:
    degraded = trial(Verdict.DEGRADED, "ad/Get", reason="200, but missing ads")

    outcome = amount_to([degraded, SERVED_BY_SECOND] * 3, RULE, varying=True)

    assert outcome is not None
    assert outcome.verdict is Verdict.DEGRADED
    assert outcome.reason == "200, but missing ads; degrades a share of requests: those that call ad/Get, 3 of 6"


def test_what_cannot_be_told_from_chance_has_no_path() -> None:
    rule = Repetition(repeats=4, flake_rate=0.1, trials=10)
    trials = ([SERVED_BY_FIRST] + [trial(Verdict.SURVIVED, "cart/Get#1")] * 4) * MOST_TRIALS

    outcome = amount_to(trials[:MOST_TRIALS], rule, varying=True)

    assert outcome is not None
    assert (outcome.verdict, outcome.path, outcome.seen) == (Verdict.UNKNOWN, frozenset(), ())
    assert outcome.reason == "failed 60 of 300 times: nobody can tell yet whether that is more than chance"


def test_runs_without_a_fault_vary_if_one_calls_what_another_does_not() -> None:
    def run(*called: str, failed: str = "") -> Outcome:
        return Outcome(BASELINE, Verdict.SURVIVED, calls=points(*called), failed=points(*filter(None, [failed])))

    assert variation([run("a/1#1", "b/1"), run("a/1#2", "b/1")]) == ""
    assert variation([run("a/1"), run("a/1", "b/1"), run("a/1")]) == "b/1 was called in 1 of 3 runs without a fault"
    assert variation([run("a/1"), run("a/1", failed="a/1")]) == "a/1 was failing in 1 of 2 runs without a fault"
    assert variation([]) == ""


def test_trying_on_is_in_vain_when_nothing_is_proved_or_nothing_fires() -> None:
    assert why_in_vain([VOID, SERVED_BY_SECOND, VOID, VOID], 1, 3) == ""
    assert why_in_vain([VOID, VOID, VOID], 0, 3) == "no trace"
    assert why_in_vain([SERVED_BY_SECOND] * 2, 2, 3) == ""
    assert why_in_vain([SERVED_BY_SECOND] * 3, 3, 3) == "never fired: ad/Get, cart/Get#1 was not called"
    assert why_in_vain([SERVED_BY_FIRST, *[SERVED_BY_SECOND] * 3], 3, 3) == ""
    assert why_in_vain([SERVED_BY_FIRST, SERVED_BY_SECOND] * (MOST_TRIALS // 2), 3, 3)


def test_a_replica_that_fails_while_others_serve_may_spare_other_requests_also_if_calls_turn_to_another() -> None:
    stepped_in = replace(SERVED_BY_FIRST, retried=frozenset({FIRST, SECOND}))
    both = replace(SERVED_BY_FIRST, cut=cut("cart/Get#1", "cart/Get#2"))

    assert may_spare_others([SERVED_BY_FIRST], {FIRST, SECOND})
    assert not may_spare_others([SERVED_BY_FIRST], {FIRST})
    assert may_spare_others([stepped_in], {FIRST, SECOND})
    assert not may_spare_others([both], {FIRST, SECOND})
    assert not may_spare_others([SERVED_BY_SECOND], {FIRST, SECOND})


def test_an_idle_trial_is_one_whose_faults_were_not_called() -> None:
    assert [is_idle(each) for each in (SERVED_BY_FIRST, SERVED_BY_SECOND, VOID)] == [False, True, False]
    assert not is_idle(Outcome(BASELINE, Verdict.SURVIVED))


def test_who_gives_up_claims_nothing() -> None:
    outcome = given_up([SERVED_BY_FIRST, SERVED_BY_SECOND], "why")

    assert (outcome.verdict, outcome.reason, outcome.path, outcome.seen) == (Verdict.UNKNOWN, "why", frozenset(), ())
    assert (outcome.requests, outcome.trials, outcome.failures) == (2, 2, 1)
    assert outcome.calls == points("cart/Get#1", "cart/Get#2")


def test_of_a_failure_it_is_kept_what_its_faults_met_and_whether_it_came_too_late() -> None:
    met = (CallSeen(FIRST, "web/Home", "0", 5000),)
    slow = replace(SERVED_BY_FIRST, met=met, late=True)

    outcome = amount_to([slow, slow], RULE, varying=False)

    assert outcome is not None
    assert (outcome.met, outcome.late, outcome.seen) == (met, True, ())
