import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import cast

import pytest
from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.plain_survey import plain_survey
from tests.samples.survey_traces import some_traces

from cutset.model.span import Span, SpanKind
from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.store.manifest import open_spans
from cutset.store.ranges import TraceRange, trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import PartsRead, SurveySettings, survey
from cutset.survey.workers import open_executor

SETTINGS = SurveySettings()


@pytest.fixture
def ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[TraceRange]:
    """Of traces whose spans come in any order, as several collectors send them."""
    monkeypatch.setattr("cutset.store.sort_in._BLOCK_SPANS", 1)
    spans = list(some_traces(400))
    for number in range(6):
        with begin_ingest(tmp_path) as ingest:
            ingest.add("generated", spans[number::6])
    return trace_ranges(open_spans(tmp_path), spans_per_range=1)


def surveyed(ranges: Sequence[TraceRange], workers: str = "1") -> Survey:
    with open_executor(workers) as executor:
        return finished(survey(ranges, SETTINGS, executor))


def test_classes_calls_and_representatives_are_found(ranges: Sequence[TraceRange]) -> None:
    found = surveyed(ranges)

    assert found.traces == 400
    assert set(found.classes) == {"GET /cart", "GET /user/*/orders"}
    cart = found.classes["GET /cart"]
    assert len(cart.kinds) == 2  # with and without the fallback
    assert [str(call.point) for _, call in cart.representative.calls] == [
        "redis(web)/GET",
        "postgresql(web)/SELECT carts",
    ]
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


class Watched:
    """An executor that counts what it is asked to find out, and does it right away."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task: Callable[..., object], item: object) -> Future[object]:
        self.tasks += 1
        done: Future[object] = Future()
        done.set_result(task(item))
        return done


def found_out(store: Path, settings: SurveySettings = SETTINGS, since_ns: int = 0) -> tuple[Survey, int]:
    stored, watched = open_spans(store), Watched()
    ranges = trace_ranges(stored, spans_per_range=1, since_ns=since_ns)
    found = finished(survey(ranges, settings, cast("Executor", watched), stored.folder))
    assert found == finished(survey(ranges, settings, None))
    return found, watched.tasks


def test_what_was_found_out_is_not_read_again_until_something_of_it_changes(
    tmp_path: Path, ranges: Sequence[TraceRange]
) -> None:
    each = len(ranges)
    first, tasks = found_out(tmp_path)
    assert tasks == 2 * each
    assert found_out(tmp_path) == (first, 0)
    # Settings change what is read from traces, not their paths.
    assert found_out(tmp_path, SurveySettings(by_calls=True))[1] == each
    assert found_out(tmp_path) == (first, 0)

    with begin_ingest(tmp_path) as ingest:
        ingest.add("later", some_traces(30, seed=2))
    more, tasks = found_out(tmp_path)
    assert (more.traces, tasks) == (430, 2)
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path / "traces", moved / "traces")
    assert found_out(moved) == (more, 0)


def test_what_the_templates_of_a_range_depend_on_is_told_by_all_traces(
    tmp_path: Path, ranges: Sequence[TraceRange]
) -> None:
    found_out(tmp_path)
    named = {"http.request.method": "GET", "http.route": "/user/{name}/orders"}
    span = Span("t", "1", "", "other", "any", SpanKind.SERVER, 1_700_000_000_000_000_000, 0, attributes=named)
    with begin_ingest(tmp_path) as ingest:
        ingest.add("a service that names its routes", [span])
    found, tasks = found_out(tmp_path)
    assert tasks == len(ranges) + 2  # all are read again, since a path may be of that route
    assert "GET /user/{name}/orders" in " ".join(found.classes)


def test_what_was_kept_and_is_damaged_is_found_out_again(tmp_path: Path, ranges: Sequence[TraceRange]) -> None:
    found, tasks = found_out(tmp_path)
    for file in (tmp_path / "traces" / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:-9])
    assert found_out(tmp_path) == (found, tasks)


def test_without_room_on_the_disk_nothing_is_kept_and_all_is_found(
    tmp_path: Path, ranges: Sequence[TraceRange]
) -> None:
    (tmp_path / "traces" / "cache").write_text("no folder")
    assert found_out(tmp_path) == found_out(tmp_path)


def whole_survey(store: Path, spans: Sequence[Span]) -> Survey:
    """Of spans that are stored in several ingests, in any order, and read in as many ranges as can be."""
    for number in range(3):
        with begin_ingest(store) as ingest:
            ingest.add("any", spans[number::3])
    return finished(survey(trace_ranges(open_spans(store), spans_per_range=1), SETTINGS, None))


def test_what_is_found_in_generated_traces_is_what_plain_python_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutset.store.sort_in._BLOCK_SPANS", 1)
    chance = Random(1)
    profile = replace(PROFILES["small"], failure_rate=0.05)
    spans = [span for trace in islice(generate(3, profile), 120) for span in trace if chance.random() > 0.01]
    assert whole_survey(tmp_path, spans) == plain_survey(spans, SETTINGS)


@st.composite
def torn_traces(draw: st.DrawFn) -> list[Span]:
    """Few ids, names and times, so that everything is shared, lost, doubled or at the same time."""
    spans = {}
    for trace_id in "abcdef"[: draw(st.integers(1, 6))]:
        for _ in range(draw(st.integers(1, 7))):
            start_ns = draw(st.sampled_from([0, 1_000, 2_000, 3_600_000_000_000]))
            attributes = draw(
                st.sampled_from(
                    [
                        {},
                        {"http.request.method": "GET", "url.path": "/cart/7"},
                        {"http.request.method": "GET", "url.path": "/cart/8", "http.route": "/cart/{id}"},
                        {"rpc.method": "shop.Cart/Get", "peer.service": "cart"},
                        {"db.system.name": "redis", "db.operation.name": "GET"},
                    ]
                )
            )
            span = Span(
                trace_id,
                draw(st.sampled_from("123")),
                draw(st.sampled_from(["", "", "1", "2", "9"])),
                draw(st.sampled_from(["cart", "shop"])),
                draw(st.sampled_from(["GET /cart/7", "op"])),
                draw(st.sampled_from(SpanKind)),
                start_ns,
                start_ns + draw(st.sampled_from([5, 500_000])),
                draw(st.booleans()),
                attributes,
            )
            spans.setdefault((trace_id, span.span_id, span.kind, span.service, span.start_ns), span)
    return list(spans.values())


@settings(max_examples=15, deadline=None)
@given(torn_traces())
def test_what_is_found_in_any_traces_is_what_plain_python_finds(
    tmp_path_factory: pytest.TempPathFactory, spans: list[Span]
) -> None:
    assert whole_survey(tmp_path_factory.mktemp("store"), spans) == plain_survey(spans, SETTINGS)
