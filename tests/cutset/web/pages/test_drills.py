from dataclasses import replace
from pathlib import Path

from tests.samples.drill import FAILED, PASSED, TEST
from tests.samples.opened_dashboard import opened_dashboard
from tests.samples.recorded_runs import record, record_drills

from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.runs import held_run
from cutset.web.listing import RUNS_SHOWN

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
OTHER = replace(PASSED, test=replace(TEST, step=1))


def test_without_drills_the_page_says_how_to_run_some(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/drills")

    assert page.status_code == 200
    assert "No service was drilled yet" in page.text
    assert "<code>cutset drill</code>" in page.text


def test_sessions_are_listed_the_latest_first_with_what_came_of_them(tmp_path: Path) -> None:
    record_drills(tmp_path, "monday", PASSED)
    record_drills(tmp_path, "tuesday", FAILED, planned=[OTHER], finished=False)

    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/drills").text

    assert page.index('href="/drills/tuesday"') < page.index('href="/drills/monday"')
    assert "1 drill: 0 passed, 1 failed, 0 unknown, 1 left to run" in page
    assert "unfinished" in page


def test_a_session_that_found_nothing_to_do_says_so(tmp_path: Path) -> None:
    record(tmp_path, "idle", [RunStarted(loop=Loop.DRILL, run="idle", command="drill"), RunFinished()])

    with opened_dashboard(tmp_path) as (_, client):
        assert "nothing was to do" in client.get("/drills").text
        assert "0 drills" in client.get("/drills/idle").text


def test_long_lists_have_pages(tmp_path: Path) -> None:
    for number in range(RUNS_SHOWN + 1):
        record_drills(tmp_path, f"run-{number:02}", PASSED)

    with opened_dashboard(tmp_path) as (_, client):
        first, second = client.get("/drills").text, client.get("/drills?page=2").text
        odd = [client.get(f"/drills?page={asked}").text for asked in ("0", "-1", "x", "9" * 20)]

    assert 'href="/drills/run-00"' not in first
    assert 'href="/drills?page=2"' in first
    assert 'href="/drills/run-00"' in second
    assert odd == [first] * 4


def test_a_session_has_a_page_with_the_commands_that_run_tests_again(tmp_path: Path) -> None:
    record_drills(tmp_path)

    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/drills/drills")
        missing = client.get("/drills/nothing")

    assert f"cutset drill --store {tmp_path} --replay {FAILED.test.id}" in page.text
    assert "data-under-way" not in page.text
    assert page.text.count("<h1") == 1
    assert missing.status_code == 404


def test_while_a_process_goes_on_with_it_the_page_is_shown_anew_and_else_it_says_how_to_go_on(tmp_path: Path) -> None:
    record_drills(tmp_path, "session", FAILED, planned=[OTHER], finished=False)

    with opened_dashboard(tmp_path) as (_, client):
        with open_ledger(tmp_path) as ledger, held_run(ledger, "session"):
            going_on = client.get("/drills/session").text
        left = client.get("/drills/session").text

    assert '<div id="run" data-under-way' in going_on
    assert "/static/refresh.js" in going_on
    assert "--resume" not in going_on
    assert "data-under-way" not in left
    assert f"cutset drill --store {tmp_path} --resume" in left


def test_what_is_hostile_is_text_on_both_pages(tmp_path: Path) -> None:
    record_drills(tmp_path, "session", replace(FAILED, test=replace(TEST, flow=HOSTILE, fault=HOSTILE)))

    with opened_dashboard(tmp_path) as (_, client):
        for path in ("/drills", "/drills/session"):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "&lt;script&gt;alert(1)" in page
