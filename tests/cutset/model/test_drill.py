from dataclasses import replace

import pytest

from cutset.model.drill import (
    DrillFinished,
    DrillJudgement,
    DrillResult,
    DrillsPlanned,
    DrillTest,
    DrillVerdict,
    ObservedOperation,
    Phase,
    PhaseBegan,
    ServiceStarted,
    Share,
    Thresholds,
    endpoint_of,
    point_of,
    results_of,
    session_of,
    worst_first,
)
from cutset.model.point import Point
from cutset.model.run import RunFinished


@pytest.mark.parametrize("endpoint", ["cache/redis/get", "db/psycopg/execute", "rpc/httpx/GET /quotes/*@#>%/x"])
@pytest.mark.parametrize("occurrence", [0, 1, 12])
def test_an_endpoint_as_a_service_calls_it_is_a_point_like_any_other(endpoint: str, occurrence: int) -> None:
    point = point_of("shop", endpoint, occurrence)

    assert endpoint_of(point) == endpoint
    assert Point.parse(str(point)) == point


def test_a_test_is_named_after_its_fault_and_its_point() -> None:
    test = DrillTest("GET /", 0, Point.parse("shop>cache/redis/get@2"), "no-answer")

    assert str(test) == "no-answer at shop>cache/redis/get@2"
    assert (test.endpoint, test.component) == ("cache/redis/get", "cache")


def test_the_id_of_a_test_is_its_own_and_stays() -> None:
    point = Point.parse("shop>cache/redis/get")
    tests = [
        DrillTest("GET /", 0, point, "no-answer"),
        DrillTest("GET /", 0, point, "loading"),
        DrillTest("GET /", 1, point, "no-answer"),
        DrillTest("GET /x", 0, point, "no-answer"),
        DrillTest("GET /", 0, Point.parse("shop>cache/redis/get@2"), "no-answer"),
    ]

    assert len({test.id for test in tests}) == len(tests)
    assert DrillTest("GET /", 0, point, "no-answer", repeatable=True).id == tests[0].id == "e6487cd5"


def test_an_answer_may_take_five_times_as_long_as_when_it_was_recorded_and_five_seconds_at_least() -> None:
    assert Thresholds().limit_for(0.1) == 5.0
    assert Thresholds().limit_for(2.0) == 10.0
    assert Thresholds(limit_seconds=3.0).limit_for(2.0) == 3.0


def test_a_share_says_how_sure_it_is() -> None:
    assert str(Share(1, 2, 0.1, 0.9)) == "1 of 2 (50 %, at 95 % 10%–90%)"
    assert str(Share(0, 0, 0.0, 1.0)) == "none of 0"


def test_results_are_found_among_events_and_put_in_order_of_concern() -> None:
    test = DrillTest("GET /", 0, Point.parse("shop>cache/redis/get"), "no-answer")
    results = [DrillResult(test, DrillJudgement(verdict, "")) for verdict in DrillVerdict]
    finished = [DrillFinished(result=result, subject="") for result in results]

    assert results_of([ServiceStarted(number=1), *finished]) == results
    assert [result.judgement.verdict.value for result in worst_first(results)] == ["failed", "unknown", "passed"]


def test_a_session_tells_at_any_moment_how_far_it_is() -> None:
    test = DrillTest("GET /", 0, Point.parse("shop>cache/redis/get"), "no-answer")
    other = replace(test, step=1)
    result = DrillResult(test, DrillJudgement(DrillVerdict.PASSED, ""))
    events = [
        DrillsPlanned(tests=(test, other), not_repeated=3),
        ServiceStarted(number=1),
        PhaseBegan(test=test, phase=Phase.RECOVERY),
        DrillFinished(result=result, subject=""),
        PhaseBegan(test=other, phase=Phase.FAULT),
    ]

    began, asked, between = session_of(events), session_of([]), session_of(events[:-1])

    assert (began.results, began.to_do, began.phase) == ((result,), (other,), Phase.FAULT)
    assert (began.not_repeated, began.starts, began.finished) == (3, 1, False)
    assert between.phase is None
    assert (asked.to_do, asked.finished) == ((), False)
    assert session_of([*events, RunFinished()]).finished
    assert not session_of([*events, RunFinished(reason="later")]).finished


def test_a_test_is_at_all_peers_unless_it_names_one() -> None:
    calls = [
        ObservedOperation("cache/redis/get", 1, 0, 0, failed=False, facts={"peer": peer}) for peer in ("a:1/0", "b:1/0")
    ]
    everywhere = DrillTest("GET /", 0, point_of("shop", "cache/redis/get"), "no-answer")
    there = replace(everywhere, point=point_of("shop", "cache/redis/get", peer="b:1/0"))

    assert [[test.is_at(call) for call in calls] for test in (everywhere, there)] == [[True, True], [False, True]]
    assert (there.endpoint, there.place) == ("cache/redis/get", "cache/redis/get b:1/0")
    assert not there.is_at(replace(calls[1], endpoint="cache/redis/set"))
