import re
import threading
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.samples.campaign import EVENTS, RUN, cut
from tests.samples.evidence import FAULTED, HEALTHY, HOSTILE
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard

from cutset.app.acceptance import accepted_in
from cutset.app.explore import Retrial
from cutset.errors import TargetError
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.report.page.answer import rendered
from cutset.store.ledger import open_ledger
from cutset.web.dashboard import Dashboard

CART = Finding("GET /", Outcome(cut("cart/GetCart"), Verdict.FAILED))
ADS = Finding("GET /", Outcome(cut("ad/GetAds"), Verdict.DEGRADED))
AT = f"/campaigns/{RUN.run}/findings/{CART.id}"
Opened = tuple[Dashboard, TestClient]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "store") as ledger:
        for event in (RUN, HEALTHY, FAULTED, *EVENTS):
            ledger.append(RUN.run, event)
    return tmp_path / "store"


@pytest.fixture
def opened(store: Path, tmp_path: Path) -> Iterator[Opened]:
    with opened_dashboard(store, baseline_file=tmp_path / "baseline.yaml") as found:
        yield found


def shown(opened: Opened, at: str = AT) -> str:
    response = opened[1].get(at)
    assert response.status_code == 200, response.text
    return response.text


def test_a_finding_has_a_page_with_its_answers_at_addresses_of_their_own(opened: Opened) -> None:
    page = shown(opened)

    assert "<h1>cart/GetCart</h1>" in page
    assert re.findall(r'<iframe sandbox="" title="[^"]*" src="([^"]*)"', page) == [
        f"{AT}/answer",
        f"{AT}/healthy-answer",
    ]
    assert "✗ cart/GetCart:abort(503)" in page
    assert RUN.run in page[page.index("History") :]
    assert "cutset explore --store" in page


def test_an_answer_is_served_as_it_is_and_may_do_nothing(opened: Opened) -> None:
    for name, evidence in (("answer", FAULTED), ("healthy-answer", HEALTHY)):
        response = opened[1].get(f"{AT}/{name}")

        assert evidence.answer is not None
        assert response.text == rendered(evidence.answer)
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        policy = response.headers["content-security-policy"]
        assert policy == "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_nothing_that_was_answered_is_markup_of_the_dashboards_own_page(opened: Opened) -> None:
    page = shown(opened)

    assert re.findall("<script[^>]*>", page) == ['<script src="/static/refresh.js" type="module">']
    assert "<img" not in page
    assert HOSTILE not in page


def test_what_is_not_there_is_not_found(opened: Opened) -> None:
    client = opened[1]
    degradation = f"/campaigns/{RUN.run}/findings/{ADS.id}"

    assert shown(opened, degradation).count("Nothing was kept of this request") == 2
    assert client.get(f"{degradation}/answer").status_code == 404
    assert client.get(f"/campaigns/{RUN.run}/findings/00000000").status_code == 404
    assert client.get(f"/campaigns/other/findings/{CART.id}").status_code == 404


def test_a_finding_is_accepted_with_a_reason_which_its_page_then_shows(opened: Opened) -> None:
    dashboard, client = opened
    assert "Accepted in" not in shown(opened)

    refused = client.post(f"{AT}/accept", data={"because": " "}, headers=ORIGIN)
    assert "for a reason" in refused.text
    accepted = client.post(f"{AT}/accept", data={"because": "<b>known</b>"}, headers=ORIGIN, follow_redirects=False)

    assert (accepted.status_code, accepted.headers["location"]) == (303, f"{AT}#acceptance")
    kept = accepted_in(dashboard.baseline_file, CART.id)
    assert kept is not None
    assert kept.because == "<b>known</b>"
    assert "&lt;b&gt;known&lt;/b&gt;" in shown(opened)
    assert "Change the reason" in shown(opened)


