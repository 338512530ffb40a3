"""A campaign on the real shop, from the page: started, watched, stopped, resumed; and what interferes with it."""

import re
import signal
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import Page, expect
from tests.browser.conftest import KEY, Demo, Look
from tests.samples.dashboard_in_browser import Dashboard, crawled, running_dashboard

from cutset.model.event import ExperimentFinished
from cutset.model.run import Loop
from cutset.store.active import active_injections
from cutset.store.follow import followed_ledger

NOT_BEGUN = 'class="note unknown"'  # the part of the list of campaigns that says why
EFFECTS = "abort(503) timeout"  # with what takes its time, there is time to stop it


def start(page: Page, request: str, **fields: str) -> None:
    """From the page of all campaigns: this request class only."""
    form = page.locator("form", has=page.get_by_role("button", name="Explore"))
    if not form.is_visible():
        page.get_by_text("Start a campaign").click()
    for box in form.get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("value") == request)
    for name, value in fields.items():
        form.locator(f"[name={name}]").fill(value)
    form.get_by_role("button", name="Explore").click()


def experiments(store: Path, run: str) -> int:
    with followed_ledger(store) as ledger:
        return sum(isinstance(event, ExperimentFinished) for event in ledger.events(run))


def test_is_started_watched_live_stopped_and_resumed_to_its_end(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open("/campaigns")

    start(page, "POST /cart/checkout", max_size="1", effects=EFFECTS)
    page.get_by_role("link", name="Watch it").click()
    run = page.url.rpartition("/")[2]
    page.evaluate("window.still = 'the same page'")
    expect(page.locator("#experiment-3")).to_be_visible()  # they come by themselves
    assert page.evaluate("window.still") == "the same page"
    page.get_by_role("button", name="Stop").first.click()
    expect(page.get_by_text("unfinished").first).to_be_visible()
    done = experiments(demo.dashboard.store, run)
    assert done >= 3
    assert active_injections(demo.dashboard.store) == []

    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("under way").first).to_be_visible()
    expect(page.locator("#controls")).to_have_text(re.compile(r"^\W*finished"))
    assert experiments(demo.dashboard.store, run) > done
    with followed_ledger(demo.dashboard.store) as ledger:
        assert [each.finished for each in ledger.runs(Loop.CAMPAIGN) if each.id == run] == [True]


def test_a_second_one_is_refused_with_words_while_one_runs(look: Look, demo: Demo) -> None:
    page = look(demo.dashboard).open("/campaigns")
    start(page, "POST /cart/checkout", max_size="1", effects=EFFECTS)
    expect(page.get_by_role("link", name="Watch it")).to_be_visible()

    with httpx.Client(base_url=demo.dashboard.origin, follow_redirects=True) as other:
        other.get(demo.dashboard.link)
        refused = other.post("/campaigns", data={"request": "GET /"}, headers={"origin": demo.dashboard.origin})
        assert refused.status_code == 409
        assert "is under way" in refused.text
    page.get_by_role("button", name="Stop").first.click()
    page.goto(demo.dashboard.at("/campaigns"))
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_ctrl_c_ends_the_dashboard_and_its_run_which_can_be_resumed(demo: Demo, tmp_path: Path) -> None:
    store = tmp_path / ".cutset"
    with running_dashboard(store, "-c", str(demo.boutique.config_file), key=KEY) as dashboard:
        with httpx.Client(base_url=dashboard.origin, follow_redirects=True) as client:
            client.get(dashboard.link)
            run = begun(client, dashboard.origin)
            while "experiment-1" not in (page := client.get(f"/campaigns/{run}").text):
                assert "under way" in page, page
        children = psutil.Process(dashboard.process.pid).children(recursive=True)
        dashboard.process.send_signal(signal.SIGINT)
        assert dashboard.process.wait(60) == 0
        assert psutil.wait_procs(children, timeout=10)[1] == []
    assert active_injections(store) == []
    with followed_ledger(store) as ledger:
        assert [run.finished for run in ledger.runs()] == [False]
    assert experiments(store, run) >= 1


def begun(client: httpx.Client, origin: str) -> str:
    """The run that was asked for; on a busy machine, more than once, if the check-up before it found no spans."""
    for _ in range(5):
        form = {"request": "POST /cart/checkout", "max_size": "2", "effects": EFFECTS}
        client.post("/campaigns", data=form, headers={"origin": origin}).raise_for_status()
        page = ""
        while NOT_BEGUN not in page:
            page = client.get("/campaigns").text
            if found := re.findall(r"/campaigns/([0-9-]{20,})", page):
                return str(found[0])
    raise AssertionError(page)


def test_read_only_nothing_acts_and_nothing_offers_to(look: Look, demo: Demo) -> None:
    with running_dashboard(demo.dashboard.store, "--read-only", key=KEY) as dashboard:
        shared: Dashboard = dashboard
        assert "token" not in shared.link
        addresses = [address for answers in crawled(shared).pages.values() for address in answers[:2]]
        window = look(shared)
        for address in addresses:
            page = window.open(address)
            assert page.locator("form[method=post]").count() == 0, address
        refused = httpx.post(shared.at("/campaigns"), headers={"origin": shared.origin})
        assert (refused.status_code, refused.text) == (403, "This dashboard is read-only")
