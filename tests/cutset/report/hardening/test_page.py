import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.samples.hardening_result import CART, DECIDED, ODDS, TRIED, VERIFICATION, finding

from cutset.harden.choose import choose
from cutset.harden.decision import Decision, Hardening
from cutset.harden.frontier import frontier
from cutset.harden.problem import Choice, problem_of
from cutset.model.hardening import HealthJudged, MeshRestored
from cutset.report.hardening.page import CUTS_SHOWN, hardening_page

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self.said.append(data)


def read(page: str) -> _Text:
    parser = _Text()
    parser.feed(page)
    return parser


def text(found: Hardening, knee: Hardening | None = None) -> str:
    return re.sub(r"\s+", " ", " ".join(read(hardening_page(found, knee)).said))


def test_it_says_what_to_harden_why_and_what_that_removes_and_leaves() -> None:
    said = text(DECIDED)
    assert "Harden 1 of 2 APIs: 1 of 2 cuts gone, proven best" in said
    assert "1. ad/GetAds" in said
    assert "fallback against an outage of the whole API" in said
    assert "Not advised: " in said
    assert "Removes 1 cut GET /[x] ad/GetAds" in said
    assert "What remains: 1 cut GET /[x] cart/GetCart" in said
    assert "Odds Not known" in said
    assert "Applied" not in said
    assert "Verified" not in said


def test_the_frontier_is_a_picture_and_a_table() -> None:
    page = hardening_page(DECIDED)
    assert page.count("<svg") == 1
    assert "Budget 1: 50% gone" in page
    assert "← this budget" in text(DECIDED)


def test_what_was_tried_is_held_against_what_was_before() -> None:
    said = text(TRIED)
    assert 'added ad.fallback: {"GetAds": "last-good"}' in said
    assert "kept ad.retries is 2" in said
    assert "left out ad.timeout_seconds: x" in said
    assert "Undo with cp /shop/mesh.yaml.before /shop/mesh.yaml" in said
    assert "Verified: 1 of 2 known cuts gone" in said
    assert "AFVR 0.500 measured, 0.000 predicted, 1 before" in said
    assert "cart/GetCart ✗ fails ✗ still fails 500 [oops] gone: not so" in said
    assert "ad/GetAds ✗ fails ~ gone, degraded 200, but missing ads gone" in said
    assert f"New cuts: 1 ad-fallback/GetAds GET /[x]: 500 cutset explore --replay {VERIFICATION.new_cuts[0].id}" in said
    assert "It takes more failures now: 1" in said
    assert "New degradations: 1" in said
    assert "100 ms 200 ms 10 10 5 20" in said
    assert "Slower: GET /[x], median 100 → 200 ms" in said
    assert "More calls: GET /[x], 10 → 20 per request" in said
    assert "not looked for" not in said
    assert "New cuts were not looked for" in text(replace(TRIED, verification=replace(VERIFICATION, explored=False)))


def test_what_was_rolled_back_is_told_with_the_reason() -> None:
    said = text(replace(TRIED, restored=MeshRestored(why="what worked before does not"), health=HealthJudged(runs=10)))
    assert "Rolled back what worked before does not The mesh is as it was" in said
    assert "It was undone as by" in said
    assert "healthy" not in said
    assert "GET / 503" in text(replace(TRIED, restored=MeshRestored(why="x", still={"GET /": "503"})))
    assert "does not run as it did: gone" in text(replace(TRIED, restored=MeshRestored(why="x", problem="gone")))


def test_health_is_told_where_it_was_judged() -> None:
    assert "healthy : each request was sent 10 times since" in text(replace(TRIED, health=HealthJudged(runs=10)))


def test_odds_are_told_with_intervals_and_what_they_rest_on() -> None:
    said = text(replace(DECIDED, odds=ODDS))
    assert "Of 1,000 requests a day 20 (12 to 31) fail for known causes; hardened, 5 (3 to 9) ." in said
    assert "their intervals (95 %)" in said
    assert "cart/GetCart : without it, 15 of 20 failed requests per day would succeed" in said
    assert "traffic of GET /[x]: 1,000 seen in 24 h" in said
    assert "ad/GetAds fails in 0.0055 of calls" in said


def test_what_the_knee_would_come_to_is_there_if_it_is_another_choice() -> None:
    assert "from which on returns diminish: Harden" not in text(DECIDED, DECIDED)
    wider = choose(DECIDED.decision.problem, 2)
    assert isinstance(wider, Choice)
    knee = replace(DECIDED, decision=replace(DECIDED.decision, choice=wider), sites=())
    assert "At a budget of 2, from which on returns diminish: Harden 2 of 2 APIs: 2 of 2 cuts gone" in text(
        DECIDED, knee
    )


def large(number: int) -> Hardening:
    findings = tuple(finding("GET /", f"service-{each}/Get") for each in range(number))
    problem = problem_of(findings)
    best = choose(problem, 0)
    assert isinstance(best, Choice)
    return replace(DECIDED, decision=Decision(findings, problem, best, {}), frontier=frontier(problem), sites=())


def test_of_a_thousand_cuts_the_first_are_shown_and_the_others_counted() -> None:
    said = text(large(1000))
    assert "What remains: 1,000 cuts" in said
    assert f"and {1000 - CUTS_SHOWN} more" in said
    assert "Nothing: this budget buys nothing." in said


@pytest.mark.parametrize("found", [DECIDED, TRIED])
def test_it_needs_nothing_from_elsewhere_and_has_no_scripts(found: Hardening) -> None:
    page = hardening_page(found)
    assert "script" not in read(page).tags
    assert not re.search(r"""(src|href)=["']?http""", page)


def test_what_names_and_answers_say_is_never_markup() -> None:
    bad = finding(HOSTILE, "cart/GetCart", reason=HOSTILE)
    decision = replace(DECIDED.decision, findings=(bad, CART), problem=problem_of([bad, CART]))
    best = choose(decision.problem, 1)
    assert isinstance(best, Choice)
    recheck = replace(VERIFICATION.rechecks[1], request=HOSTILE, outcome=bad.outcome)
    verification = replace(VERIFICATION, rechecks=(recheck,), new_cuts=(bad,), before={}, after={})
    change = replace(TRIED.change, added=(HOSTILE,)) if TRIED.change else None
    found = replace(
        TRIED,
        decision=replace(decision, choice=best),
        frontier=frontier(decision.problem),
        sites=(),
        change=change,
        undo=HOSTILE,
        replay=HOSTILE,
        verification=verification,
        restored=MeshRestored(why=HOSTILE),
        odds=replace(ODDS, traffic_from={HOSTILE: HOSTILE}, likeliest=((bad, 1.0),)),
    )
    parsed = read(hardening_page(found))
    assert not {"script", "img"} & set(parsed.tags)
    assert HOSTILE in "".join(parsed.said)
