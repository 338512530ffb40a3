import json
import threading
import time
from pathlib import Path

import pytest
from tests.samples.otlp_shop import LINES, SPANS

from cutset.store.manifest import open_spans
from cutset.store.spans import begin_ingest
from cutset.survey import follow as module
from cutset.survey.follow import Followed, FollowSettings, follow
from cutset.traces.files.growing import GrowingFiles
from cutset.traces.tally import ReadTally

CAUGHT_UP = FollowSettings(until_caught_up=True)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", -1)  # after every piece
    monkeypatch.setattr(module, "COMMIT_SHARE", float("inf"))
    monkeypatch.setattr(module, "LOOK_SECONDS", 0)


def run(store: Path, source: Path, settings: FollowSettings = CAUGHT_UP, ended: threading.Event | None = None):
    tally = ReadTally()
    with begin_ingest(store) as ingest:
        files = GrowingFiles([str(source)], tally)
        yield from follow([files], ingest, tally, ended or threading.Event(), settings, name="collector")


def last(states) -> Followed:
    *_, state = states
    return state


def test_what_was_read_is_committed_while_it_goes_on(tmp_path: Path) -> None:
    file, ended = tmp_path / "traces.json", threading.Event()
    file.write_text("")
    states = run(tmp_path / "store", file, FollowSettings(), ended)
    for number, line in enumerate(LINES):
        with file.open("a") as stream:
            stream.write(line + "\n")
        while next(states).new <= number * SPANS // len(LINES):
            pass
        assert open_spans(tmp_path / "store").spans > number * SPANS // len(LINES)
    ended.set()
    assert last(states) == Followed(1, SPANS, SPANS, 0, 0)
    (record,) = open_spans(tmp_path / "store").log  # not one for each commit
    assert (record.source, record.spans_read, record.spans_new) == ("collector", SPANS, SPANS)


def test_the_next_run_goes_on_where_the_last_commit_was(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    file.write_text("\n".join(LINES[:5]) + "\n")
    assert last(run(tmp_path / "store", file)).new > 0
    with file.open("a") as stream:
        stream.write("\n".join(LINES[5:]) + "\n")
    state = last(run(tmp_path / "store", file))
    assert state.spans == state.new < SPANS  # nothing is read twice
    assert open_spans(tmp_path / "store").spans == SPANS
    assert last(run(tmp_path / "store", file)) == Followed(1, 0, 0, 0, 0)


def test_a_failure_loses_nothing(tmp_path: Path) -> None:
    for number, line in enumerate(LINES):
        (tmp_path / f"{number:03}.json").write_text(line + "\n")
    states = run(tmp_path / "store", tmp_path / "*.json")
    for _ in range(3):
        next(states)
    with pytest.raises(RuntimeError):
        states.throw(RuntimeError())
    assert 0 < open_spans(tmp_path / "store").spans < SPANS
    last(run(tmp_path / "store", tmp_path / "*.json"))
    assert open_spans(tmp_path / "store").spans == SPANS


def test_what_is_too_old_is_forgotten_as_it_goes_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIDY_SECONDS", -1)
    file, ended, store = tmp_path / "traces.json", threading.Event(), tmp_path / "store"
    file.write_text("\n".join(LINES) + "\n")
    last(run(store, file))
    states = run(store, file, FollowSettings(keep_ns=time.time_ns() - open_spans(store).last_ns + 10**13), ended)
    assert next(states).forgotten == 0
    states.close()
    states = run(store, file, FollowSettings(keep_ns=1), ended)
    assert next(states).forgotten == SPANS
    next(states)  # what an analysis may be reading stays until the second look
    assert not list((store / "traces").glob("*/*.parquet"))
    ended.set()
    assert last(states).forgotten == SPANS


def test_what_cannot_be_read_is_counted_and_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    file.write_text(f'{LINES[0]}\n{{"nonsense": [\n{json.dumps({"what": "this"})}\n{LINES[1]}\n')
    (tmp_path / "other.json").write_text('{"no": "traces"}\n')
    last(run(tmp_path / "store", tmp_path / "*.json"))
    (record,) = open_spans(tmp_path / "store").log
    assert record.skipped["records whose format is not known"] == 1
    assert sum(record.skipped.values()) > 1
    assert last(run(tmp_path / "store", tmp_path / "*.json")).spans == 0
