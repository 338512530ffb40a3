import re
from dataclasses import replace

import pytest
from tests.samples.drill import FAILED, PASSED, TEST, UNKNOWN

from cutset.model.drill import DrillFinding, DrillSession, Phase, Symptom
from cutset.model.point import Point
from cutset.report.drill.page import MOST_TO_DO, drill_page

REPLAY = "cutset drill --replay"
WHOLE = DrillSession((FAILED, PASSED, UNKNOWN), (), not_repeated=0, starts=2, phase=None, finished=True)


def test_the_worst_comes_first_and_each_has_its_place_its_picture_and_how_to_see_it_again() -> None:
    page = drill_page(WHOLE, replay=REPLAY)

    assert "3 drills: 1 passed, 1 failed, 1 unknown" in page
    assert page.count("<svg") == 3
    assert re.findall(r'class="drilled (\w+)"', page) == ["failed", "unknown", "passed"]
    assert f'href="#drill-{FAILED.test.id}"' in page
    assert f'id="drill-{FAILED.test.id}"' in page
    assert f"{REPLAY} {FAILED.test.id}" in page
    assert "Unfinished" not in page


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "\x1b[31m" + "x" * 10_000])
def test_nothing_in_it_is_taken_for_markup_or_grows_without_end(hostile: str) -> None:
    test = replace(TEST, flow=hostile, point=Point(hostile, hostile, caller=hostile), fault=hostile)
    finding = DrillFinding(Symptom.HANG, hostile, hostile, (hostile,))
    judgement = replace(FAILED.judgement, findings=(finding,), notes=(hostile,), reason=hostile)
    page = drill_page(
        replace(
            WHOLE, results=(replace(FAILED, test=test, judgement=judgement), PASSED), to_do=(test,), finished=False
        ),
        replay=REPLAY,
    )

    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert len(page) < len(drill_page(WHOLE, replay=REPLAY)) + 30_000


def test_a_session_under_way_tells_what_is_left_and_what_began() -> None:
    tests = tuple(replace(TEST, step=number) for number in range(MOST_TO_DO + 3))
    page = drill_page(replace(WHOLE, to_do=tests, phase=Phase.FAULT, finished=False), replay=REPLAY)

    assert "this is what is known so far" in page
    assert f"{len(tests)} tests left to run" in page
    assert "Last began the phase <b>fault</b>" in page
    assert "and 3 more" in page


def test_before_the_plan_there_is_nothing_but_that() -> None:
    page = drill_page(replace(WHOLE, results=(), finished=False), replay=REPLAY)

    assert "The service is being asked what it calls." in page
    assert "<section" not in page
