from dataclasses import replace
from pathlib import Path

import htpy as h
import pytest
from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_workflows, rank_apis, service_graph
from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.report.survey.frequency import ANECDOTES_IN_WORDS
from cutset.report.survey.page import SHOWN_SERVICES, class_body, stored_body, survey_body
from cutset.select.workflows import CriticalWorkflows
from cutset.store.manifest import IngestRecord, SpanStore
from cutset.store.shapes import Totals

SHOP = surveyed_shop()


def shown(survey: Survey) -> str:
    body = survey_body(
        survey, find_workflows(survey), rank_apis(survey), service_graph(survey), lambda name: f"?{name}"
    )
    return str(h.div[body])


def test_request_classes_workflows_and_ranks_are_shown_in_the_words_of_the_commands() -> None:
    page = shown(SHOP)

    assert page.index('href="?GET /cart"') < page.index('href="?GET /"')  # the most complex first
    assert "2 request classes in 30 traces of 58 spans" in page
    assert "2 more traces without a beginning" in page
    assert "<code>web&gt;redis/GET</code>" in page
    assert "api-rank" in page
    assert page.count("<table") == page.count("<caption")


def test_where_nothing_is_common_or_no_service_calls_another_that_is_told_or_left_out() -> None:
    none = CriticalWorkflows((), 30, 1, stopped=False)
    page = str(h.div[survey_body(SHOP, none, None, service_graph(SHOP), str)])

    assert "No workflow is that common." in page
    assert "api-rank" not in page


def test_a_search_for_workflows_that_was_given_up_says_so() -> None:
    stopped = replace(find_workflows(SHOP), stopped=True, complete_from=7)

    assert "those in less than 7 traces may be missing" in str(
        h.div[survey_body(SHOP, stopped, None, service_graph(SHOP), str)]
    )


def test_one_class_tells_what_it_calls_and_how_its_executions_differ() -> None:
    page = str(h.div[class_body("GET /cart", SHOP.classes["GET /cart"], service_graph(SHOP, "GET /cart"))])

    assert "20 traces, 0 failed" in page
    assert "web&gt;cart/GetCart  when failed: redis/GET" in page
    assert "after failure" in page
    assert "4 × 2 calls: as 1, with web&gt;cart/GetCart, but web&gt;redis/GET fails" in page
    assert "spans are missing" not in page
    torn = str(h.div[class_body("GET /", SHOP.classes["GET /"], service_graph(SHOP, "GET /"))])
    assert "1 trace of which spans are missing, not used here" in torn


def test_what_is_stored_and_what_was_skipped_is_told() -> None:
    record = IngestRecord("traces.json", "jaeger", 1_800_000_000.0, 12, 10, {"no trace id": 2})
    services = tuple((f"service-{number}", 5, 1) for number in range(SHOWN_SERVICES + 2))
    page = str(h.div[stored_body(SpanStore(Path("x"), (), (record,)), Totals(3, 12, services, ()))])

    assert "2 × no trace id" in page
    assert "traces.json" in page
    assert "20.0 %" in page
    assert "and 2 more" in page


def test_what_was_refused_is_told_with_the_reason() -> None:
    record = IngestRecord("a.txt", "", 1_800_000_000.0, 0, 0, {}, "The format of a.txt <b> is not known")
    page = str(h.div[stored_body(SpanStore(Path("x"), (), (record,)), Totals(3, 12, (), ()))])

    assert "1 source refused, or not read to the end" in page
    assert page.count("The format of a.txt &lt;b&gt; is not known") == 2  # there, and in the list of ingests


def test_workflows_of_few_traces_are_marked_as_anecdotes() -> None:
    page = shown(SHOP)
    assert page.count("</span> anecdote</span>") == 1
    assert "4 traces, 13.8 % (5–31 %)" in page
    assert ANECDOTES_IN_WORDS in page


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "x" * 10_000])
def test_names_in_traces_are_text_and_bounded(hostile: str) -> None:
    tree = CallTree(
        Point(hostile, hostile), component=Component.HTTP, calls=(CallTree(Point(f"{hostile}2", hostile), failed=True),)
    )
    survey = Survey({hostile: ClassSummary(hostile, hostile, Representative(1.0, hostile), {tree: 2}, spans=4)})
    page = shown(survey) + str(h.div[class_body(hostile, survey.classes[hostile], service_graph(survey))])

    assert "<script" not in page
    assert "<img" not in page
    assert len(page) < 200_000
