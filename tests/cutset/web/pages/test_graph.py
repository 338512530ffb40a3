"""The service graph's page, as browsers get it; with a real one it is in `tests/browser`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from starlette.testclient import TestClient
from tests.cutset.app.test_explore import CONFIG, KEY
from tests.samples.broken_service import broken_service
from tests.samples.campaign import EVENTS, MIXED, RUN, audited, experiment
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard

from cutset.app.explore import fingerprint_of
from cutset.config.explore import load_config
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger
from cutset.web.dashboard import Dashboard

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)> + more'


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    attributes: dict[str, str]


@dataclass(slots=True)
class Parsed:
    tags: list[Tag] = field(default_factory=list)
    text: str = ""

    def with_attribute(self, name: str) -> dict[str, dict[str, str]]:
        return {tag.attributes[name]: tag.attributes for tag in self.tags if name in tag.attributes}

    def named(self, name: str) -> list[dict[str, str]]:
        return [tag.attributes for tag in self.tags if tag.name == name]


def parsed(html: str) -> Parsed:
    found = Parsed()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.tags.append(Tag(tag, {name: value or "" for name, value in attrs}))

        def handle_data(self, data: str) -> None:
            found.text += data

    Reader().feed(html)
    return found


def record(store: Path, events: list[CampaignEvent], run: str = RUN.run, **started: object) -> None:
    with open_ledger(store) as ledger:
        ledger.append(run, RunStarted(loop=Loop.CAMPAIGN, run=run, command="explore", **started))  # type: ignore[arg-type]
        for event in events:
            ledger.append(run, event)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    record(tmp_path, EVENTS)
    with opened_dashboard(tmp_path) as (_, opened):
        yield opened


def shown(client: TestClient, address: str = "/graph", **query: str | list[str]) -> Parsed:
    answer = client.get(address, params=query or None)
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def failing(page: Parsed) -> set[str]:
    return set(page.with_attribute("data-fault"))


def verdicts(page: Parsed) -> dict[str, str]:
    told = [tag.attributes for tag in page.tags if "data-verdict" in tag.attributes]
    return {each["data-request"]: each["data-verdict"] for each in told}


def test_where_nothing_was_explored_it_says_what_to_do(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        assert "cutset explore" in shown(client).text


def test_each_point_is_a_button_in_the_picture_and_a_box_in_the_list(client: TestClient) -> None:
    page = shown(client)

    buttons = page.with_attribute("data-point")
    assert buttons["cart/GetCart"]["role"] == "button"
    assert buttons["cart/GetCart"]["aria-pressed"] == "false"
    assert buttons["cart/GetCart"]["aria-label"] == "cart/GetCart, fatal alone, for GET /"
    boxes = {each["value"] for each in page.named("input") if each.get("type") == "checkbox"}
    assert boxes == set(buttons)


def test_what_the_address_says_fails_and_each_request_says_what_becomes_of_it(client: TestClient) -> None:
    page = shown(client, cut="cart/GetCart + ad/GetAds")

    assert failing(page) == {"cart/GetCart:abort(503)", "ad/GetAds:abort(503)"}
    assert verdicts(page) == {"GET /": "failed", "POST /pay": "survived", "GET /down": "unknown"}
    assert "It contains a cut that was injected and failed." in page.text
    assert "500 with no cart" in page.text
    assert f"/campaigns/{RUN.run}/findings/" in " ".join(each["href"] for each in page.named("a"))


def test_points_that_fail_are_pressed_and_checked(client: TestClient) -> None:
    page = shown(client, cut="ad/GetAds")

    pressed = [tag for tag in page.tags if tag.attributes.get("data-point") == "ad/GetAds" and tag.name == "g"]
    assert [tag.attributes["aria-pressed"] for tag in pressed] == ["true"]
    assert [each["value"] for each in page.named("input") if "checked" in each] == ["ad/GetAds"]


def test_a_click_asks_for_the_panel_alone(client: TestClient) -> None:
    panel = shown(client, "/graph/panel", request="GET /", cut=["ad/GetAds", "cart/GetCart:delay(250ms)"])

    assert failing(panel) == {"ad/GetAds:abort(503)", "cart/GetCart:delay(250ms)"}
    assert verdicts(panel) == {"GET /": "unknown"}
    assert not panel.named("html")
    (root,) = [tag.attributes for tag in panel.tags if "data-said" in tag.attributes]
    assert root["data-said"] == "GET /: not known."


def test_for_one_request_the_others_are_not_told(client: TestClient) -> None:
    assert verdicts(shown(client, request="GET /", cut="ad/GetAds")) == {"GET /": "degraded"}


def test_a_form_without_scripts_chooses_effects_and_ends_at_a_short_address(tmp_path: Path) -> None:
    record(tmp_path, MIXED)
    with opened_dashboard(tmp_path) as (_, client):
        page = shown(client, cut="payment/Charge")
        (choice,) = page.named("select")[-1:]
        assert (choice["name"], choice["data-point"]) == ("effect", "payment/Charge")
        sent = {"cut": ["payment/Charge", "ledger/Book"], "effect": "payment/Charge:timeout"}

        answer = client.get("/graph", params=sent, follow_redirects=False)

        asked = parse_qsl(urlsplit(answer.headers["location"]).query)
        assert asked == [
            ("campaign", RUN.run), ("cut", "ledger/Book:abort(503)"), ("cut", "payment/Charge:timeout"),
        ]  # fmt: skip
        assert failing(shown(client, answer.headers["location"])) == {fault for name, fault in asked if name == "cut"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"cut": "cart/GetCarts"}, "No request of this campaign calls cart/GetCarts"),
        ({"cut": "nonsense"}, "nonsense is not a point"),
        ({"request": "GET /nowhere"}, "There is no request GET /nowhere in this campaign"),
    ],
)
def test_a_wrong_address_is_told_and_the_rest_is_shown(client: TestClient, query: dict[str, str], said: str) -> None:
    page = shown(client, **query)

    assert said in page.text
    assert not failing(page)


def test_a_campaign_that_nobody_knows_is_not_there(client: TestClient) -> None:
    assert client.get("/graph", params={"campaign": "nothing"}).status_code == 404


def test_who_may_not_act_is_offered_nothing_to_try(client: TestClient) -> None:
    assert "Try it" not in shown(client, request="GET /", cut="cart/GetCart:delay(250ms)").text
    answer = client.post("/graph/trial", data={"request": "GET /", "cut": "cart/GetCart"}, headers=ORIGIN)
    assert answer.status_code == 409


def test_what_was_tried_by_hand_is_told_at_once(tmp_path: Path) -> None:
    record(tmp_path, EVENTS)
    asked = {"request": "GET /", "cut": "cart/GetCart:delay(250ms)"}
    with opened_dashboard(tmp_path) as (_, client):
        assert verdicts(shown(client, "/graph/panel", **asked)) == {"GET /": "unknown"}

        tried = experiment("GET /", Verdict.SURVIVED, "200", "cart/GetCart:delay(250ms)", fired=audited("").calls)
        record(tmp_path, [tried, RunFinished()], "by-hand", part_of=RUN.run)

        panel = shown(client, "/graph/panel", **asked)
        assert verdicts(panel) == {"GET /": "survived"}
        assert "tried by hand" in panel.text
        assert [each["value"] for each in shown(client).named("option")].count("by-hand") == 0


def test_what_nobody_knows_can_be_tried_and_what_came_of_it_is_told(tmp_path: Path) -> None:
    with broken_service() as (url, collector_port):
        file, store = tmp_path / "cutset.yaml", tmp_path / "store"
        file.write_text(CONFIG.replace("URL", url).replace("PORT", str(collector_port)))
        start = CampaignStarted(requests=("POST /account",), max_size=1, points="api")
        events = [start, audited("POST /account"), RunFinished()]
        record(store, events, fingerprint=fingerprint_of(load_config(file)))
        asked = {"request": "POST /account", "cut": "cart/GetCart:abort(503)"}
        with opened_dashboard(store, config_file=file, key=KEY) as (dashboard, client):
            page = shown(client, **asked)
            sent = {each["name"]: each["value"] for each in page.named("input") if each["type"] == "hidden"}
            assert sent == asked | {"campaign": RUN.run, "shown": "POST /account"}

            answer = client.post("/graph/trial", data=sent, headers=ORIGIN, follow_redirects=False)

            assert answer.status_code == 303
            ended(dashboard)
            panel = shown(client, answer.headers["location"])
            assert verdicts(panel) == {"POST /account": "unknown"}
            (by_hand,) = [run for run in client.portal.call(dashboard.reading.runs) if run.started.part_of]  # type: ignore[union-attr]
            assert (by_hand.started.part_of, by_hand.finished) == (RUN.run, True)


def ended(dashboard: Dashboard) -> None:
    thread = dashboard.runs._thread
    assert thread is not None
    thread.join()


def test_why_it_could_not_be_tried_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cutset.yaml"
    file.write_text("target: {url: 'http://127.0.0.1:9'}\nrequests: [{path: /}]\n")

    store = tmp_path / "store"
    record(store, [CampaignStarted(requests=("GET /",), max_size=1), audited("GET /"), RunFinished()])
    with opened_dashboard(store, config_file=file, key=KEY) as (dashboard, client):
        asked = {"request": "GET /", "cut": "cart/GetCart"}
        client.post("/graph/trial", data=asked, headers=ORIGIN, follow_redirects=False)
        ended(dashboard)

        assert "was of another system" in shown(client, "/graph/panel", **asked).text


def test_what_services_and_answers_say_is_text(tmp_path: Path) -> None:
    point = Point(HOSTILE, HOSTILE)
    made = CallSeen(point, str(point), "200", 1)
    usual = Outcome(frozenset(), Verdict.SURVIVED, "200", calls=frozenset({point}), seen=(made,))
    events: list[CampaignEvent] = [
        CampaignStarted(requests=(HOSTILE,), max_size=1),
        audited(HOSTILE, runs=(usual,)),
        experiment(HOSTILE, Verdict.FAILED, HOSTILE, str(point), calls=frozenset({point})),
    ]
    record(tmp_path, events)
    with opened_dashboard(tmp_path) as (_, client):
        for asked in ({}, {"request": HOSTILE}, {"cut": str(point)}, {"cut": HOSTILE, "request": HOSTILE}):
            page = shown(client, **asked)
            assert [each.get("src") for each in page.named("script")] == ["/static/graph.js"]
            assert not page.named("img")
        assert failing(shown(client, cut=str(point))) == {f"{point}:abort(503)"}
        assert verdicts(shown(client, "/graph/panel", cut=f"{point}:abort(503)")) == {HOSTILE: "failed"}
