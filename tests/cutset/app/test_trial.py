"""What does not need services; experiments by hand on real ones are in `tests/end_to_end`."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cutset.app.test_explore import CONFIG, KEY
from tests.samples.broken_service import broken_service
from tests.samples.campaign import cut

from cutset.app.explore import explore
from cutset.app.report import read_campaign
from cutset.app.trial import try_cut
from cutset.config.explore import load_config
from cutset.errors import HaltedError, UsageError
from cutset.guards.halting import HaltOrder, give_order
from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger

REQUEST = "POST /account"


@pytest.fixture
def config_file(tmp_path: Path) -> Iterator[Path]:
    """Of a system in which nothing works, and which was explored."""
    with broken_service() as (url, collector_port):
        file = tmp_path / "cutset.yaml"
        file.write_text(CONFIG.replace("URL", url).replace("PORT", str(collector_port)))
        collect(explore(load_config(file), key=KEY, store=tmp_path / "store"))
        yield file


def collect(events: object) -> list[CampaignEvent]:
    async def collected() -> list[CampaignEvent]:
        return [event async for event in events]  # type: ignore[attr-defined]

    return asyncio.run(collected())


def tried(config_file: Path, *faults: str, request: str = REQUEST) -> list[CampaignEvent]:
    store = config_file.parent / "store"
    campaign = read_campaign(store).id
    return collect(try_cut(load_config(config_file), request, cut(*faults), key=KEY, store=store, part_of=campaign))


def test_it_is_a_run_of_its_own_on_behalf_of_the_campaign(config_file: Path) -> None:
    campaign = read_campaign(config_file.parent / "store").id

    first, begun, *_, finished, _ = tried(config_file, "x/Y")

    assert isinstance(first, RunStarted)
    assert (first.loop, first.part_of, first.command) == (Loop.CAMPAIGN, campaign, "explore")
    assert first.run not in ("", campaign)
    assert isinstance(begun, CampaignStarted)
    assert begun.requests == (REQUEST,)
    assert isinstance(finished, RequestFinished)
    assert "without faults failed" in finished.reason


def test_nothing_and_what_nobody_knows_is_not_tried(config_file: Path) -> None:
    with pytest.raises(UsageError, match="nothing to try"):
        tried(config_file)
    with pytest.raises(UsageError, match="no request `GET /nowhere`"):
        tried(config_file, "x/Y", request="GET /nowhere")


def test_it_is_not_tried_on_another_system_than_the_campaigns(config_file: Path) -> None:
    config_file.write_text(config_file.read_text().replace("target: {url:", "target: {environment: other, url:"))

    with pytest.raises(UsageError, match="was of another system"):
        tried(config_file, "x/Y")


def test_who_ordered_a_halt_is_obeyed(config_file: Path) -> None:
    store = config_file.parent / "store"
    give_order(store, HaltOrder())

    with pytest.raises(HaltedError):
        tried(config_file, "x/Y")
    with open_ledger(store) as ledger:
        assert [run.started.part_of for run in ledger.runs(Loop.CAMPAIGN)] == [""]
