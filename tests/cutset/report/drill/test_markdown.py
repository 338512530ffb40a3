from dataclasses import replace

from tests.samples.drill import FAILED, PASSED, TEST, UNKNOWN

from cutset.model.drill import DrillFinding, DrillSession, Symptom
from cutset.report.drill.markdown import to_markdown
from cutset.report.markdown import MOST_CHARACTERS

REPLAY = "cutset drill --replay"
SESSION = DrillSession((PASSED, UNKNOWN, FAILED), (), not_repeated=0, starts=1, phase=None, finished=True)


def test_all_are_in_the_table_and_what_did_not_pass_is_told_with_the_command_that_runs_it_again() -> None:
    text = to_markdown(SESSION, replay=REPLAY)

    assert "3 drills: 1 passed, 1 failed, 1 unknown" in text
    assert text.index("| ✗ failed |") < text.index("| ? unknown |") < text.index("| ✓ passed |")
    assert text.count("\n## ") == 2
    assert f"{REPLAY} {FAILED.test.id}" in text
    assert "- **no-recovery** at `entry`" in text


def test_what_is_left_is_told_while_it_goes_on() -> None:
    assert "**Unfinished:** this is what is known so far; 1 left to run." in to_markdown(
        replace(SESSION, to_do=(TEST,), finished=False), replay=REPLAY
    )


def test_hostile_text_stays_text_and_no_session_is_longer_than_a_comment() -> None:
    hostile = "@everyone | <script>alert(1)</script> `" + "x" * 10_000
    finding = DrillFinding(Symptom.HANG, hostile, hostile)
    judgement = replace(FAILED.judgement, findings=(finding,), notes=(hostile,))
    results = tuple(
        replace(FAILED, test=replace(TEST, step=number, flow=hostile), judgement=judgement) for number in range(200)
    )

    text = to_markdown(replace(SESSION, results=results), replay=REPLAY)

    assert len(text) <= MOST_CHARACTERS
    assert "the rest is left out" in text
    assert "\n<script>" not in text
    assert "@everyone" not in text.replace("`@everyone", "")
