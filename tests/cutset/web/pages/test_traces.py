from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient
from tests.samples.opened_dashboard import opened_dashboard
from tests.samples.survey_traces import some_traces

from cutset.model.span import SpanKind
from cutset.store.spans import begin_ingest
from cutset.web.dashboard import Dashboard
from cutset.web.pages.traces import FEW_SERVICES, WORK

SERVER = SpanKind.SERVER
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def read(dashboard: Dashboard, client: TestClient, path: str = "/traces") -> str:
    """The page once all traces are read."""

    async def until_read() -> None:
        await dashboard.aside.waited_for(WORK)

    client.get(path)
    assert client.portal
    client.portal.call(until_read)
    return client.get(path).text


def ingest(store: Path, number: int = 40, name: str = "") -> None:
    spans = some_traces(number)
    with begin_ingest(store) as ingesting:
        ingesting.add(
            "generated", [replace(each, service=f"{each.service}{name}") for each in spans] if name else spans
        )


def test_without_traces_the_page_says_how_to_read_some(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/traces")

    assert page.status_code == 200
    assert "<code>cutset ingest SOURCE…</code>" in page.text


def test_until_all_are_read_the_page_says_so_and_then_it_shows_what_they_are(tmp_path: Path) -> None:
    ingest(tmp_path)

    with opened_dashboard(tmp_path) as (dashboard, client):
        begun = client.get("/traces").text
        page = read(dashboard, client)

    assert "Reading traces" in begun or "Request classes" in begun  # it may be quick
    for part in ("Request classes", "Who calls whom", "Critical workflows", "APIs by how much", "Latest ingests"):
        assert part in page
    assert "<svg" in page
    assert "data-under-way" not in page


def test_what_was_ingested_meanwhile_is_read_again(tmp_path: Path) -> None:
    ingest(tmp_path, 20)

    with opened_dashboard(tmp_path) as (dashboard, client):
        before = read(dashboard, client)
        ingest(tmp_path, 40)
        after = read(dashboard, client)

    assert "in 20 traces" in before
    assert "in 40 traces" in after


def test_a_request_class_has_a_page_of_its_own(tmp_path: Path) -> None:
    ingest(tmp_path)

    with opened_dashboard(tmp_path) as (dashboard, client):
        name = next(iter(_studied(dashboard, client).survey.classes))
        page = client.get("/traces", params={"class": name})
        missing = client.get("/traces", params={"class": "nothing of that name"})

    assert "What it calls" in page.text
    assert page.text.count("<h1") == 1
    assert missing.status_code == 404


def test_names_of_services_are_text(tmp_path: Path) -> None:
    ingest(tmp_path, name=HOSTILE)

    with opened_dashboard(tmp_path) as (dashboard, client):
        page = read(dashboard, client)

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def _studied(dashboard: Dashboard, client: TestClient):  # type: ignore[no-untyped-def]
    read(dashboard, client)

    async def studied() -> object:
        return await dashboard.aside.waited_for(WORK)

    assert client.portal
    return client.portal.call(studied)


def test_a_part_of_a_large_graph_can_be_drawn(tmp_path: Path) -> None:
    leaf = next(iter(some_traces(1)))
    services = [f"service-{number}" for number in range(FEW_SERVICES + 8)]
    chain = [
        replace(leaf, service=service, span_id=service, parent_id=services[place - 1] if place else "", kind=SERVER)
        for place, service in enumerate(services)
    ]
    with begin_ingest(tmp_path) as ingesting:
        ingesting.add("generated", chain)

    with opened_dashboard(tmp_path) as (dashboard, client):
        whole = read(dashboard, client)
        around = client.get("/traces", params={"around": "service-7"}).text
        few = client.get("/traces", params={"top": "5"}).text
        absent = client.get("/traces", params={"around": "nobody"})
        wrong = client.get("/traces", params={"top": "many"})

    assert f"{FEW_SERVICES + 8} services, {FEW_SERVICES + 7} connections" in whole
    assert "Calls around service-7: 3 services, 2 connections" in around
    assert '<option value="service-7" selected>' in around
    assert "Calls between services: 5 services" in few
    assert absent.status_code == 404
    assert wrong.status_code == 200


def test_what_is_small_is_drawn_whole_and_nothing_is_asked(tmp_path: Path) -> None:
    ingest(tmp_path)

    with opened_dashboard(tmp_path) as (dashboard, client):
        assert 'name="around"' not in read(dashboard, client)
