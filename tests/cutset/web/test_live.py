"""What is sent to whoever watches, over a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from tests.samples.campaign import EVENTS, experiment
from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import text_of

from cutset.model.outcome import Verdict
from cutset.web import live
from cutset.web.dashboard import Dashboard
from cutset.web.live import LEAST_SECONDS, MOST_SECONDS, MOST_STREAMS, LivePace, PageLook, live_parts
from cutset.web.reading import Reading
from cutset.web.server import served_dashboard


@dataclass(frozen=True, slots=True)
class Watching:
    dashboard: Dashboard
    client: aiohttp.ClientSession
    url: str

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncIterator["Stream"]:
        async with self.client.get(f"{self.url}{path}", headers=headers) as answer:
            yield Stream(answer)


@dataclass(slots=True)
class Stream:
    answer: aiohttp.ClientResponse
    last_id: str = ""
    comments: list[str] = field(default_factory=list)

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The kind of the next event, and what it says."""
        kind = "message"
        while line := (await self.answer.content.readline()).decode():
            name, _, value = line.strip().partition(": ")
            if name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                return kind, json.loads(value)
            elif line.startswith(":"):
                self.comments.append(value)
        return "closed", {}


@asynccontextmanager
async def watching(store: Path) -> AsyncIterator[Watching]:
    with ExitStack() as stack:
        dashboard = Dashboard(Reading(store, stack), read_only=True)
        async with (
            served_dashboard(dashboard) as link,
            aiohttp.ClientSession(
                read_bufsize=2**20, timeout=aiohttp.ClientTimeout(total=None, sock_read=30)
            ) as client,
        ):
            yield Watching(dashboard, client, f"http://127.0.0.1:{urlsplit(link).port}")


def test_experiments_of_another_process_are_seen_as_they_happen_until_it_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watching(tmp_path) as where:
            with ExitStack() as running:
                run, ledger = running.enter_context(campaign_under_way(tmp_path))
                for event in EVENTS[:6]:
                    ledger.append(run, event)
                async with where.stream(f"/live/campaigns/{run}") as stream:
                    _, first = await stream.next()
                    assert "under way" in text_of(first["parts"]["controls"])
                    assert "somebody@host runs it, in process 4711" in text_of(first["parts"]["controls"])
                    ledger.append(run, experiment("GET /", Verdict.FAILED, "500", "new/Call"))
                    _, second = await stream.next()
                    assert "✗ fails new/Call" in text_of(second["parts"]["experiments"])
                    assert "controls" not in second["parts"]  # which is what it was
                    assert second["status"] == "2 experiments, 1 failed"
                    running.close()
                    kinds = [await stream.next() for _ in range(2)]
                    assert "unfinished" in text_of(kinds[0][1]["parts"]["controls"])
                    assert kinds[1] == ("end", {"status": "2 experiments, 1 failed"})
                    assert await stream.next() == ("closed", {})

    asyncio.run(scenario())


def test_nothing_hides_in_what_is_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watching(tmp_path) as where:
            with campaign_under_way(tmp_path) as (run, ledger):
                for event in EVENTS[:6]:
                    ledger.append(run, event)
                ledger.append(run, experiment("GET /", Verdict.FAILED, "\u202e500\x1b[2J<script>", "new/Call"))
                async with where.stream(f"/live/campaigns/{run}") as stream:
                    _, told = await stream.next()
                    assert "\\u202e500\\x1b[2J&lt;script&gt;" in told["parts"]["experiments"]
                    assert "\u202e" not in told["parts"]["experiments"]

    asyncio.run(scenario())


