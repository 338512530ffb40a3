from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.samples.impacts import CHECKOUT, IMPACT, TARGET, impact_events, impact_started

from cutset.judge.impact import impact_of
from cutset.model.impact import GuardTripped, Matching
from cutset.model.point import Point
from cutset.report.impact.page import TIMELINES_OPEN, impact_page

EVENTS = tuple(impact_events())


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> _Balance:
    parser = _Balance()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_the_page_of_a_real_run_has_all_its_parts() -> None:
    impact = impact_of(EVENTS)
    page = impact_page(impact, EVENTS, "jaeger+http://jaeger:16686", "cutset impact x")

    seen = parsed(page)
    assert seen.tags.count("svg") == 1 + len(impact.apis) + len(impact.target)
    for part in ("2 of 6 APIs upstream are affected", "2027-01-15 08:00:00 UTC", "Upstream APIs", "What to do next"):
        assert part in seen.text
    for part in ("Where it shows", "Over time", "Failed requests with the fault", "Settings", "cutset impact x"):
        assert part in seen.text
    trace = impact.apis[2].fault.failed_traces[0]
    assert f'<a href="http://jaeger:16686/trace/{trace}"' in page


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = impact_page(IMPACT, EVENTS)

    assert "default-src &#39;none&#39;" in page
    assert not {"script", "link", "img", "iframe", "a"} & set(parsed(page).tags)


def test_what_stopped_it_and_what_makes_it_doubtful_comes_before_the_numbers() -> None:
    text = parsed(impact_page(replace(IMPACT, finished=False), EVENTS)).text

    order = ("Stopped by", "2.1 % of unmarked", "Unfinished", "Doubtful", "Upstream APIs")
    assert sorted(order, key=text.index) == list(order)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "`</code><b>"])
def test_nothing_that_others_wrote_is_taken_for_markup(hostile: str) -> None:
    api = Point(hostile, hostile)
    started = replace(impact_started(), matching=Matching(path=hostile, headers={hostile: hostile}), by=hostile)
    first = replace(IMPACT.apis[0], api=api, reason=hostile)
    first = replace(first, fault=replace(first.fault, failed_traces=(hostile,)))
    impact = replace(
        IMPACT,
        run=hostile,
        started=started,
        apis=(first,),
        callers=((api, TARGET),),
        guard=GuardTripped(guard=hostile, reason=hostile, at=EVENTS[2].at),  # type: ignore[union-attr]
        problems=(hostile,),
    )
    usual = impact_page(replace(IMPACT, apis=IMPACT.apis[:1], callers=((CHECKOUT, TARGET),)), EVENTS)

    page = impact_page(impact, EVENTS, "http://traces/{trace}", hostile)

    assert set(parsed(page).tags) - {"a"} <= set(parsed(usual).tags) | {"pre", "h3", "code"}


def test_many_apis_are_folded() -> None:
    impact = impact_of(EVENTS)
    page = impact_page(impact, EVENTS)

    assert len(impact.apis) + len(impact.target) == TIMELINES_OPEN + 1
    assert "<summary>1 more API</summary>" in page


@pytest.mark.parametrize(
    ("apis", "words"),
    [
        ((), "Cannot tell: nothing upstream of the fault was seen"),
        (IMPACT.apis[1:2], "Resilient: the only API upstream is not affected"),
        (IMPACT.apis[2:3], "Cannot tell yet: the only API upstream is undecided, none is known to be affected"),
        (IMPACT.apis[:1], "Affected: the only API upstream is affected"),
        ((*IMPACT.apis[:1], *IMPACT.apis[3:]), "Affected: 2 of 2 APIs upstream are affected"),
        (IMPACT.apis[1:3], "Cannot tell yet: 1 of 2 APIs upstream is undecided, none is known to be affected"),
    ],
)
def test_the_conclusion_is_one_sentence(apis: tuple[object, ...], words: str) -> None:
    page = impact_page(replace(IMPACT, apis=apis), EVENTS)  # type: ignore[arg-type]

    assert words in parsed(page).text
