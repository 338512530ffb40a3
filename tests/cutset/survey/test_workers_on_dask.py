"""On a real cluster: a scheduler and three workers, each a process of its own."""

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.samples.survey_traces import some_traces

from cutset.model.steps import finished
from cutset.store.manifest import open_spans
from cutset.store.ranges import TraceRange, trace_ranges
from cutset.store.spans import begin_ingest
from cutset.survey.run import PartsRead, SurveySettings, survey
from cutset.survey.workers import open_executor

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries


@pytest.fixture(scope="module")
def cluster() -> Iterator["distributed.LocalCluster"]:
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


@pytest.fixture
def ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[TraceRange]:
    monkeypatch.setattr("cutset.store.sort_in._BLOCK_SPANS", 1)
    spans = list(some_traces(600))
    for number in range(6):
        with begin_ingest(tmp_path) as ingest:
            ingest.add("generated", spans[number::6])
    return trace_ranges(open_spans(tmp_path), spans_per_range=1)


def test_a_cluster_finds_what_one_process_finds(cluster, ranges: Sequence[TraceRange]) -> None:
    alone = finished(survey(ranges, SurveySettings(), None))

    with open_executor(cluster.scheduler_address.replace("tcp://", "dask://")) as executor:
        assert finished(survey(ranges, SurveySettings(), executor)) == alone


def test_the_result_is_the_same_when_a_worker_is_killed_midway(cluster, ranges: Sequence[TraceRange]) -> None:
    alone = finished(survey(ranges, SurveySettings(), None))
    killed: list[int] = []

    with distributed.Client(cluster.scheduler_address) as client:
        pids = sorted(client.run(os.getpid).values())

    def kill_one(read: PartsRead) -> None:
        assert read.done <= read.total
        if read.done == len(ranges) + 1:  # of the traces themselves, few are read
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    with open_executor(cluster.scheduler_address.replace("tcp://", "dask://")) as executor:
        assert finished(survey(ranges, SurveySettings(), executor), kill_one) == alone
    assert killed
