"""The span store in an object store: a real server of this machine."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.samples.dask_cluster import Workers, dask_cluster
from tests.samples.go_programs import NotToBeHadError
from tests.samples.object_store import object_store
from tests.samples.stored_spans import HOUR, NOON, many, span
from tests.samples.survey_traces import some_traces

from cutset.errors import TargetError
from cutset.model.steps import finished
from cutset.store.manifest import open_spans
from cutset.store.place import address_of, names_in, read_file
from cutset.store.ranges import trace_ranges
from cutset.store.shapes import totals
from cutset.store.spans import begin_ingest, forget_before
from cutset.survey.run import PartsRead, SurveySettings, survey
from cutset.survey.workers import open_executor

bucket = pytest.importorskip("cutset.store.bucket", reason="s3fs is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of others' libraries


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    try:
        with object_store(tmp_path_factory.mktemp("objects")) as environment:
            yield environment
    except NotToBeHadError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def store(server: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As a user names it."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    bucket.S3FileSystem.clear_instance_cache()
    return Path(f"s3://traces/{tmp_path.name}")


def add(store: Path, spans: list) -> int:
    with begin_ingest(store) as ingest:
        ingest.add("generated", spans)
    return ingest.new_spans


def test_spans_are_stored_once_and_found_again(store: Path, tmp_path: Path) -> None:
    assert open_spans(store).spans == 0
    assert add(store, many(40)) == 40
    assert add(store, many(60)) == 20
    add(tmp_path, many(60))
    assert totals(open_spans(store)) == totals(open_spans(tmp_path))
    assert address_of(store) == f"s3://traces/{tmp_path.name}"
    assert not Path("s3:").exists()


def test_to_add_spans_fetches_no_part_that_has_none_of_their_traces(store: Path, tmp_path: Path) -> None:
    add(store, many(8))
    add(store, [])
    add(store, many(8, prefix="u"))  # its ids are known now
    stored = open_spans(store)
    bucket.remove(
        address_of(stored.folder), [part.file for part in stored.parts if part.first_trace_id.startswith("t")]
    )
    with begin_ingest(store) as ingest:
        ingest._stored = stored  # with the part that is not there
        ingest.add("more", many(12, prefix="u"))
    assert ingest.new_spans == 4


def test_what_is_forgotten_is_not_there_but_its_file_stays_for_who_reads_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, [span(), span("t2", start_ns=NOON + 100 * HOUR)])
    assert forget_before(store, NOON + 50 * HOUR) == 1
    stored = open_spans(store)
    assert stored.spans == 1
    assert len(names_in(stored.folder, "*T*/*.parquet")) == 2
    monkeypatch.setattr(bucket, "UNLISTED_STAY", timedelta(0))
    add(store, [])
    assert names_in(stored.folder, "*T*/*.parquet") == {part.file for part in stored.parts}


def test_of_two_who_write_at_the_same_time_one_is_told_and_loses_nothing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, many(4))

    def collide() -> None:
        with begin_ingest(store) as ours:
            ours.add("ours", many(4, prefix="u"))
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
            add(store, many(8))
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))

    with pytest.raises(TargetError, match="Somebody else wrote"):
        collide()
    assert open_spans(store).spans == 8
    assert add(store, many(4, prefix="u")) == 4


def test_two_who_begin_at_the_same_time_are_told_apart(store: Path) -> None:
    folder = address_of(open_spans(store).folder)
    assert bucket.replace(f"{folder}/manifest.json", b"{}", "")
    with pytest.raises(TargetError):
        bucket.replace(f"{folder}/manifest.json", b"{}", "")


def test_what_is_wrong_is_said(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, many(4))
    folder = open_spans(store).folder
    assert read_file(folder, "manifest.json")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    bucket.S3FileSystem.clear_instance_cache()
    with pytest.raises(TargetError, match="Cannot read `s3://traces/"):
        open_spans(store)


@pytest.fixture
def scheduler(store: Path, tmp_path: Path) -> Iterator[tuple[str, Workers]]:
    pytest.importorskip("distributed")
    with dask_cluster(tmp_path) as cluster:
        yield cluster


def test_a_cluster_finds_there_what_one_process_finds_in_a_folder_though_a_worker_is_killed(
    store: Path, tmp_path: Path, scheduler: tuple[str, Workers]
) -> None:
    address, workers = scheduler
    traces = [
        replace(each, start_ns=each.start_ns + hour * HOUR, end_ns=each.end_ns + hour * HOUR)
        for hour in range(12)
        for each in some_traces(50, seed=hour)
    ]
    for place in (store, tmp_path):
        add(place, traces)
    alone = finished(survey(trace_ranges(open_spans(tmp_path), 150), SurveySettings(), None))
    stored = open_spans(store)
    ranges = trace_ranges(stored, 150)
    assert len(ranges) >= 12

    def kill_one(read: PartsRead) -> None:
        if read.done == len(ranges) + 1:  # of the traces themselves, few are read
            os.kill(workers[0].pid, signal.SIGKILL)

    with open_executor(address) as executor:
        assert finished(survey(ranges, SurveySettings(), executor, stored.folder), kill_one) == alone
    assert workers[0].wait() == -signal.SIGKILL
    assert names_in(stored.folder, "cache/*")  # what workers found out is kept there, for all
    assert finished(survey(ranges, SurveySettings(), None, stored.folder)) == alone
