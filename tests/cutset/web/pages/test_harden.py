import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient
from tests.samples.hardening import EVENTS, failed, fill
from tests.samples.opened_dashboard import opened_dashboard

from cutset.config.harden import load_harden
from cutset.model.event import CampaignStarted
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.web.dashboard import Dashboard

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
Opened = tuple[Dashboard, TestClient]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    monkeypatch.chdir(tmp_path)
    with opened_dashboard(fill(tmp_path / "store")) as found:
        yield found


def text(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)))


def ask(opened: Opened, path: str) -> str:
    answer = opened[1].get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_it_shows_the_choice_of_the_usual_budget_with_the_curve(opened: Opened) -> None:
    page = ask(opened, "/harden")
    assert "Harden 3 of 4 APIs: 4 of 4 cuts gone, proven best" in text(page)
    assert "Budget 3: 100% gone" in page
    assert "No script" not in page
    slider = re.search(r'<input id="position"[^>]*>', page)
    assert slider
    assert 'max="3"' in slider[0]
    assert 'value="3"' in slider[0]
    points = json.loads(unescape(re.search(r'data-points="([^"]*)"', slider[0])[1]))  # type: ignore[index]
    assert [(budget, coverage) for budget, coverage, _, _ in points] == [(0, 0), (1, 0.5), (2, 0.75), (3, 1)]


def test_every_view_has_an_address(opened: Opened) -> None:
    page = ask(opened, "/harden?campaign=one&budget=1&level=call-site&high=GET+/&cost:cart/GetCart=0.5")
    assert "A budget of 1 does not cover all high-priority requests" in text(page)
    said = text(ask(opened, "/harden?budget=1&objective=coverage&is:cart/GetCart=untouchable"))
    assert "Harden 1 of 4 APIs: 1 of 4 cuts gone" in said
    assert "1. ad/GetAds" in said


def test_the_part_that_follows_the_slider_is_the_same_as_in_the_page(opened: Opened) -> None:
    part = ask(opened, "/harden/choice?campaign=one&budget=1")
    assert part.startswith('<div id="summary">')
    assert "Harden 1 of 4 APIs: 2 of 4 cuts gone, proven best" in text(part)
    assert "The last unit of budget removed 2 (marginal gain)." in text(part)
    assert "Removes 2 cuts GET / cart/GetCart POST /pay cart/GetCart" in text(part)
    assert "What remains: 2 cuts" in text(part)
    assert part in ask(opened, "/harden?campaign=one&budget=1").replace(_between(part, opened), "")
    assert "expected a number" in text(opened[1].get("/harden/choice?budget=-1").text)
    assert "does not cover" in text(ask(opened, "/harden/choice?budget=0&high=GET+/"))


def _between(part: str, opened: Opened) -> str:
    """What the page has between the two parts."""
    page = ask(opened, "/harden?campaign=one&budget=1")
    summary, details = part.split('<div id="details">')
    return page[page.index(summary) + len(summary) : page.index(f'<div id="details">{details}')]


def test_costs_can_be_edited_and_taken_along(opened: Opened, tmp_path: Path) -> None:
    page = ask(opened, "/harden?budget=2&cost:cart/GetCart=5&is:ad/GetAds=hardened")
    row = re.search(r'<input type="number" name="cost:cart/GetCart"[^>]*>', page)
    assert row
    assert 'value="5" data-usual="1" form="settings"' in row[0]
    assert "harden: apis: cart/GetCart: cost: 5.0 ad/GetAds: hardened: true" in text(page)
    answer = opened[1].get("/harden/section?cost:cart/GetCart=5&is:ad/GetAds=hardened")
    assert "attachment" in answer.headers["content-disposition"]
    (tmp_path / "cutset.yaml").write_text(f"requests: []\n{answer.text}")
    kept = load_harden(None, tmp_path / "cutset.yaml")
    assert (kept.costs["cart/GetCart"], kept.already) == (5, {"ad/GetAds"})
    assert 'data-usual="5"' in ask(opened, "/harden")  # as configured from now on


def test_without_a_script_costs_that_nobody_changed_are_no_edits(opened: Opened) -> None:
    page = ask(opened, "/harden?budget=2&cost:cart/GetCart=1&is:cart/GetCart=open&cost:ad/GetAds=1")
    assert "Costs as configured" not in page
    assert '<details id="costs">' in page


def test_who_cannot_act_here_is_told_the_command(opened: Opened) -> None:
    page = ask(opened, "/harden?budget=1")
    assert "Apply and verify …" not in page
    assert "cutset harden one --budget 1 --store store --apply local --verify" in text(page)
    assert "--cost costs.yaml" in text(ask(opened, "/harden?budget=1&cost:cart/GetCart=2"))


def test_who_can_act_is_led_to_a_page_that_asks_first(tmp_path: Path) -> None:
    config = tmp_path / "cutset.yaml"
    config.write_text(yaml.safe_dump({"requests": [{"path": "/"}], "target": {"url": "http://127.0.0.1:1"}}))
    with opened_dashboard(fill(tmp_path / "store"), config_file=config, key=b"x" * 32) as opened:
        assert 'formaction="/harden/apply"' in ask(opened, "/harden")


def test_what_is_wrong_is_told_beside_the_fields(opened: Opened, tmp_path: Path) -> None:
    assert "There is no campaign nine" in text(opened[1].get("/harden?campaign=nine").text)
    assert "crat/GetCart was not called in this campaign" in text(ask(opened, "/harden?cost:crat/GetCart=2"))
    assert "No budget covers" in text(ask(opened, "/harden?high=GET+/&is:ad/GetAds=untouchable"))
    (tmp_path / "cutset.yaml").write_text("harden: {apis: {cart/GetCart: {cost: -1}}}")
    page = ask(opened, "/harden")
    assert "expected a cost above 0" in text(page)
    assert 'id="settings"' in page


def test_nothing_to_harden_is_said_with_what_to_do(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path / "empty") as opened:
        assert "There is no campaign to harden against yet" in text(ask(opened, "/harden"))
    with opened_dashboard(fill(tmp_path / "store", [*EVENTS[:4], RunFinished()])) as opened:
        assert "found no cut: there is nothing to harden" in text(ask(opened, "/harden"))


def test_what_others_named_is_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    events = [
        RunStarted(loop=Loop.CAMPAIGN, run="one", command="explore"),
        CampaignStarted(requests=(HOSTILE,), max_size=3),
        failed(HOSTILE, "cart/GetCart"),
        failed(HOSTILE, str(Point("<img src=x>", "<img src=x onerror=alert(1)>"))),
        RunFinished(reason=""),
    ]
    with opened_dashboard(fill(tmp_path / "store", events)) as opened:
        for path in ("/harden?budget=1", "/harden/choice?budget=1", f"/harden?high={HOSTILE}&cost:{HOSTILE}=2"):
            page = opened[1].get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
