from dataclasses import replace

from tests.samples.drill import FAILED, PASSED, TEST

from cutset.report.drill.page import drill_page

REPLAY = "cutset drill --replay"


def test_the_page_is_whole_and_nothing_in_it_is_taken_for_markup() -> None:
    hostile = replace(FAILED, test=replace(TEST, flow="<script>alert(1)</script>"))
    page = drill_page([hostile, PASSED], replay=REPLAY)

    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "2 drills: 1 passed, 1 failed, 0 unknown" in page
    assert f"{REPLAY} {hostile.test.id}" in page
