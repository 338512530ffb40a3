import json
from pathlib import Path

from tests.cutset.web.test_exploring import armed
from tests.samples.campaign import EVENTS
from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import HOSTILE, text_of
from tests.samples.opened_dashboard import opened_dashboard


def test_where_there_is_none_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        text = text_of(client.get("/campaigns").text)

        assert "There is no campaign yet" in text
        assert "cutset demo --ui" in text


def test_the_latest_comes_first_with_state_command_and_what_was_found(tmp_path: Path) -> None:
    record(tmp_path, "first")
    record(tmp_path, "second", EVENTS[:8], command="demo")
    record(tmp_path, "third", EVENTS[:2], part_of="hardened")
    with opened_dashboard(tmp_path) as (_, client), campaign_under_way(tmp_path, "fourth"):
        text = text_of(client.get("/campaigns").text)

    order = [text.index(run) for run in ("fourth · under way", "third ? unfinished", "second ? unfinished", "first ?")]
    assert order == sorted(order)
    assert "second ? unfinished ✗ 1 minimal cut 3 experiments begun" in text
    assert "by cutset demo" in text
    assert "for hardened" in text
    assert "✗ 2 minimal cuts 9 experiments" in text


def test_the_form_has_the_requests_and_defaults_of_the_configuration(tmp_path: Path) -> None:
    with armed(tmp_path) as (_, client):
        page = client.get("/campaigns").text

        assert 'name="request" value="POST /pay" checked' in page
        assert 'name="max_size" min="1" max="9" placeholder="3"' in page
        assert 'name="effects" placeholder="abort(503)"' in page


def test_a_configuration_that_is_wrong_is_told_instead_of_the_form(tmp_path: Path) -> None:
    with armed(tmp_path) as (dashboard, client):
        assert dashboard.config_file
        dashboard.config_file.write_text(f"requests: [{{path: /}}]\n? {json.dumps(HOSTILE)}\n: 1\n")
        page = client.get("/campaigns").text

        assert "<script>alert(1)" in text_of(page)
        assert 'action="/campaigns"' not in page


def test_read_only_there_is_no_form_at_all(tmp_path: Path) -> None:
    record(tmp_path, "first", EVENTS[:8])
    with opened_dashboard(tmp_path, read_only=True) as (_, client):
        assert "<form" not in client.get("/campaigns").text
        assert "<form" not in client.get("/campaigns/first").text


def test_until_it_can_start_something_it_says_why_not_yet(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path, not_yet="The demo explores its shop.") as (_, client):
        assert "The demo explores its shop." in text_of(client.get("/campaigns").text)
