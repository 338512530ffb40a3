"""A Deployment restarts during a campaign: nothing is found that is not there, and all that is."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.istio.commands import configured, installed, roll_out, wait_until_rolled_out
from tests.istio.conftest import Laboratory

from cutset.app.explore import explore
from cutset.config.explore import load_config, plan_key
from cutset.model.campaign import campaign_of
from cutset.model.event import CampaignEvent, RequestAudited
from cutset.model.fault import points_of


@pytest.fixture(scope="module")
def folder(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("rollout")
    requests = [{"name": f"page {number}", "path": f"/page/{number}"} for number in range(3)]
    configured(folder, laboratory, requests=requests, points="replica", limits={"max_size": 2, "parallel": 16})
    with installed(laboratory, folder):
        yield folder


def pods(laboratory: Laboratory) -> set[str]:
    return {each["metadata"]["name"] for each in laboratory.pods(laboratory.namespace, "app=backend")}


def test_a_rollout_during_a_campaign_makes_no_false_finding_and_hides_no_true_one(
    folder: Path, laboratory: Laboratory
) -> None:
    config = load_config(folder / "cutset.yaml")
    key = plan_key(config, {"XDG_CONFIG_HOME": str(folder)})
    before = pods(laboratory)

    async def scenario() -> list[CampaignEvent]:
        events: list[CampaignEvent] = []
        async for event in explore(config, key=key, store=folder / "store"):
            events.append(event)
            if isinstance(event, RequestAudited) and event.request == "page 0":
                await asyncio.to_thread(roll_out, laboratory, "backend", "2026-01-01T00:00:01Z")
        return events

    campaign = campaign_of(asyncio.run(scenario()))
    wait_until_rolled_out(laboratory, "backend")
    assert not pods(laboratory) & before, "nothing was rolled out"

    for request in config.requests:
        found = {
            tuple(sorted(map(str, points_of(finding.cut))))
            for finding in campaign.findings
            if finding.request == request.name
        }
        path = f"GET {request.step.path.rpartition('/')[0]}/*" if "*" in str(found) else f"GET {request.step.path}"
        assert found == {(f"backend/{path}#1",), (f"backend/{path}#2",), ("quote/Say#1",)}
    assert campaign.summary.complete
