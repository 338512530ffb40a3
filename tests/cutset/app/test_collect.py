import asyncio
import json
import time
from pathlib import Path

import aiohttp

from cutset.app.collect import Collected, CollectEvent, CollectingAt, CollectingEnded, collect_traces
from cutset.inject.plan import plan_headers
from cutset.model.fault import cut_of
from cutset.model.point import Point

SPAN = {"traceId": "1" * 32, "spanId": "1" * 16}
LINE = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}, separators=(",", ":"))

HEADERS = plan_headers(
    cut_of([Point("cart", "GET /")]),
    trace_id="1" * 32,
    span_id="1" * 16,
    key=b"k" * 32,
    environment="test",
    expires=time.time() + 60,
    catalogue=(),
    carriers=("tracestate",),
)
PLANNED = LINE.replace('"spanId"', f'"traceState":"{HEADERS["tracestate"]}","spanId"')


async def collected(out: Path, max_bytes: int) -> list[CollectEvent]:
    """A payload is sent as soon as it can be; the second time it is seen, that is enough."""
    ended, events = asyncio.Event(), list[CollectEvent]()
    async for event in collect_traces(out, ended, http_port=0, grpc_port=0, max_bytes=max_bytes):
        events.append(event)
        if isinstance(event, CollectingAt):
            async with aiohttp.ClientSession() as client:
                headers = {"content-type": "application/json"}
                await client.post(f"{event.http_url}/v1/traces", data=LINE, headers=headers)
        elif sum(isinstance(event, Collected) for event in events) == 2:
            ended.set()
    return events


def test_payloads_are_written_until_it_is_ended(tmp_path: Path) -> None:
    *_, before, last = asyncio.run(collected(tmp_path / "spans.jsonl", 1000))
    assert isinstance(before, Collected)
    assert isinstance(last, CollectingEnded)
    assert (last.stats.spans, last.full, last.problem) == (1, False, None)
    assert (tmp_path / "spans.jsonl").read_text() == LINE + "\n"


def test_a_full_file_ends_it(tmp_path: Path) -> None:
    _, last = asyncio.run(collected(tmp_path / "spans.jsonl", 10))
    assert isinstance(last, CollectingEnded)
    assert (last.stats.refused, last.full) == (1, True)
    assert (tmp_path / "spans.jsonl").read_text() == ""


def test_without_a_file_payloads_are_handed_on_to_readers_without_their_plans() -> None:
    async def scenario() -> str:
        ended, told = asyncio.Event(), ""
        async for event in collect_traces(None, ended, http_port=0, grpc_port=0, relay_port=0):
            if isinstance(event, CollectingAt):
                async with aiohttp.ClientSession() as client, client.get(f"{event.relay_url}/spans") as stream:
                    headers = {"content-type": "application/json"}
                    await client.post(f"{event.http_url}/v1/traces", data=PLANNED, headers=headers)
                    told = (await stream.content.readline()).decode()
                ended.set()
        return told

    told = asyncio.run(scenario())
    assert "1" * 32 in told
    assert HEADERS["tracestate"] in PLANNED
    assert HEADERS["tracestate"] not in told
