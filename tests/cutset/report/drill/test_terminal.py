import json
from dataclasses import replace
from xml.etree import ElementTree as ET

from tests.samples.drill import TEST, drill, operation, sample

from cutset.judge.phases import judge_drill
from cutset.model.drill import DrillResult, Phase, Sample, TimelinePoint
from cutset.report.drill.page import drill_page
from cutset.report.drill.terminal import plan_document, plan_lines, result_lines, results_document
from cutset.report.drill.timeline import draw_timeline, phase_spans

REPLAY = "cutset drill --replay"


def result(samples: list[Sample]) -> DrillResult:
    points = tuple(TimelinePoint(s.phase, s.sent_at, s.seconds, s.ok, s.fired(TEST.fault)) for s in samples)
    return DrillResult(TEST, judge_drill(TEST, samples), points)


PASSED = result(drill())
FAILED = result(drill(recovery=lambda number: sample(Phase.RECOVERY, number, operation(), status=503)))
UNKNOWN = result(drill(fault=lambda number: sample(Phase.FAULT, number, operation(verb="SELECT"))))


def test_failures_come_first_with_evidence_and_the_command_that_replays_them() -> None:
    lines = list(result_lines([PASSED, UNKNOWN, FAILED], starts=2, replay=REPLAY))

    text = "\n".join(lines)
    assert lines[0].startswith("[red]✗ failed[/]  [bold]connection-lost at shop>db/psycopg/execute[/]")
    assert "[red]no-recovery[/] at entry: after the fault 0 of 50" in text
    assert f"[cyan]{REPLAY} {TEST.id}[/]" in text
    assert "the fault never fired" in text
    assert lines[-1] == "3 drills: 1 passed, 1 failed, 1 unknown; the service was started 2 times"


def test_the_document_holds_verdicts_intervals_and_findings() -> None:
    document = json.loads(json.dumps(results_document([FAILED], starts=1, replay=REPLAY)))

    [found] = document["drills"]
    assert document["verdicts"] == {"passed": 0, "failed": 1, "unknown": 0}
    assert (found["id"], found["verdict"], found["fault"]) == (TEST.id, "failed", "connection-lost")
    assert found["findings"][0]["symptom"] == "no-recovery"
    assert [phase["success_interval_95"][1] for phase in found["phases"]] == [1.0, 0.037, 0.037]
    assert found["replay"] == f"{REPLAY} {TEST.id}"


def test_the_plan_gives_a_reason_for_everything() -> None:
    shown = ([(TEST, "the last call")], [("shop>cache/redis/get@1", "call 3 is the last one")], [(TEST, "passed")])

    text = "\n".join(plan_lines(*shown))
    assert "1 test to run" in text
    assert f"{TEST.id}  connection-lost at shop>db/psycopg/execute  [dim]the last call[/]" in text
    assert "shop>cache/redis/get@1  [dim]call 3 is the last one[/]" in text
    assert plan_document(*shown)["left_out"] == [
        {"candidate": "shop>cache/redis/get@1", "reason": "call 3 is the last one"}
    ]


def test_the_picture_shades_the_fault_and_marks_what_it_hit() -> None:
    picture = ET.fromstring(draw_timeline(FAILED.timeline, title="a <b>"))

    kinds = [element.get("class") for element in picture.iter()]
    assert kinds.count("window") == 1
    assert kinds.count("fired") == 100
    assert kinds.count("dot") == 60
    assert kinds.count("cross") == 200
    assert next(picture.iter("{http://www.w3.org/2000/svg}title")).text == "a <b>"


def test_phases_follow_each_other_without_a_gap() -> None:
    spans = phase_spans(PASSED.timeline, 13.0)

    assert [phase for phase, _, _ in spans] == list(Phase)
    assert [finish for _, _, finish in spans] == [3.0, 8.0, 13.0]


def test_a_drill_that_ended_after_start_up_can_be_drawn() -> None:
    picture = ET.fromstring(draw_timeline(PASSED.timeline[:10], title="x"))

    assert [element.get("class") for element in picture.iter()].count("dot") == 10


def test_the_page_is_whole_and_nothing_in_it_is_taken_for_markup() -> None:
    hostile = replace(FAILED, test=replace(TEST, flow="<script>alert(1)</script>"))
    page = drill_page([hostile, PASSED], replay=REPLAY)

    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "2 drills: 1 passed, 1 failed, 0 unknown" in page
    assert f"{REPLAY} {hostile.test.id}" in page
