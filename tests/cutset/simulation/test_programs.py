from dataclasses import replace

import pytest
from tests.samples.programs import ABORT, DELAY, faults, minimal, points

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut, cut_of
from cutset.simulation.program_laboratory import Bother, ProgramLaboratory
from cutset.simulation.programs import (
    DELAY_MS,
    AtOnce,
    CallSite,
    Fail,
    Instead,
    InTurn,
    RequestProgram,
    Tolerate,
    points_in,
)


def delays(*names: str) -> Cut:
    return cut_of(points(*names), *DELAY.usual)


# A balancer that turns to the second server when the first answers 500, and not when it cannot be reached.
BALANCER = CallSite("first", Fail("502"), {"500": Instead(CallSite("second"))}, body=CallSite("database", Fail("500")))


def test_a_caller_may_tolerate_how_a_call_fails_by_itself_and_not_how_it_is_failed() -> None:
    assert minimal(BALANCER) == {faults("first"), faults("database", "second")}


def test_what_is_called_only_after_a_good_answer_is_hidden_by_a_failure() -> None:
    optional = CallSite("optional", Tolerate(), then=CallSite("mandatory"))

    assert minimal(optional) == {faults("mandatory")}
    assert ProgramLaboratory(RequestProgram(optional)).run(faults("optional")).calls == points("optional")


def test_delays_add_up_to_more_than_a_caller_waits_for() -> None:
    outer = CallSite("outer", body=InTurn((CallSite("one"), CallSite("two"))), limit=1)

    assert minimal(outer, effects=DELAY) == {
        delays("one", "two"),
        delays("outer", "one"),
        delays("outer", "two"),
    }
    at_once = replace(outer, body=AtOnce((CallSite("one"), CallSite("two"))))
    assert minimal(at_once, effects=DELAY) == {
        delays("outer", "one"),
        delays("outer", "two"),
    }


def test_a_delay_beyond_the_limit_keeps_the_callee_from_being_asked() -> None:
    request = RequestProgram(CallSite("outer", Tolerate(), body=CallSite("inner"), limit=0))

    outcome = ProgramLaboratory(request).run(delays("outer"))

    assert outcome.calls == points("outer")
    assert [(each.status, each.milliseconds) for each in outcome.seen] == [("0", 0)]


def test_the_user_waits_for_no_more_than_the_deadline() -> None:
    assert minimal(InTurn((CallSite("a"), CallSite("b"))), deadline=1, effects=DELAY) == {delays("a", "b")}


def test_with_failover_all_replicas_must_fail_and_without_it_one() -> None:
    assert minimal(CallSite("a", replicas=2)) == {faults("a#1", "a#2")}
    assert minimal(CallSite("a", replicas=2, failover=False)) == {faults("a#1"), faults("a#2")}


def test_a_failover_is_seen() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", replicas=2)), Bother(tries=2))

    assert laboratory.run(faults("a#1")).retried == points("a#1", "a#2")


def test_what_a_callee_answers_by_itself_is_not_tried_elsewhere() -> None:
    program = CallSite("a", replicas=2, body=CallSite("b", Fail("500")))

    assert minimal(program) == {faults("b"), faults("a#1", "a#2")}


def test_what_is_called_past_the_mesh_is_seen_by_nobody() -> None:
    request = RequestProgram(InTurn((CallSite("third-party", past_mesh=True), CallSite("a"))))

    assert points_in(request) == points("a")
    assert ProgramLaboratory(request).run(frozenset()).calls == points("a")


def test_calls_are_told_with_who_made_them() -> None:
    request = RequestProgram(CallSite("outer", body=CallSite("inner", Tolerate())))

    seen = ProgramLaboratory(request).run(faults("inner")).seen

    assert [(each.point.api, each.caller, each.status) for each in seen] == [
        ("outer", "", "200"),
        ("inner", "simulated/outer", "503"),
    ]


@pytest.mark.parametrize("effects", [ABORT, DELAY])
def test_delays_are_seen_in_the_call_and_in_those_around_it(effects: EffectChoice) -> None:
    request = RequestProgram(CallSite("outer", Tolerate(), body=CallSite("inner", Tolerate())))

    seen = ProgramLaboratory(request).run(faults("inner", effects=effects)).seen

    assert [each.milliseconds for each in seen] == ([DELAY_MS] * 2 if effects == DELAY else [0, 0])
