from dataclasses import replace
from pathlib import Path

from tests.samples.opened_dashboard import opened_dashboard
from tests.samples.recorded_runs import record, record_reproduction, search_begun
from tests.samples.reproduction import MESSAGES, faithful, fault, reproduction, result

from cutset.app.reproduce import FAILURE_LOG, run_folder
from cutset.model.reproduction.event import ReproductionFinished

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_without_reproductions_the_page_says_how_to_search(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        assert "cutset reproduce --source PACKAGE --log failure.log" in client.get("/reproductions").text


def test_a_reproduction_is_shown_with_both_logs_wherever_its_store_is_now(tmp_path: Path) -> None:
    record_reproduction(tmp_path)

    with opened_dashboard(tmp_path) as (_, client):
        listed, page = client.get("/reproductions").text, client.get("/reproductions/reproduction").text

    assert "</span> the symptom is reproduced</span>" in listed
    assert "2 of 2 repeats show it" in listed
    assert "1 round<" in listed
    assert '<tr id="log-7" class="chained m1">' in page
    assert "2026-11-17 09:12:00,105 WARNING" in page  # of the run
    assert "no longer in" not in page
    assert f"python {tmp_path}/reproductions/reproduction/replay/replay.py" in page
    assert "All 1 round<" in page
    assert page.count("<h1") == 1


def test_without_the_failure_log_the_rest_is_shown(tmp_path: Path) -> None:
    record_reproduction(tmp_path)
    (run_folder(tmp_path, "reproduction") / FAILURE_LOG).unlink()

    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/reproductions/reproduction").text

    assert "The failure log is no longer there." in page
    assert "How the log follows from it" in page


def test_a_search_under_way_shows_what_it_tried_and_how_to_go_on(tmp_path: Path) -> None:
    record(tmp_path, "search", search_begun("search"))

    with opened_dashboard(tmp_path) as (_, client):
        listed, page = client.get("/reproductions").text, client.get("/reproductions/search").text

    assert "“cannot write the index”, “queue is read-only”" in listed
    assert "Rounds, the latest first" in page
    assert f"cutset reproduce --store {tmp_path} --resume" in page


def test_one_that_found_nothing_says_so_and_may_go_on(tmp_path: Path) -> None:
    record(tmp_path, "search", [*search_begun("search"), ReproductionFinished(result(None))])

    with opened_dashboard(tmp_path) as (_, client):
        assert "not reproduced" in client.get("/reproductions").text
        assert "No fault was found that shows the symptom" in client.get("/reproductions/search").text


def test_one_that_was_interrupted_shows_what_it_found_and_how_to_go_on(tmp_path: Path) -> None:
    found = replace(result(faithful(tmp_path, repeats=0, repeated=0)), stopped="it was interrupted")
    record(tmp_path, "search", [*search_begun("search"), ReproductionFinished(found)])

    with opened_dashboard(tmp_path) as (_, client):
        listed, page = client.get("/reproductions").text, client.get("/reproductions/search").text

    assert "it was not tried again" in listed
    assert "ended early: it was interrupted" in page
    assert "it may be a coincidence" in page
    assert f"cutset reproduce --store {tmp_path} --resume" in page


def test_what_is_hostile_in_logs_and_messages_is_text(tmp_path: Path) -> None:
    site = replace(fault().site, expression=HOSTILE, function=HOSTILE)
    messages = tuple(replace(each, text=HOSTILE) for each in MESSAGES)
    best = reproduction(Path("/gone/round-0007"), fault(site=site, effect=HOSTILE), messages=messages, reason=HOSTILE)
    record_reproduction(tmp_path, found=result(best))
    (run_folder(tmp_path, "reproduction") / FAILURE_LOG).write_text(f"{HOSTILE}\x1b[31m\n" * 9)

    with opened_dashboard(tmp_path) as (_, client):
        for path in ("/reproductions", "/reproductions/reproduction"):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "\x1b" not in page
            assert "&lt;script&gt;alert(1)" in page
