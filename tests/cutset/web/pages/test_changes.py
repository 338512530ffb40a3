from pathlib import Path

import pytest
from tests.cutset.report.campaign.test_changes import CART, campaign, survived
from tests.samples.campaign_under_way import record
from tests.samples.hostile import text_of
from tests.samples.opened_dashboard import opened_dashboard

from cutset.web.pages import changes

BEFORE, NOW = campaign("one", survived("cart/GetCart")), campaign("two", CART)


def test_it_is_compared_with_the_latest_before_it_that_has_the_same_requests(tmp_path: Path) -> None:
    record(tmp_path, "one", BEFORE.events[1:])
    record(tmp_path, "of others", campaign("x", requests=("GET /other",)).events[1:])
    record(tmp_path, "of a hardening", NOW.events[1:], part_of="x")
    record(tmp_path, "two", NOW.events[1:])
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/campaigns/two/changes").text

        assert "since one ✗ new cart/GetCart" in text_of(page)
        assert f'href="/campaigns/two/findings/{NOW.findings[0].id}"' in page
        assert "no earlier campaign" in text_of(client.get("/campaigns/one/changes").text)


def test_what_is_gone_leads_to_where_it_was_found(tmp_path: Path) -> None:
    record(tmp_path, "one", NOW.events[1:])
    record(tmp_path, "two", BEFORE.events[1:])
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/campaigns/two/changes").text

        assert "✓ gone cart/GetCart" in text_of(page)
        assert f'href="/campaigns/one/findings/{NOW.findings[0].id}"' in page


def test_large_ones_are_compared_only_by_who_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_AT_ONCE", 1)
    record(tmp_path, "one", BEFORE.events[1:])
    record(tmp_path, "two", NOW.events[1:])
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/").text

        assert "Compare with the campaign before" in text_of(page)
        assert 'href="/campaigns/two/changes"' in page
