"""`docs/reference/json.md` has an entry for each field of each document, by documents that reports really make."""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tests.cutset.report.campaign.test_proof import CHECKED
from tests.cutset.report.survey.test_graph import GRAPH
from tests.cutset.report.survey.test_ingest import SKIPPED
from tests.cutset.report.survey.test_traces import STORED, TOTALS
from tests.cutset.report.survey.test_workflows import FOUND
from tests.cutset.report.traffic.test_replay import TEMPLATED
from tests.cutset.report.traffic.test_templates import TEMPLATES
from tests.samples import drill, hardening_result, impacts, reproduction
from tests.samples.campaign import EVENTS, MIXED, REPLAY, VARYING
from tests.samples.surveyed_shop import CART, surveyed_shop

from cutset.app.survey import find_endpoints, rank_apis
from cutset.model.checkup import Checkup, note
from cutset.model.hardening import HealthJudged, MeshRestored
from cutset.model.outcome import Outcome
from cutset.model.summary import summarise
from cutset.model.survey import Ingested
from cutset.report import checkup
from cutset.report.campaign import baseline, explanation, proof
from cutset.report.campaign.json import to_document as campaign_document
from cutset.report.drill.terminal import plan_document, results_document
from cutset.report.hardening.json import to_document as hardening_document
from cutset.report.impact.comparison import compare, comparison_document
from cutset.report.impact.json import history_document, impact_document
from cutset.report.reproduction.json import to_document as reproduction_document
from cutset.report.survey import classes, endpoints, graph, ingest, rank, request_class, traces, workflows
from cutset.report.traffic import replay, templates
from cutset.select.api_rank import Preference
from cutset.select.complexity import DEFAULT_WEIGHTS
from cutset.select.rankings import Ranking
from cutset.store.audit import AuditEntry
from cutset.store.codec import to_jsonable
from cutset_agent.hooks.library import fault_library

PAGE = (Path(__file__).parent.parent / "docs" / "reference" / "json.md").read_text()


def documents(folder: Path) -> Iterator[tuple[str, Any]]:
    """Each with the heading under which its fields are."""
    for events in (EVENTS, VARYING, MIXED):
        yield "A campaign", campaign_document(summarise(events), "one", REPLAY)
        yield "A campaign", {"check": {}, "against": {}}
        accepted = baseline.accept(summarise(events))
        yield "Against a baseline", baseline.to_document(baseline.compare(accepted, events), "baseline.yaml")
    yield "What is known of a cut", explanation.to_document(explanation.answers("ad/GetAds", EVENTS), "one")
    outcomes = [
        event.outcome for event in [*EVENTS, *VARYING, *MIXED] if isinstance(getattr(event, "outcome", 0), Outcome)
    ]
    for outcome in outcomes:
        yield "A finding that was tried again", {"id": "", "request": ""} | to_jsonable(outcome)
    yield "A proof", proof.to_document(CHECKED)
    found = hardening_result.TRIED
    health, restored = (
        HealthJudged(runs=10, ill={"GET /": "500"}),
        MeshRestored(why="GET / fails", still={"GET /": "500"}),
    )
    for hardening in (hardening_result.DECIDED, found, replace(found, health=health, restored=restored)):
        yield "A hardening", hardening_document(hardening, [Path("a.yaml")])
    yield "An impact", impact_document(impacts.IMPACT, "http://jaeger/{trace}", "cutset impact")
    yield "Impacts compared", comparison_document(compare(impacts.IMPACT, impacts.IMPACT))
    yield "All impacts", history_document([(impacts.BEGIN, impacts.IMPACT)])
    yield (
        "Drills",
        results_document([drill.PASSED, drill.FAILED, drill.UNKNOWN], starts=1, replay="cutset drill") | {"page": ""},
    )
    yield "A plan of drills", plan_document([(drill.TEST, "")], [("", "")], [(drill.TEST, "")])
    yield "A reproduction", reproduction_document(reproduction.sample(folder))
    yield "A check-up", checkup.to_document(Checkup((note("clock", "is late"),), 5.0))
    yield "Injections", {"injections": [asdict(AuditEntry(0.0, "", "", "", "", "", ""))]}
    yield "Faults of agents", {"faults": [fault._asdict() for fault in fault_library().values()]}
    survey = surveyed_shop()
    yield "Request classes", classes.to_document(survey, DEFAULT_WEIGHTS)
    name, summary = next(iter(survey.classes.items()))
    lost = replace(next(iter(summary.kinds)), orphans=(CART,))
    for kinds in (summary.kinds, {lost: 1}):
        of_class = replace(summary, kinds=kinds)
        yield "One request class", request_class.to_document(name, of_class, survey.traces, DEFAULT_WEIGHTS)
    yield "Ranks", rank.to_document(rank_apis(survey), Ranking.API_RANK, Preference.UNIFORM)
    yield "Workflows", workflows.to_document(FOUND)
    yield "Endpoints", endpoints.to_document(find_endpoints(survey))
    yield "A graph", graph.to_document(GRAPH)
    refused = replace(STORED.log[0], problem="It is no trace")
    yield "Stored traces", traces.to_document(replace(STORED, log=(refused,)), TOTALS)
    yield "What was read", ingest.to_document(Ingested(1, 3, 2, 0, (SKIPPED,), ("torn",), 0.1))
    yield "Traffic that was sent again", replay.to_document({"templated": TEMPLATED})
    yield "A recording", templates.to_document(TEMPLATES)


def fields_of(value: Any, at: str = "") -> Iterator[str]:
    """The paths of all members, at whatever depth: `requests[].findings[].id`."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (path := f"{at}.{name}".lstrip("."))
            yield from fields_of(member, path)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from fields_of(member, f"{at}[]")


def entries(heading: str) -> list[str]:
    """Of the tables below it; `.name` goes with the field before it."""
    (section,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found: list[str] = []
    for row in re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", row):
            found.append(found[-1].rpartition(".")[0] + name if name.startswith(".") and found[-1] else name)
    return [name.lstrip(".") for name in found]


def is_explained(field: str, known: list[str]) -> bool:
    """`*` stands for any name, `**` for all below."""
    patterns = (re.escape(each).replace(r"\*\*", ".+").replace(r"\*", r".+?") for each in known)
    return any(re.fullmatch(pattern, field) for pattern in patterns)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any]]:
    return list(documents(tmp_path_factory.mktemp("reproduction")))


def test_each_field_of_each_document_is_explained(made: list[tuple[str, Any]]) -> None:
    missing = {
        (heading, field)
        for heading, document in made
        for field in fields_of(document)
        if not is_explained(field, entries(heading))
    }
    assert sorted(missing) == []


def test_each_field_that_is_explained_is_there(made: list[tuple[str, Any]]) -> None:
    """So that none is explained that is gone. What no sample has is in the list."""
    there = {(heading, field) for heading, document in made for field in fields_of(document)}
    gone = {
        (heading, entry)
        for heading in {heading for heading, _ in made}
        for entry in entries(heading)
        if not any(of == heading and is_explained(field, [entry]) for of, field in there)
    }
    assert sorted(gone) == []