def test_a_baseline_that_cannot_be_read_is_explained_on_the_page_and_kept(opened: Opened) -> None:
    dashboard, client = opened
    dashboard.baseline_file.write_text("<<<<<<< ours\n")

    assert "baseline.yaml" in shown(opened)
    assert "because" not in re.findall(r'name="(\w+)"', shown(opened))
    client.post(f"{AT}/accept", data={"because": "known"}, headers=ORIGIN)
    assert dashboard.baseline_file.read_text() == "<<<<<<< ours\n"


def test_read_only_there_is_nothing_to_press(store: Path, tmp_path: Path) -> None:
    with opened_dashboard(store, read_only=True, baseline_file=tmp_path / "baseline.yaml") as opened:
        assert "<form" not in shown(opened)
        assert opened[1].post(f"{AT}/accept", data={"because": "x"}, headers=ORIGIN).status_code == 403
        assert opened[1].post(f"{AT}/replay", headers=ORIGIN).status_code == 403


def test_who_comes_from_another_page_accepts_nothing(opened: Opened) -> None:
    response = opened[1].post(f"{AT}/accept", data={"because": "x"}, headers={"origin": "http://evil.example"})

    assert response.status_code == 403
    assert not opened[0].baseline_file.exists()


def test_without_a_configuration_nothing_is_tried_again(opened: Opened) -> None:
    assert "Try it again" not in shown(opened)
    assert "Nothing can be started here" in opened[1].post(f"{AT}/replay", headers=ORIGIN).text


def test_what_cannot_be_tried_again_says_why(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "cutset.yaml"
    config.write_text(
        "target: {url: 'http://127.0.0.1:9'}\ncollector: {http_port: 0, grpc_port: 0}\nrequests: [{path: /}]\n"
    )
    with opened_dashboard(store, config_file=config, key=b"k" * 32, baseline_file=tmp_path / "b.yaml") as opened:
        assert "Try it again" in shown(opened)

        started = opened[1].post(f"{AT}/replay", headers=ORIGIN, follow_redirects=False)

        assert (started.status_code, started.headers["location"]) == (303, AT)
        _wait(opened[0])
        assert "It could not be tried again: </b>the entry at 127.0.0.1:9 does not accept connections" in shown(opened)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(CART.cut, Verdict.FAILED, "500"), "still fails"),
        (Outcome(CART.cut, Verdict.SURVIVED, "200"), "no longer fails"),
        (Outcome(CART.cut, Verdict.DEGRADED, "200, but less"), "is degraded"),
        (Outcome(CART.cut, Verdict.UNKNOWN, "never fired"), "could not tell"),
    ],
)
def test_while_it_is_tried_the_page_looks_again_and_then_shows_what_came_of_it(
    opened: Opened, outcome: Outcome, words: str
) -> None:
    done = threading.Event()
    evidence = FAULTED if outcome.verdict is Verdict.FAILED else None

    async def retrial() -> AsyncGenerator[Retrial, None]:
        done.wait(10)
        yield Retrial(CART, outcome, evidence, HEALTHY)

    opened[0].runs.start(f"Trying finding {CART.id} again", retrial, finish=lambda results: results[0])
    assert "data-under-way" in shown(opened)
    done.set()
    _wait(opened[0])

    page = shown(opened)
    assert "data-under-way" not in page
    assert f"</span> {words}</span>" in page
    assert ("What it got this time" in page) == bool(evidence)
    assert "Tried again just now" not in shown(opened, f"/campaigns/{RUN.run}/findings/{ADS.id}")


def test_a_retrial_that_broke_off_is_no_result(opened: Opened) -> None:
    async def retrial() -> AsyncGenerator[Retrial, None]:
        raise TargetError("the shop is closed", hint="Open it")
        yield

    opened[0].runs.start(f"Trying finding {CART.id} again", retrial, finish=lambda results: results[0])
    _wait(opened[0])

    assert "the shop is closed Open it" in shown(opened)


def _wait(dashboard: Dashboard) -> None:
    thread = dashboard.runs._thread
    assert thread is not None
    thread.join(20)
    assert dashboard.runs.current is None
