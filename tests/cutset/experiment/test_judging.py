from dataclasses import replace

import pytest
from tests.cutset.lineage.test_operations import span

from cutset.experiment.judging import judged, sharpened_by, with_writes
from cutset.experiment.trial import Trial
from cutset.judge.rules import Baseline
from cutset.lineage.completeness import Instrumentation
from cutset.lineage.path import Level, read_lineage
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response
from cutset.model.span import SpanKind

PUBLISH = replace(
    span("1", SpanKind.PRODUCER, endpoint="mq/nats/publish", occurrence="1", service="orders", peer="placed"),
    error=False,
)
TRIAL = Trial(
    trace_id="t",
    root_id="root",
    response=Response(200, "text/plain", b"thanks"),
    lineage=read_lineage((), "root", frozenset(), Level.API),
    spans=(PUBLISH,),
    traced=True,
    missing="",
    abandoned=False,
)
BASELINE = with_writes(Baseline(frozenset({200}), 0.1, frozenset()), [TRIAL, TRIAL], Expectation())
TELLING = Instrumentation(frozenset(), frozenset(), agents=frozenset({"orders"}))
SILENT = replace(TRIAL, spans=())


def test_a_write_that_was_not_made_degrades_the_answer() -> None:
    assert judged(TRIAL, Expectation(), BASELINE, TELLING).verdict is Verdict.SURVIVED
    found = judged(SILENT, Expectation(), BASELINE, TELLING)
    assert (found.verdict, found.reason) == (Verdict.DEGRADED, "200, but `orders>mq/nats/publish placed` was not made")


@pytest.mark.parametrize(
    "doubt", [{"missing": "a span"}, {"abandoned": True}, {"dead": ("a:1",)}, {"disturbed": "pods changed"}]
)
def test_where_spans_may_be_missing_nothing_is_said_of_what_was_not_made(doubt: dict[str, object]) -> None:
    assert judged(replace(SILENT, **doubt), Expectation(), BASELINE, TELLING).verdict is Verdict.SURVIVED  # type: ignore[arg-type]
    assert judged(SILENT, Expectation(), BASELINE, None).verdict is Verdict.SURVIVED


def test_a_write_that_failed_is_told_whatever_else_is_missing() -> None:
    failed = replace(TRIAL, spans=(replace(PUBLISH, error=True),), missing="a span")
    assert judged(failed, Expectation(), BASELINE, None).reason == "200, but `orders>mq/nats/publish placed` failed"


def test_a_run_without_a_fault_that_does_not_write_it_shows_that_it_varies() -> None:
    assert judged(SILENT, Expectation(), sharpened_by(BASELINE, SILENT), TELLING).verdict is Verdict.SURVIVED
