import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psutil
import pytest
from tests.samples.survey_traces import some_traces

from cutset.errors import TargetError, UsageError
from cutset.store.manifest import open_spans
from cutset.store.shapes import TraceRange, trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import SurveySettings, survey
from cutset.survey.summary import Survey
from cutset.survey.workers import each, open_executor

SETTINGS = SurveySettings()


@pytest.fixture
def ranges(tmp_path: Path) -> Sequence[TraceRange]:
    with begin_ingest(tmp_path) as ingest:
        ingest.add("generated", some_traces(400))
    return trace_ranges(open_spans(tmp_path), spans_per_range=80)


def surveyed(ranges: Sequence[TraceRange], workers: str = "1") -> Survey:
    with open_executor(workers) as executor:
        return survey(ranges, SETTINGS, executor, lambda *_: None)


def test_classes_calls_and_representatives_are_found(ranges: Sequence[TraceRange]) -> None:
    found = surveyed(ranges)

    assert found.traces == 400
    assert set(found.classes) == {"GET /cart", "GET /user/*/orders"}
    cart = found.classes["GET /cart"]
    assert len(cart.kinds) == 2  # with and without the fallback
    assert [str(call.point) for _, call in cart.representative.calls] == ["redis/GET", "postgresql/SELECT carts"]
    assert cart.components == sum(traces * (2 + (len(tree.calls) > 1)) for tree, traces in cart.kinds.items())


def test_the_result_does_not_depend_on_how_the_work_is_cut(tmp_path: Path, ranges: Sequence[TraceRange]) -> None:
    assert len(ranges) > 5
    assert surveyed(ranges) == surveyed(trace_ranges(open_spans(tmp_path)))


def test_several_processes_find_the_same(ranges: Sequence[TraceRange]) -> None:
    assert surveyed(ranges, "2") == surveyed(ranges)


def test_progress_is_told_until_all_is_done(ranges: Sequence[TraceRange]) -> None:
    told: list[tuple[int, int]] = []
    survey(ranges, SETTINGS, None, lambda done, total: told.append((done, total)))

    assert told == [(done, 2 * len(ranges)) for done in range(1, 2 * len(ranges) + 1)]


def test_by_calls_tells_apart_what_is_named_alike(ranges: Sequence[TraceRange]) -> None:
    found = survey(ranges, SurveySettings(by_calls=True), None, lambda *_: None)

    assert {name for name in found.classes if name.startswith("GET /cart")} == {
        "GET /cart (calls GET)",
        "GET /cart (calls GET, SELECT carts)",
    }


@pytest.mark.parametrize("workers", ["0", "-1", "many", "", "dask:/x"])
def test_wrong_numbers_of_workers_are_refused(workers: str) -> None:
    with pytest.raises(UsageError, match="no number of workers"), open_executor(workers):
        pass


def test_an_unreachable_cluster_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.survey.workers.CONNECT_SECONDS", 0.2)
    with pytest.raises(TargetError, match=r"127\.0\.0\.1:9"), open_executor("dask://127.0.0.1:9"):
        pass


def test_workers_end_when_the_work_is_given_up() -> None:
    def give_up() -> None:
        with open_executor("2") as executor:
            assert executor is not None
            executor.submit(os.getpid).result()
            raise KeyboardInterrupt

    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        give_up()
    # The resource tracker of the standard library stays.
    left = [child for child in set(psutil.Process().children()) - before if "spawn_main" in " ".join(child.cmdline())]
    assert left == []


def test_results_that_nobody_wants_any_more_are_not_worked_for() -> None:
    with ProcessPoolExecutor(1) as executor:
        results = each(executor, abs, range(-1000, 0))
        next(results)
        results.close()
        assert executor.submit(abs, -7).result(timeout=30) == 7


def test_a_worker_that_dies_is_an_error_for_the_user() -> None:
    with pytest.raises(TargetError, match="A worker died"), open_executor("2") as executor:
        list(each(executor, os._exit, [1]))
