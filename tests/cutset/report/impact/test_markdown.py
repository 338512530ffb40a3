from dataclasses import replace

import pytest
from tests.samples.impacts import IMPACT

from cutset.model.point import Point
from cutset.report.impact.markdown import to_markdown
from cutset.report.markdown import MOST_CHARACTERS


def test_the_conclusion_comes_first_then_each_api_in_numbers_then_what_to_do() -> None:
    text = to_markdown(IMPACT, "cutset impact payment/Charge")

    assert text.startswith("# ✗ Affected: 2 of 4 APIs upstream are affected\n")
    order = ("**Stopped by**", "**Doubtful:**", "| verdict | API |", "| ↯ the fault is here |", "## What to do next")
    assert sorted(order, key=text.index) == list(order)
    assert "70.1 %" in text
    assert text.endswith("```console\ncutset impact payment/Charge\n```\n")


def test_an_unfinished_one_says_so() -> None:
    assert "**Unfinished:**" in to_markdown(replace(IMPACT, finished=False))


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a | b\n# heading", "[x](http://evil) @all " * 500])
def test_names_of_others_are_text_and_bounded(hostile: str) -> None:
    api = replace(IMPACT.apis[0], api=Point(hostile, hostile), reason=hostile)
    text = to_markdown(replace(IMPACT, apis=(api,) * 300, problems=(hostile,), run=hostile))

    assert len(text) <= MOST_CHARACTERS
    assert "\n# heading" not in text
    assert all(line.count(" | ") == 7 for line in text.split("\n") if line.startswith("| ✗"))
