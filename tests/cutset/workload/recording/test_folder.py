import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.errors import HaltedError, InputError, UsageError
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import open_recording, read_recording


def exchange(number: int, body: bytes = b"") -> Exchange:
    return Exchange(
        id=f"e{number}",
        service="shop",
        trace_id="",
        started_at=1000.0 + number,
        seconds=0.5,
        method="GET",
        path="/",
        request_headers=(("Accept", "*/*"),),
        request_body=body,
        status=200,
    )


def ids(folder: Path) -> list[str]:
    return [each.id for each in read_recording(folder).exchanges]


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("exchanges-*"))


def test_batches_are_read_in_order_of_start_and_each_exchange_once(tmp_path: Path) -> None:
    with open_recording(tmp_path / "r") as recording:
        recording.append([exchange(3), exchange(1)])
        recording.append([exchange(2), exchange(1)])
    assert ids(tmp_path / "r") == ["e1", "e2", "e3"]


def test_no_plan_is_recorded(tmp_path: Path) -> None:
    headers = (("tracestate", "a=1,cutset=2h.dGpSiB7A~A503.Wwhp.fZvPbyk3hXSILZQ8"),)
    with open_recording(tmp_path / "r") as recording:
        recording.append([replace(exchange(1), request_headers=headers)])
    (read,) = read_recording(tmp_path / "r").exchanges
    assert read.request_headers == (("tracestate", "a=1,cutset=plan-removed"),)


def test_whoever_goes_on_with_a_recording_begins_a_new_segment(tmp_path: Path) -> None:
    for number in (1, 2):
        with open_recording(tmp_path / "r") as recording:
            recording.append([exchange(number)])
    assert len(segments(tmp_path / "r")) == 2
    assert ids(tmp_path / "r") == ["e1", "e2"]


def test_the_zstd_program_could_read_a_segment(tmp_path: Path) -> None:
    import io

    import zstandard

    with open_recording(tmp_path / "r") as recording:
        recording.append([exchange(1)])
        recording.append([exchange(2)])
    content = segments(tmp_path / "r")[0].read_bytes()
    reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True)
    assert reader.read().count(b"\n") == 2


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_before_a_torn_end_is_read_and_the_rest_is_counted(data: st.DataObject, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("torn") / "r"
    sizes = []
    with open_recording(folder) as recording:
        for number in range(3):
            recording.append([exchange(number, Random(number).randbytes(20))])
            sizes.append(segments(folder)[0].stat().st_size)
    cut = data.draw(st.integers(0, sizes[-1]))
    os.truncate(segments(folder)[0], cut)
    recorded = read_recording(folder)
    assert len(recorded.exchanges) == sum(size <= cut for size in sizes)
    assert recorded.torn == (cut not in {0, *sizes})
    assert recorded.damaged == 0


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_damage_in_the_middle_costs_only_its_own_batch(data: st.DataObject, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "r"
    sizes = [0]
    with open_recording(folder) as recording:
        for number in range(3):
            recording.append([exchange(number, Random(number).randbytes(20))])
            sizes.append(segments(folder)[0].stat().st_size)
    content = bytearray(segments(folder)[0].read_bytes())
    content[data.draw(st.integers(sizes[1], sizes[2] - 1))] ^= data.draw(st.integers(1, 255))
    segments(folder)[0].write_bytes(content)
    recorded = read_recording(folder)
    assert {"e0", "e2"} <= {each.id for each in recorded.exchanges}
    assert len(recorded.exchanges) == 3 or recorded.damaged == 1


def test_a_full_recording_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    with open_recording(tmp_path / "r", max_bytes=2000) as recording:
        recording.append([exchange(1)])
        with pytest.raises(HaltedError, match="is full"):
            recording.append([exchange(2, os.urandom(3000))])
        assert recording.full
        recording.append([exchange(3)])
    assert ids(tmp_path / "r") == ["e1", "e3"]


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(UsageError, match="is not empty"), open_recording(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recording.json").write_text('{"format": 2}')
    with pytest.raises(InputError, match="has format 2; this version of Cutset reads format 1"):
        read_recording(tmp_path)


def test_a_folder_without_a_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no recording"):
        read_recording(tmp_path)


def test_what_was_appended_is_there_after_a_kill(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import open_recording
with open_recording(Path({str(tmp_path / "r")!r})) as recording:
    for number in range(100_000):
        recording.append([Exchange(str(number), "s", "", number, 0, "GET", "/", (), b"", 200)])
        print(number, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(20)]
    process.kill()
    lines += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    appended = {line.strip() for line in lines if line.endswith("\n")}
    assert appended <= {each.id for each in read_recording(tmp_path / "r").exchanges}
