"""What the dashboard's forms start; with a real system in `tests/browser`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests.samples.campaign import EVENTS
from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import text_of
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard

from cutset.web.dashboard import Dashboard
from cutset.web.exploring import resumable

CONFIG = """\
requests: [{path: /}, {path: /pay, method: POST}]
target: {url: "http://127.0.0.1:1"}
collector: {http_port: 0, grpc_port: 0, export_interval: 0.1}
limits: {trace_timeout: 0.2}
"""


@contextmanager
def armed(folder: Path) -> Iterator[tuple[Dashboard, TestClient]]:
    (folder / "cutset.yaml").write_text(CONFIG)
    store = folder / "store"
    with opened_dashboard(store, config_file=folder / "cutset.yaml", key=b"k" * 64) as (dashboard, client):
        yield dashboard, client


def sent(client: TestClient, path: str, *fields: tuple[str, str]) -> tuple[int, str]:
    form = {**ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    answer = client.post(path, content=urlencode(fields), headers=form, follow_redirects=False)
    return answer.status_code, answer.headers.get("location", "") or text_of(answer.text)


def test_a_campaign_that_cannot_begin_says_why_on_the_page_that_one_is_led_to(tmp_path: Path) -> None:
    with armed(tmp_path) as (_, client):
        assert sent(client, "/campaigns", ("request", "POST /pay"), ("max_size", "2")) == (303, "/campaigns")
        assert "event: end" in client.get("/live/campaigns").text  # which comes when nothing runs any more
        text = text_of(client.get("/campaigns").text)

        assert "Exploring 1 request class up to size 2: " in text
        assert "127.0.0.1:1" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ((("effects", "explode"),), "explode"),
        ((("minutes", "soon"),), "soon is not a number"),
        ((("max_size", "-1"),), "max_size is less than 0"),
        ((("request", "GET /absent"),), "There is no request GET /absent"),
    ],
)
def test_what_is_wrong_with_a_form_is_told_and_nothing_begins(
    tmp_path: Path, fields: tuple[tuple[str, str], ...], said: str
) -> None:
    with armed(tmp_path) as (dashboard, client):
        status, text = sent(client, "/campaigns", *fields)

        assert status in (409, 500)
        assert said in text
        assert dashboard.runs.latest is None


def test_without_a_key_or_a_configuration_nothing_can_be_started(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (dashboard, client):
        for path in ("/campaigns", "/campaigns/resume", "/campaigns/stop"):
            status, text = sent(client, path)
            assert status == 409
            assert "Nothing can be started from here" in text
        assert "it takes a configuration, and CUTSET_KEY" in text_of(client.get("/campaigns").text)
        assert dashboard.runs.latest is None


def test_the_latest_unfinished_one_can_be_resumed_unless_somebody_runs_it_or_it_is_of_tests(
    tmp_path: Path,
) -> None:
    store = tmp_path / "store"
    with armed(tmp_path) as (dashboard, client):

        def latest() -> str:
            assert client.portal
            run = client.portal.call(resumable, dashboard)
            return run.id if run else ""

        assert latest() == ""
        assert sent(client, "/campaigns/resume")[0] == 409
        record(store, "one", EVENTS[:5])
        record(store, "of a hardening", EVENTS[:5], part_of="x")
        assert latest() == "one"
        with campaign_under_way(store, "two"):
            assert latest() == ""
        assert latest() == "two"
        record(store, "three", EVENTS[:5], command="pytest")
        assert latest() == ""


def test_what_was_begun_with_other_requests_is_not_resumed_and_the_page_says_so(tmp_path: Path) -> None:
    with armed(tmp_path) as (_, client):
        record(tmp_path / "store", "one", EVENTS[:5])
        status, text = sent(client, "/campaigns/resume")

        assert status == 409
        assert "There is no request GET /down" in text
