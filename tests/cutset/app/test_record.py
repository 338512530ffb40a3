import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import pytest

from cutset.app.record import (
    ExchangesRecorded,
    RecordEvent,
    RecordingAt,
    RecordingEnded,
    RecordSettings,
    record,
    record_har,
    record_taps,
)
from cutset.errors import UsageError
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import read_recording
from cutset.workload.recording.lines import exchange_to_line
from cutset.workload.recording.recorder import PATH

EXCHANGE = Exchange("1", "shop", "", 1.0, 0.0, "GET", "/", (("X-Pass", "opensesame"),), b"", 200)


async def recorded(settings: RecordSettings, command: Sequence[str] = ()) -> list[RecordEvent]:
    """An exchange is sent, and when it is seen in the recording, that is enough."""
    ended, events = asyncio.Event(), list[RecordEvent]()
    async for event in record(settings, ended, command=command):
        events.append(event)
        if isinstance(event, RecordingAt):
            async with aiohttp.ClientSession() as client:
                await client.post(event.url + PATH, data=exchange_to_line(EXCHANGE))
        elif isinstance(event, ExchangesRecorded) and event.number and not command:
            ended.set()
    return events


def test_exchanges_are_recorded_masked_until_it_is_ended(tmp_path: Path) -> None:
    settings = RecordSettings(tmp_path / "r", mask=["x-pass"])
    last = asyncio.run(recorded(settings))[-1]
    assert last == RecordingEnded(exchanges=1, full=False, refused=0, problem="", code=0)
    (exchange,) = read_recording(tmp_path / "r").exchanges
    assert exchange.request_headers[0][1].startswith("masked-")


def test_a_full_recording_ends_by_itself(tmp_path: Path) -> None:
    last = asyncio.run(recorded(RecordSettings(tmp_path / "r", max_bytes=10)))[-1]
    assert isinstance(last, RecordingEnded)
    assert (last.exchanges, last.full, last.refused) == (0, True, 1)
    assert "is full" in last.problem


def test_it_ends_with_its_command_and_has_its_code(tmp_path: Path) -> None:
    last = asyncio.run(recorded(RecordSettings(tmp_path / "r"), [sys.executable, "-c", "raise SystemExit(7)"]))[-1]
    assert isinstance(last, RecordingEnded)
    assert (last.exchanges, last.code) == (1, 7)


def test_files_of_browsers_and_meshes_are_recorded(tmp_path: Path) -> None:
    entry = {
        "startedDateTime": "2026-11-16T06:33:15Z",
        "time": 1,
        "request": {"method": "GET", "url": "http://shop.example/a", "headers": []},
        "response": {"status": 200, "headers": [], "content": {"text": "{}"}},
    }
    (tmp_path / "log.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (tmp_path / "taps").mkdir()
    (tmp_path / "taps" / "shop_1.json").write_text("{half")

    settings = RecordSettings(tmp_path / "r")
    assert record_har(settings, tmp_path / "log.har").host == "shop.example"
    assert record_taps(settings, tmp_path / "taps").skipped == 1
    assert [exchange.path for exchange in read_recording(tmp_path / "r").exchanges] == ["/a"]
    with pytest.raises(UsageError, match="is no folder"):
        record_taps(settings, tmp_path / "absent")
