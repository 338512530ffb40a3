import asyncio
import json
from contextlib import aclosing

import httpx
import pytest
from tests.samples.simulated_campaign import REQUESTS, SETTINGS, SimulatedLaboratory

from cutset.app import served_run
from cutset.app.served_run import serve_run
from cutset.campaign.explore import explore
from cutset.errors import TargetError
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger
from cutset_demo.ports import free_port


async def campaign(store, fails=False):
    with open_ledger(store) as ledger:
        started = RunStarted(loop=Loop.CAMPAIGN, run="run")
        ledger.append("run", started)
        yield started
        if fails:
            raise TargetError("nobody is there", hint="look")
        async with aclosing(explore("run", REQUESTS, SimulatedLaboratory(), ledger, SETTINGS)) as events:
            async for event in events:
                yield event


async def fetched(port, after=0):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        lines = []
        async with client.stream("GET", "/events", params={"after": after}) as stream:
            lines = [json.loads(line) async for line in stream.aiter_lines() if line.strip()]
        await client.post("/fetched")
    return lines


def test_all_events_can_be_fetched_while_and_after_they_are_made_and_then_it_ends(tmp_path):
    async def scenario():
        port = free_port()
        seen = []

        async def run():
            async for event in serve_run(campaign(tmp_path), tmp_path, port):
                seen.append(event)  # noqa: PERF401 -- one by one: somebody looks on

        running = asyncio.ensure_future(run())
        while not seen:  # noqa: ASYNC110 -- another task does it
            await asyncio.sleep(0)
        lines = await fetched(port)
        await running

        with open_ledger(tmp_path) as ledger:
            records = ledger.records("run")
        assert [(each["at"], each["kind"], each["fields"]) for each in lines[:-1]] == records
        assert lines[-1] == {"end": True}
        assert len(seen) >= len(REQUESTS)

    asyncio.run(scenario())


def test_what_went_wrong_is_told_and_raised(tmp_path):
    async def scenario():
        port = free_port()

        async def run():
            async for _ in serve_run(campaign(tmp_path, fails=True), tmp_path, port):
                pass

        running = asyncio.ensure_future(run())
        await asyncio.sleep(0)
        lines = await fetched(port, after=1)
        assert lines == [{"end": True, "error": "nobody is there", "hint": "look", "kind": "TargetError"}]
        with pytest.raises(TargetError, match="nobody is there"):
            await running

    asyncio.run(scenario())


def test_what_nobody_fetches_is_not_kept_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(served_run, "KEPT_SECONDS", 0.01)

    async def scenario():
        return [event async for event in serve_run(campaign(tmp_path), tmp_path, free_port())]

    assert asyncio.run(scenario())
