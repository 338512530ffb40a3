from dataclasses import replace
from pathlib import Path

from tests.samples.impacts import impact_events
from tests.samples.opened_dashboard import opened_dashboard
from tests.samples.recorded_runs import record, record_impact

from cutset.model.impact import ImpactStarted
from cutset.model.run import Loop, RunStarted

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_without_impacts_the_page_says_how_to_measure_one(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        assert "<code>cutset impact SERVICE/API --load 20</code>" in client.get("/impacts").text


def test_an_impact_is_listed_with_its_verdict_and_has_a_page(tmp_path: Path) -> None:
    record_impact(tmp_path)

    with opened_dashboard(tmp_path) as (_, client):
        listed, page = client.get("/impacts").text, client.get("/impacts/impact").text

    assert 'href="/impacts/impact"' in listed
    assert "</span> affected</span>" in listed
    for part in ("Upstream APIs", "Where it shows", "Over time", "Settings", "currency/Convert"):
        assert part in page
    assert f"cutset impact -c /shop/cutset.yaml --store {tmp_path}" in page
    assert page.count("<h1") == 1


def test_one_that_has_not_said_what_it_injects_is_shown_as_that(tmp_path: Path) -> None:
    record(tmp_path, "begun", [RunStarted(loop=Loop.IMPACT, run="begun", command="impact")])

    with opened_dashboard(tmp_path) as (_, client):
        assert "it did not say what it injects" in client.get("/impacts").text
        assert "It has not said yet what it injects" in client.get("/impacts/begun").text


def test_traces_are_linked_where_the_configuration_says_that_they_are(tmp_path: Path) -> None:
    record_impact(tmp_path)
    config = tmp_path / "cutset.yaml"
    config.write_text("target: {url: 'http://x'}\ncollector: {jaeger: 'http://jaeger:16686'}\n")

    with opened_dashboard(tmp_path, config_file=config) as (_, client):
        linked = client.get("/impacts/impact").text
        config.write_text("nonsense: 1\n")
        plain = client.get("/impacts/impact")

    assert 'href="http://jaeger:16686/trace/' in linked
    assert plain.status_code == 200
    assert "jaeger" not in plain.text


def test_what_is_hostile_is_text_on_both_pages(tmp_path: Path) -> None:
    events = [
        replace(event, by=HOSTILE, entries=(HOSTILE,)) if isinstance(event, ImpactStarted) else event
        for event in impact_events(run="impact", others_per_second=20)
    ]
    record(tmp_path, "impact", events)

    with opened_dashboard(tmp_path) as (_, client):
        for path in ("/impacts", "/impacts/impact"):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "&lt;script&gt;alert(1)" in page
