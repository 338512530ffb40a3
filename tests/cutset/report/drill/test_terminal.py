import json

from tests.samples.drill import FAILED, PASSED, TEST, UNKNOWN

from cutset.report.drill.terminal import plan_document, plan_lines, result_lines, results_document

REPLAY = "cutset drill --replay"


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
