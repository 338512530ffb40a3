import re
from dataclasses import replace

import htpy as h
from tests.samples.impacts import IMPACT

from cutset.model.impact import Interval
from cutset.report.impact.table import api_table


def bars(table: str) -> list[list[tuple[str, float]]]:
    """Of each API: its marks, from left to right in percent of the scale."""
    scales = re.findall(r'<div class="spread" aria-hidden="true">(.*?)</div>', table)
    return [
        [(kind, float(left)) for kind, left in re.findall(r'<i class="([^"]+)" style="left:([\d.]+)', scale)]
        for scale in scales
    ]


def test_differences_are_drawn_on_one_scale_with_zero_and_the_margin() -> None:
    affected, resilient, undecided, _, target = bars(str(h.div[api_table(IMPACT)]))
    zero = dict(affected)["zero"]

    assert dict(affected)["whisker"] > zero
    assert dict(resilient)["whisker"] < zero < dict(affected)["dot"]
    assert ("whisker beyond-low", 0.0) in undecided  # wider than what is decided needs
    assert [kind for kind, _ in target] == ["margin", "zero", "dot"]  # of which no interval is known


def test_a_scale_is_wide_enough_for_the_margin_if_nothing_is_decided() -> None:
    unknown = replace(IMPACT.apis[2], at_any_time=Interval(-1.0, 1.0), difference=0.0)
    [marks] = bars(str(h.div[api_table(replace(IMPACT, apis=(unknown,), target=()))]))

    assert [kind for kind, _ in marks] == ["margin", "zero", "dot"]


def test_each_api_has_its_word_numbers_and_reason() -> None:
    table = str(h.div[api_table(IMPACT)])

    assert table.count('<tr class="why') == 5
    assert "</span> cannot tell</span>" in table
    assert '70.1 %<div class="small muted">of 241</div>' in table
    assert "48 requests with the fault are too few" in table
    assert table.count("▲") == 1
