from pathlib import Path

import pytest

from cutset.drill import history
from cutset.drill.plan import PlannedTest
from cutset.errors import InputError
from cutset.model.drill import (
    DrillFinding,
    DrillJudgement,
    DrillResult,
    DrillTest,
    DrillVerdict,
    Phase,
    PhaseStatistics,
    Share,
    Symptom,
    TimelinePoint,
)
from cutset.model.point import Point

FAULTS = ("connection-lost", "deadlock", "lost-answer")
TESTS = [PlannedTest(DrillTest("GET /", 0, Point.parse("shop>db/psycopg/execute"), fault), 1, "") for fault in FAULTS]
DAY = 86_400.0


def result(planned: PlannedTest, verdict: DrillVerdict, at: float = 0.0) -> DrillResult:
    finding = DrillFinding(Symptom.HANG, "entry", "no answer", ("t1",))
    phase = PhaseStatistics(Phase.FAULT, 5.0, Share(1, 2, 0.1, 0.9), 2, 0.1, 0.2, 3.0)
    judgement = DrillJudgement(verdict, "because", (finding,), ("a note",), (phase,))
    return DrillResult(planned.test, judgement, (TimelinePoint(Phase.FAULT, 3.0, 0.1, ok=True, fired=True),), at)


def due(store: Path, *, now: float = 0.0, session: str = "") -> tuple[list[str], list[str]]:
    run, skipped = history.due(TESTS, history.results(store), now=now, expire_days=7, session=session)
    return [each.test.fault for each in run], [each.test.fault for each, _ in skipped]


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    written = result(TESTS[0], DrillVerdict.FAILED, 12.5)
    history.append(tmp_path, "s1", written)

    assert history.results(tmp_path) == [("s1", written)]


def test_what_failed_comes_first_and_what_passed_does_not_come(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.PASSED))
    history.append(tmp_path, "s1", result(TESTS[2], DrillVerdict.FAILED))

    assert due(tmp_path) == (["lost-answer", "deadlock"], ["connection-lost"])


def test_what_passed_long_ago_comes_again(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.PASSED))

    assert due(tmp_path, now=6.9 * DAY)[1] == ["connection-lost"]
    assert due(tmp_path, now=7.1 * DAY)[1] == []


def test_the_latest_result_counts(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.PASSED))
    history.append(tmp_path, "s2", result(TESTS[0], DrillVerdict.FAILED))

    assert due(tmp_path)[1] == []


def test_a_resumed_session_repeats_nothing_whatever_came_out(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.FAILED))
    history.append(tmp_path, "s1", result(TESTS[1], DrillVerdict.UNKNOWN))

    assert history.unfinished_session(tmp_path) == "s1"
    assert due(tmp_path, session="s1") == (["lost-answer"], ["connection-lost", "deadlock"])


def test_a_session_that_was_interrupted_in_its_first_test_can_be_resumed_also_after_another_one(tmp_path: Path) -> None:
    history.begin(tmp_path, "s1")
    history.append(tmp_path, "replay", result(TESTS[0], DrillVerdict.FAILED))
    history.append(tmp_path, "replay", None)

    assert history.unfinished_session(tmp_path) == "s1"


def test_a_finished_session_cannot_be_resumed(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.FAILED))
    history.append(tmp_path, "s1", None)

    assert history.unfinished_session(tmp_path) == ""


def test_a_torn_line_is_dropped_and_does_not_harm_the_next(tmp_path: Path) -> None:
    history.append(tmp_path, "s1", result(TESTS[0], DrillVerdict.PASSED))
    path = tmp_path / "drills.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes()[:-30])
    history.append(tmp_path, "s1", result(TESTS[1], DrillVerdict.PASSED))

    assert [each.test.fault for _, each in history.results(tmp_path)] == ["connection-lost", "deadlock"]


def test_a_format_of_the_future_is_refused(tmp_path: Path) -> None:
    (tmp_path / "drills.jsonl").write_text('{"format": 99}\n')

    with pytest.raises(InputError, match="line 1, has format 99"):
        history.results(tmp_path)
