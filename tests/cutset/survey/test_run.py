from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.samples.survey_traces import some_traces

from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.store.manifest import open_spans
from cutset.store.shapes import TraceRange, trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import PartsRead, SurveySettings, survey
from cutset.survey.workers import open_executor

SETTINGS = SurveySettings()


@pytest.fixture
def ranges(tmp_path: Path) -> Sequence[TraceRange]:
    with begin_ingest(tmp_path) as ingest:
        ingest.add("generated", some_traces(400))
    return trace_ranges(open_spans(tmp_path), spans_per_range=80)


def surveyed(ranges: Sequence[TraceRange], workers: str = "1") -> Survey:
    with open_executor(workers) as executor:
        return finished(survey(ranges, SETTINGS, executor))


def test_classes_calls_and_representatives_are_found(ranges: Sequence[TraceRange]) -> None:
    found = surveyed(ranges)

    assert found.traces == 400
    assert set(found.classes) == {"GET /cart", "GET /user/*/orders"}
    cart = found.classes["GET /cart"]
    assert len(cart.kinds) == 2  # with and without the fallback
    calls = [str(call.point) for _, call in cart.representative.calls]
    assert calls == ["redis(web)/GET", "postgresql(web)/SELECT carts"]
    assert cart.components == sum(traces * (2 + (len(tree.calls) > 1)) for tree, traces in cart.kinds.items())


def test_the_result_does_not_depend_on_how_the_work_is_cut(tmp_path: Path, ranges: Sequence[TraceRange]) -> None:
    assert len(ranges) > 5
    assert surveyed(ranges) == surveyed(trace_ranges(open_spans(tmp_path)))


def test_several_processes_find_the_same(ranges: Sequence[TraceRange]) -> None:
    assert surveyed(ranges, "2") == surveyed(ranges)


def test_progress_is_told_until_all_is_done(ranges: Sequence[TraceRange]) -> None:
    told: list[PartsRead] = []
    finished(survey(ranges, SETTINGS, None), told.append)

    assert told == [PartsRead(done, 2 * len(ranges)) for done in range(1, 2 * len(ranges) + 1)]


def test_by_calls_tells_apart_what_is_named_alike(ranges: Sequence[TraceRange]) -> None:
    found = finished(survey(ranges, SurveySettings(by_calls=True), None))

    assert {name for name in found.classes if name.startswith("GET /cart")} == {
        "GET /cart (calls GET)",
        "GET /cart (calls GET, SELECT carts)",
    }