def test_who_comes_back_is_sent_only_what_changed_meanwhile(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watching(tmp_path) as where:
            with campaign_under_way(tmp_path) as (run, ledger):
                ledger.append(run, EVENTS[0])
                async with where.stream(f"/live/campaigns/{run}") as stream:
                    await stream.next()
                async with where.stream(f"/live/campaigns/{run}", **{"last-event-id": stream.last_id}) as again:
                    ledger.append(run, EVENTS[1])
                    ledger.append(run, experiment("GET /", Verdict.SURVIVED, "200", "a/1"))
                    _, told = await again.next()
                    assert "controls" not in told["parts"]
                    assert "experiments" in told["parts"]
                async with where.stream(f"/live/campaigns/{run}?seen={again.last_id}") as third:
                    ledger.append(run, experiment("GET /", Verdict.SURVIVED, "200", "a/2"))
                    _, told = await third.next()
                    assert "controls" not in told["parts"]

    asyncio.run(scenario())


def test_what_has_ended_is_told_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        record(tmp_path, "done")
        async with watching(tmp_path) as where, where.stream("/live/campaigns/done?seen=something-else") as stream:
            assert [(await stream.next())[0] for _ in range(3)] == ["message", "end", "closed"]
        async with watching(tmp_path) as where, where.client.get(f"{where.url}/live/campaigns/absent") as answer:
            assert answer.status == 404

    asyncio.run(scenario())


def test_whoever_leaves_ends_the_stream(tmp_path: Path) -> None:
    async def scenario() -> None:
        with campaign_under_way(tmp_path) as (run, _):
            async with watching(tmp_path) as where:
                async with where.stream(f"/live/campaigns/{run}") as stream:
                    await stream.next()
                    assert where.dashboard.pace.streams == 1
                while where.dashboard.pace.streams:  # noqa: ASYNC110 -- nobody is told when somebody has left
                    await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_the_end_of_the_server_ends_the_stream_of_who_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        with campaign_under_way(tmp_path) as (run, _):
            async with aiohttp.ClientSession(read_bufsize=2**20) as staying:
                async with watching(tmp_path) as where:
                    kept = await staying.get(f"{where.url}/live/campaigns/{run}")
                    await Stream(kept).next()
                    assert where.dashboard.pace.streams == 1
                assert where.dashboard.pace.streams == 0
                kept.close()

    asyncio.run(scenario())


def test_too_many_who_watch_are_told_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        with campaign_under_way(tmp_path) as (run, _):
            async with watching(tmp_path) as where:
                where.dashboard.pace.streams = MOST_STREAMS
                async with where.client.get(f"{where.url}/live/campaigns/{run}") as answer:
                    assert (answer.status, await answer.text()) == (503, "Too many are watching: close another page")
                where.dashboard.pace.streams = 0

    asyncio.run(scenario())


def test_where_nothing_happens_somebody_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_SECONDS", 0.0)

    async def scenario() -> None:
        with campaign_under_way(tmp_path) as (run, _):
            async with watching(tmp_path) as where, where.stream(f"/live/campaigns/{run}") as stream:
                await stream.next()
                line = b""
                while b"still here" not in line:
                    line = await stream.answer.content.readline()

    asyncio.run(scenario())


def test_what_many_watch_is_computed_once_and_again_only_after_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    now, computed, pace = [100.0], [], LivePace()
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])

    def compute(seconds: float) -> int:
        now[0] += seconds
        computed.append(now[0])
        return len(computed)

    assert [pace.computed("x", 1, lambda: compute(0.25)) for _ in range(3)] == [1, 1, 1]
    now[0] += 0.9  # the rest is four times as long as it took
    assert pace.computed("x", 2, lambda: compute(0.0)) == 1
    now[0] += 0.2
    assert pace.computed("x", 2, lambda: compute(0.0)) == 2
    now[0] += LEAST_SECONDS / 2
    assert pace.computed("x", 3, lambda: compute(0.0)) == 2
    assert pace.computed("x", 3, lambda: compute(60.0), hurried=True) == 3
    now[0] += MOST_SECONDS
    assert pace.computed("x", 4, lambda: compute(0.0)) == 4


def test_parts_are_where_the_script_finds_them_while_there_is_something_to_wait_for() -> None:
    going, ended = (PageLook({"a": "<b>x</b>"}, ended=each) for each in (False, True))

    assert f'data-live="/live/x" data-version="{going.version}"' in str(live_parts(going, "/live/x"))
    assert '<section id="a"><b>x</b></section>' in str(live_parts(going, "/live/x"))
    assert (going.scripts, ended.scripts) == (("live.js",), ())
    assert "data-live" not in str(live_parts(ended, "/live/x"))
