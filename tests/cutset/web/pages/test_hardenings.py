"""Without a running system; with one, it is in `end_to_end/test_harden_apply.py`."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient
from tests.samples.hardening import EVENTS, MESH, failed, fill
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard

from cutset.model.finding import Finding
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    Effort,
    HardeningEvent,
    HardeningStarted,
    HealthJudged,
    MeshChanged,
    MeshChanging,
    MeshRestored,
)
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.active import ActiveInjection, injecting
from cutset.store.ledger import open_ledger
from cutset.web.dashboard import Dashboard
from cutset.web.pages.hardenings import look

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
Opened = tuple[Dashboard, TestClient]
CART = Finding("GET /", failed("GET /", "cart/GetCart").outcome)  # type: ignore[union-attr]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mesh.yaml").write_text(MESH)
    requests = [{"path": "/", "name": "GET /"}, {"path": "/pay", "method": "POST", "name": "POST /pay"}]
    config = {"requests": requests, "target": {"url": "http://127.0.0.1:1"}}
    (tmp_path / "cutset.yaml").write_text(yaml.safe_dump(config))
    return fill(tmp_path / "store")


@pytest.fixture
def opened(store: Path) -> Iterator[Opened]:
    with opened_dashboard(store, config_file=store.with_name("cutset.yaml"), key=b"x" * 32) as found:
        yield found


def text(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)))


def ask(opened: Opened, path: str) -> str:
    answer = opened[1].get(path)
    assert answer.status_code == 200, answer.text
    return text(answer.text)


def changing(store: Path, added: str = "ad.retries: 1") -> MeshChanging:
    """The mesh has it, as its file says."""
    file, original = store.with_name("mesh.yaml"), store.with_name("mesh.yaml.before")
    original.write_text(MESH)
    file.write_text(f"{MESH}# changed\n")
    return MeshChanging(file=file, original=original, added=(added,), kept=(), left_out=())


def record(store: Path, *events: HardeningEvent, run: str = "two") -> None:
    with open_ledger(store) as ledger:
        started = RunStarted(loop=Loop.HARDENING, run=run, command="harden")
        for event in (started, HardeningStarted(campaign="one"), *events):
            ledger.append(run, event)


def rechecked(verdict: Verdict) -> CutRechecked:
    return CutRechecked(request="GET /", outcome=Outcome(CART.cut, verdict, "as it is now"), expected_gone=True)


def test_before_anything_is_done_it_says_what_would_be_changed_and_how_it_is_undone(
    opened: Opened, store: Path
) -> None:
    said = ask(opened, "/harden/apply?campaign=one&budget=1")
    assert "Harden 1 of 4 APIs: 2 of 4 cuts gone" in said
    assert f"What will be put into {store.with_name('mesh.yaml')}" in said
    assert 'added cart.fallback: {"GetCart": "last-good"}' in said
    assert f"kept as {store.with_name('mesh.yaml.before')}" in said
    assert "cutset harden --undo --store store" in said
    page = opened[1].get("/harden/apply?campaign=one&budget=1&cost:ad/GetAds=2").text
    assert '<input type="hidden" name="cost:ad/GetAds" value="2">' in page
    assert store.with_name("mesh.yaml").read_text() == MESH


def test_without_a_mesh_it_can_only_be_verified(opened: Opened, store: Path) -> None:
    store.with_name("mesh.yaml").unlink()
    said = ask(opened, "/harden/apply?budget=1")
    assert "There is no mesh here that could be changed" in said
    assert "Apply and verify Verify" not in said
    assert "How it is undone" not in said


def test_what_cannot_be_begun_says_so(opened: Opened) -> None:
    """No mesh runs from the file."""
    dashboard, client = opened
    answer = client.post("/harden/apply", data={"campaign": "one", "budget": "1", "verify": "yes"}, headers=ORIGIN)
    assert answer.url.path == "/hardenings"
    assert dashboard.runs.latest
    assert dashboard.runs.latest.ended
    assert "No mesh runs from" in dashboard.runs.latest.problem
    assert "No mesh runs from" in text(answer.text)
    refused = client.post("/harden/apply", data={"campaign": "one", "resume": "yes"}, headers=ORIGIN)
    assert "No unfinished hardening was begun for the same" in text(refused.text)


def test_a_recorded_hardening_tells_what_its_events_do(opened: Opened, store: Path) -> None:
    efforts = {"GET /": Effort(0.1, 2, 2)}
    record(
        store,
        CallsObserved(efforts=efforts),
        changing(store),
        MeshChanged(),
        HealthJudged(runs=10),
        CallsObserved(efforts=efforts),
        rechecked(Verdict.SURVIVED),
        HealthJudged(runs=10),
        RunFinished(),
    )
    said = ask(opened, "/hardenings/two")
    assert "✓ finished in force" in said
    assert "Began, against campaign one" in said
    assert "Injected 1 of 4 known cuts again: 1 gone" in said
    assert "added ad.retries: 1" in said
    assert "Undo with cp mesh.yaml.before mesh.yaml" in said
    assert "Verified: 1 of 1 known cut gone" in said
    assert "cart/GetCart ✗ fails ✓ gone gone" in said
    assert "Undo takes out of the mesh what it put there" in said
    listed = ask(opened, "/hardenings")
    assert "one ✓ finished in force 1: 1 gone" in listed
    assert listed[listed.index("Hardenings that were tried") :] in ask(opened, "/harden?budget=1") + " "


def test_what_was_put_back_by_hand_is_not_in_force(opened: Opened, store: Path) -> None:
    record(store, changing(store), MeshChanged(), RunFinished())
    store.with_name("mesh.yaml").write_text(MESH)
    said = ask(opened, "/hardenings/two")
    assert "taken back" in said
    assert "Undo" not in said


def test_undo_takes_back_the_latest_that_is_in_force(opened: Opened, store: Path) -> None:
    assert "there is nothing to undo" in text(opened[1].post("/hardenings/undo", headers=ORIGIN).text)
    record(store, changing(store), MeshChanged(), RunFinished())
    answer = opened[1].post("/hardenings/undo", headers=ORIGIN)
    assert answer.url.path == "/hardenings/two"
    assert store.with_name("mesh.yaml").read_text() == MESH
    assert "Took it back: undone" in text(answer.text)


def test_the_later_of_two_is_undone_first(opened: Opened, store: Path) -> None:
    record(store, changing(store), MeshChanged(), RunFinished())
    record(store, changing(store, "cart.retries: 2"), MeshChanged(), RunFinished(), run="three")
    assert "A later hardening is in force: that one is undone first." in ask(opened, "/hardenings/two")
    assert "Undo takes out" in ask(opened, "/hardenings/three")


def test_one_that_was_interrupted_says_how_to_go_on(opened: Opened, store: Path) -> None:
    record(store, changing(store), MeshRestored(why="interrupted", interrupted=True))
    store.with_name("mesh.yaml").write_text(MESH)
    said = ask(opened, "/hardenings/two")
    assert "? interrupted taken back" in said
    assert "Choose the same budget and costs to resume it" in said
    assert "Took it back: interrupted" in said
    assert "Resume" not in ask(opened, "/harden/apply?budget=1")  # it was begun for something else


def test_one_of_another_process_is_watched_and_not_touched(opened: Opened, store: Path) -> None:
    record(store, changing(store), MeshChanged())
    active = ActiveInjection("two", "hardening", "local", "ada@host", 7, 0.0, "known cuts again")
    with injecting(store, active):
        answer = opened[1].get("/hardenings/two")
        assert 'data-live="/live/hardenings/two"' in answer.text
        assert "under way" in text(answer.text)
        assert "Undo" not in text(answer.text)
        assert 'id="stop"' not in answer.text
    assert "interrupted" in ask(opened, "/hardenings/two")


def test_while_it_explores_again_it_is_under_way(opened: Opened, store: Path) -> None:
    record(store, rechecked(Verdict.SURVIVED))
    with open_ledger(store) as ledger:
        for event in (RunStarted(loop=Loop.CAMPAIGN, run="three", part_of="two"), *EVENTS[1:5]):
            ledger.append("three", event)
    with injecting(store, ActiveInjection("three", "campaign", "local", "ada@host", 7, 0.0, "cuts")):
        said = ask(opened, "/hardenings/two")
    assert "under way" in said
    assert "Looked for new cuts: 1 experiment so far" in said


def test_what_is_shown_live_is_what_the_page_has(opened: Opened, store: Path) -> None:
    dashboard, client = opened
    record(store, rechecked(Verdict.SURVIVED))
    assert client.portal
    with injecting(store, ActiveInjection("two", "hardening", "local", "ada@host", 7, 0.0, "known cuts again")):
        now = client.portal.call(look, dashboard, "two")
    assert (now.status, now.ended) == ("1 of 4 known cuts injected again", False)
    assert "Injected 1 of 4 known cuts again" in now.parts["happened"]
    assert client.portal.call(look, dashboard, "two").ended
    for path in ("/live/hardenings/two", "/live/hardenings"):
        assert client.get(path).headers["content-type"].startswith("text/event-stream")


def test_read_only_nothing_acts(store: Path) -> None:
    record(store, changing(store), MeshChanged(), RunFinished())
    with opened_dashboard(store, read_only=True) as opened:
        assert "It is undone by cutset harden --undo --store store" in ask(opened, "/hardenings/two")
        assert opened[1].post("/hardenings/undo", headers=ORIGIN).status_code == 403
        assert "Nothing can be started from here" in text(opened[1].get("/harden/apply").text)
    assert "# changed" in store.with_name("mesh.yaml").read_text()


def test_what_was_never_tried_is_said(opened: Opened) -> None:
    assert "None was tried yet" in ask(opened, "/hardenings")
    assert "There is no hardening nine" in text(opened[1].get("/hardenings/nine").text)


def test_what_others_wrote_is_never_markup(opened: Opened, store: Path) -> None:
    record(
        store,
        changing(store, HOSTILE),
        HealthJudged(runs=1, ill={HOSTILE: HOSTILE}),
        CutRechecked(request="GET /", outcome=Outcome(CART.cut, Verdict.FAILED, HOSTILE), expected_gone=True),
        MeshRestored(why=HOSTILE, problem=HOSTILE),
        RunFinished(),
    )
    for path in ("/hardenings/two", "/hardenings", "/harden"):
        page = opened[1].get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page
    assert HOSTILE in unescape(opened[1].get("/hardenings/two").text)
