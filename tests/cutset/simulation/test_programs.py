from dataclasses import replace

import pytest

from cutset.model.outcome import Points, Verdict
from cutset.model.point import Point
from cutset.simulation.programs import (
    DELAY_MS,
    AtOnce,
    Behaviour,
    Bother,
    CallSite,
    Does,
    Fail,
    Instead,
    InTurn,
    ProgramLaboratory,
    RequestProgram,
    Tolerate,
    minimal_sets,
    points_in,
)


def points(*names: str) -> Points:
    return frozenset(Point.parse(f"simulated/{name}") for name in names)


def minimal(program: Behaviour, does: Does = Does.FAIL, **options: int) -> set[Points]:
    delayed = bool(options.pop("delayed", 0))
    return minimal_sets(RequestProgram(program, **options), 3, delayed=delayed)[does]


# A balancer that turns to the second server when the first answers 500, and not when it cannot be reached.
BALANCER = CallSite("first", Fail("502"), {"500": Instead(CallSite("second"))}, body=CallSite("database", Fail("500")))


def test_a_caller_may_tolerate_how_a_call_fails_by_itself_and_not_how_it_is_failed() -> None:
    assert minimal(BALANCER) == {points("first"), points("database", "second")}


def test_what_is_called_only_after_a_good_answer_is_hidden_by_a_failure() -> None:
    optional = CallSite("optional", Tolerate(), then=CallSite("mandatory"))

    assert minimal(optional) == {points("mandatory")}
    assert ProgramLaboratory(RequestProgram(optional)).run(points("optional")).calls == points("optional")


def test_what_an_optional_call_adds_is_missing_without_it() -> None:
    program = InTurn((CallSite("ads", Tolerate(), adds="ads"), CallSite("log", Tolerate())))

    assert minimal(program) == set()
    assert minimal(program, Does.DEGRADE) == {points("ads")}
    laboratory = ProgramLaboratory(RequestProgram(program))
    assert laboratory.run(points("ads")).verdict is Verdict.DEGRADED
    assert laboratory.run(points("log")).verdict is Verdict.SURVIVED


def test_a_fallback_that_answers_otherwise_degrades() -> None:
    assert minimal(CallSite("price", Instead(CallSite("list", adds="list")), adds="price"), Does.DEGRADE) == {
        points("price")
    }


def test_delays_add_up_to_more_than_a_caller_waits_for() -> None:
    outer = CallSite("outer", body=InTurn((CallSite("one"), CallSite("two"))), limit=1)

    assert minimal(outer, delayed=1) == {points("one", "two"), points("outer", "one"), points("outer", "two")}
    at_once = replace(outer, body=AtOnce((CallSite("one"), CallSite("two"))))
    assert minimal(at_once, delayed=1) == {points("outer", "one"), points("outer", "two")}


def test_a_delay_beyond_the_limit_keeps_the_callee_from_being_asked() -> None:
    request = RequestProgram(CallSite("outer", Tolerate(), body=CallSite("inner"), limit=0))

    outcome = ProgramLaboratory(request, Bother(delayed=True)).run(points("outer"))

    assert outcome.calls == points("outer")
    assert [(each.status, each.milliseconds) for each in outcome.seen] == [("0", 0)]


def test_the_user_waits_for_no_more_than_the_deadline() -> None:
    assert minimal(InTurn((CallSite("a"), CallSite("b"))), deadline=1, delayed=1) == {points("a", "b")}


def test_with_failover_all_replicas_must_fail_and_without_it_one() -> None:
    assert minimal(CallSite("a", replicas=2)) == {points("a#1", "a#2")}
    assert minimal(CallSite("a", replicas=2, failover=False)) == {points("a#1"), points("a#2")}


def test_a_failover_is_seen() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", replicas=2)), Bother(tries=2))

    assert laboratory.run(points("a#1")).retried == points("a#1", "a#2")


def test_what_a_callee_answers_by_itself_is_not_tried_elsewhere() -> None:
    program = CallSite("a", replicas=2, body=CallSite("b", Fail("500")))

    assert minimal(program) == {points("b"), points("a#1", "a#2")}


def test_what_a_cache_may_hide_counts_as_failing() -> None:
    request = RequestProgram(CallSite("a", cache=0), caches=1)

    assert minimal_sets(request, 1, delayed=False)[Does.FAIL] == {points("a")}
    assert ProgramLaboratory(request, Bother(tries=40)).run(points("a")).verdict is Verdict.FAILED


def test_what_is_called_past_the_mesh_is_seen_by_nobody() -> None:
    request = RequestProgram(InTurn((CallSite("third-party", past_mesh=True), CallSite("a"))))

    assert points_in(request) == points("a")
    assert ProgramLaboratory(request).run(frozenset()).calls == points("a")


def test_flaky_answers_are_not_believed() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", Tolerate())), Bother(flakes=0.3, repeats=20))

    assert {laboratory.run(points("a")).verdict for _ in range(50)} == {Verdict.SURVIVED}


def test_without_a_whole_trace_nothing_has_survived() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", Tolerate())), Bother(lost_spans=1.0))

    assert laboratory.run(points("a")).verdict is Verdict.UNKNOWN


def test_of_a_failure_spans_may_be_missing_but_not_those_that_prove_it() -> None:
    request = RequestProgram(InTurn((CallSite("a"), CallSite("b", Tolerate()), CallSite("c"))))
    laboratory = ProgramLaboratory(request, Bother(lost_spans=1.0))

    outcomes = [laboratory.run(points("b", "c")) for _ in range(20)]

    assert {outcome.verdict for outcome in outcomes} == {Verdict.FAILED}
    assert all(outcome.fired and outcome.fired <= outcome.calls for outcome in outcomes)
    assert len({outcome.calls for outcome in outcomes}) > 1


def test_a_cut_that_is_not_called_is_not_survived() -> None:
    laboratory = ProgramLaboratory(RequestProgram(BALANCER))

    assert laboratory.run(points("second")).verdict is Verdict.UNKNOWN


def test_calls_are_told_with_who_made_them() -> None:
    request = RequestProgram(CallSite("outer", body=CallSite("inner", Tolerate())))

    seen = ProgramLaboratory(request).run(points("inner")).seen

    assert [(each.point.api, each.caller, each.status) for each in seen] == [
        ("outer", "", "200"),
        ("inner", "simulated/outer", "503"),
    ]


@pytest.mark.parametrize("delayed", [False, True])
def test_delays_are_seen_in_the_call_and_in_those_around_it(delayed: bool) -> None:
    request = RequestProgram(CallSite("outer", Tolerate(), body=CallSite("inner", Tolerate())))

    seen = ProgramLaboratory(request, Bother(delayed=delayed)).run(points("inner")).seen

    assert [each.milliseconds for each in seen] == ([DELAY_MS] * 2 if delayed else [0, 0])
