from dataclasses import replace
from pathlib import Path

from cutset.drill import history
from cutset.drill.history import PastDrill, subject_of
from cutset.drill.plan import Flow, FlowStep, PlannedTest
from cutset.drill.settings import ServiceUnderTest
from cutset.model.drill import DrillFinished, DrillJudgement, DrillResult, DrillTest, DrillVerdict
from cutset.model.exchange import Exchange, Operation
from cutset.model.point import Point
from cutset.workload.templates.template import Template

FAULTS = ("connection-lost", "deadlock", "lost-answer")
TESTS = [PlannedTest(DrillTest("GET /", 0, Point.parse("shop>db/psycopg/execute"), fault), 1, "") for fault in FAULTS]
DAY = 86_400.0


def past(number: int, verdict: DrillVerdict, *, subject: str = "same") -> PastDrill:
    return PastDrill(
        0.0, DrillFinished(result=DrillResult(TESTS[number].test, DrillJudgement(verdict, "")), subject=subject)
    )


def due(*before: PastDrill, now: float = 0.0) -> tuple[list[str], list[str]]:
    run, skipped = history.due([(each, "same") for each in TESTS], before, now=now, expire_days=7)
    return [each.test.fault for each in run], [each.test.fault for each, _ in skipped]


def test_what_failed_comes_first_and_what_passed_does_not_come() -> None:
    assert due(past(0, DrillVerdict.PASSED), past(2, DrillVerdict.FAILED)) == (
        ["lost-answer", "deadlock"],
        ["connection-lost"],
    )


def test_what_passed_long_ago_comes_again() -> None:
    assert due(past(0, DrillVerdict.PASSED), now=6.9 * DAY)[1] == ["connection-lost"]
    assert due(past(0, DrillVerdict.PASSED), now=7.1 * DAY)[1] == []


def test_the_latest_result_counts() -> None:
    assert due(past(0, DrillVerdict.PASSED), past(0, DrillVerdict.FAILED))[1] == []


def test_what_passed_counts_for_the_same_subject_only() -> None:
    assert due(past(0, DrillVerdict.PASSED, subject="another"))[1] == []


def flow(*endpoints: str, body: bytes = b"") -> Flow:
    calls = tuple(Operation(endpoint, 1, 1.0, 0.01, failed=False) for endpoint in endpoints)
    recorded = Exchange("1", "shop", "", 1.0, 0.1, "GET", "/", (), body, 200, operations=calls)
    return Flow((FlowStep("GET /", recorded),), Template("1", ()))


def test_the_subject_is_how_the_service_is_started_and_what_the_flow_does() -> None:
    service = ServiceUnderTest(("serve", "{port}"), env={"DATABASE": "a"})
    subject = subject_of(service, flow("cache/redis/get"))

    assert subject == subject_of(service, flow("cache/redis/get", body=b"recorded on another day"))
    others = [
        subject_of(replace(service, command=("serve", "--new", "{port}")), flow("cache/redis/get")),
        subject_of(replace(service, env={"DATABASE": "b"}), flow("cache/redis/get")),
        subject_of(replace(service, folder=Path("elsewhere")), flow("cache/redis/get")),
        subject_of(service, flow("cache/redis/get", "db/psycopg/execute")),
    ]
    assert len({subject, *others}) == 5
