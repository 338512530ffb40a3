import asyncio
import gzip
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from cutset.errors import TargetError
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import open_recording, read_recording
from cutset.workload.recording.lines import exchange_to_line
from cutset.workload.recording.masking import masker
from cutset.workload.recording.recorder import PATH, Recorder, receive_exchanges


def line(number: int, **changes: object) -> bytes:
    fields = {"id": str(number), "service": "s", "trace_id": "", "started_at": 1.0, "seconds": 0.0, "method": "GET"}
    fields |= {"path": "/", "request_headers": (), "request_body": b"", "status": 200}
    return exchange_to_line(Exchange(**(fields | changes)))  # type: ignore[arg-type]


def while_receiving(
    folder: Path, act: Callable[[Recorder, aiohttp.ClientSession], Awaitable[None]], max_bytes: int = 10**9
) -> None:
    async def scenario() -> None:
        with open_recording(folder, max_bytes=max_bytes) as recording:
            async with receive_exchanges(recording, masker()) as recorder, aiohttp.ClientSession() as client:
                await act(recorder, client)

    asyncio.run(scenario())


def test_what_is_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    async def act(recorder: Recorder, client: aiohttp.ClientSession) -> None:
        for number in range(0, 10, 2):
            async with client.post(recorder.url + PATH, data=line(number) + line(number + 1)) as response:
                assert await response.json() == {"accepted": 2}
            assert len(read_recording(tmp_path / "r").exchanges) == number + 2

    while_receiving(tmp_path / "r", act)


def test_gzip_is_taken_with_all_of_its_members(tmp_path: Path) -> None:
    async def act(recorder: Recorder, client: aiohttp.ClientSession) -> None:
        headers = {"Content-Encoding": "gzip"}
        async with client.post(recorder.url + PATH, data=gzip.compress(line(1)), headers=headers) as response:
            assert response.status == 200
        members = gzip.compress(line(2)) + gzip.compress(line(3))
        async with client.post(recorder.url + PATH, data=members, headers=headers) as response:
            assert await response.json() == {"accepted": 2}
        async with client.post(recorder.url + PATH, data=gzip.compress(line(4))[:-4], headers=headers) as response:
            assert response.status == 400
        assert [exchange.id for exchange in read_recording(tmp_path / "r").exchanges] == ["1", "2", "3"]

    while_receiving(tmp_path / "r", act)


def test_a_malformed_batch_leaves_nothing_and_says_what_is_wrong(tmp_path: Path) -> None:
    async def act(recorder: Recorder, client: aiohttp.ClientSession) -> None:
        async with client.post(recorder.url + PATH, data=line(1) + b'{"id": 7}\n') as response:
            assert response.status == 400
            assert (await response.json())["message"] == "line 2: `id`: expected text, found `7`"
        async with client.get(recorder.url + "/") as response:
            assert response.status == 404
        assert recorder.refused == 2
        assert read_recording(tmp_path / "r").exchanges == ()

    while_receiving(tmp_path / "r", act)


def test_a_full_recording_refuses_with_its_own_status(tmp_path: Path) -> None:
    async def act(recorder: Recorder, client: aiohttp.ClientSession) -> None:
        async with client.post(recorder.url + PATH, data=line(1)) as response:
            assert response.status == 507
            assert "is full" in (await response.json())["message"]

    while_receiving(tmp_path / "r", act, max_bytes=10)


def test_secrets_are_masked_before_they_are_written(tmp_path: Path) -> None:
    async def act(recorder: Recorder, client: aiohttp.ClientSession) -> None:
        secret = line(1, request_headers=(("Authorization", "Bearer correct-horse"),))
        async with client.post(recorder.url + PATH, data=secret) as response:
            assert response.status == 200

    while_receiving(tmp_path / "r", act)
    (_, value) = read_recording(tmp_path / "r").exchanges[0].request_headers[0]
    assert value.startswith("Bearer masked-")


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    async def act(recorder: Recorder, _: aiohttp.ClientSession) -> None:
        port = int(recorder.url.rpartition(":")[2])
        with pytest.raises(TargetError, match=f"127.0.0.1:{port}`: the port is in use"):
            async with receive_exchanges(recorder.recording, recorder.mask, port=port):
                pass

    while_receiving(tmp_path / "r", act)
