"""One cut, tried by hand on a shop that somebody else runs, after a campaign that stopped too early to know."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.app.audit import read_audit
from cutset.app.check import check_campaign
from cutset.app.demo import Boutique
from cutset.app.explore import explore, find_finding
from cutset.app.report import explain, list_campaigns, read_campaign
from cutset.app.trial import try_cut
from cutset.config.explore import adjusted, load_config
from cutset.errors import UsageError
from cutset.model.event import CampaignEvent, RequestFinished
from cutset.model.fault import Fault
from cutset.model.outcome import Verdict
from cutset.store.ledger import open_existing_ledger

KEY = b"a key for tests that nobody guesses"
CHECKOUT = "POST /cart/checkout"
CUT = "checkout/PlaceOrder"


@pytest.fixture(scope="module")
def campaign(boutique: tuple[Boutique, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Its store and its id: of a campaign with a budget of one experiment."""
    store = tmp_path_factory.mktemp("campaign")
    config = adjusted(load_config(boutique[0].config_file), requests=[CHECKOUT], limits={"experiments": 1})

    async def explored() -> None:
        async for _ in explore(config, key=KEY, store=store):
            pass

    asyncio.run(explored())
    return store, read_campaign(store).id


def tried(boutique: Boutique, campaign: tuple[Path, str], *faults: str) -> list[CampaignEvent]:
    async def collected() -> list[CampaignEvent]:
        cut = frozenset(map(Fault.parse, faults))
        config = load_config(boutique.config_file)
        return [
            event async for event in try_cut(config, CHECKOUT, cut, key=KEY, store=campaign[0], part_of=campaign[1])
        ]

    return asyncio.run(collected())


def test_what_a_campaign_left_open_is_known_after_one_experiment_by_hand(
    boutique: tuple[Boutique, Path], campaign: tuple[Path, str]
) -> None:
    store, run = campaign
    _, (before,) = explain(store, run, CUT, [CHECKOUT])
    assert (before.verdict, before.can_be_tried) == (Verdict.UNKNOWN, True)

    events = tried(boutique[0], campaign, CUT)

    _, (after,) = explain(store, run, CUT, [CHECKOUT])
    assert after.verdict is Verdict.FAILED
    assert after.explanation.reason == "It was injected and failed."
    assert after.by_hand_at is not None
    (ended,) = [event for event in events if isinstance(event, RequestFinished)]
    assert (ended.complete_up_to, ended.reason) == (-1, "one experiment was asked for, and no search")


def test_an_experiment_by_hand_is_no_campaign_for_anybody(
    boutique: tuple[Boutique, Path], campaign: tuple[Path, str]
) -> None:
    store, run = campaign
    tried(boutique[0], campaign, CUT)

    assert read_campaign(store).id == run
    by_hand = list_campaigns(store)[-1]
    assert (by_hand.started.part_of, by_hand.finished) == (run, True)
    checked = check_campaign(store, by_hand.id, key=KEY)
    assert not checked.refuted
    assert not checked.proven
    assert not read_campaign(store, by_hand.id).complete
    with open_existing_ledger(store) as ledger:  # what it found can be replayed as any other
        (finding,) = read_campaign(store, by_hand.id).findings
        assert find_finding(ledger, finding.id).cut == finding.cut
    assert [entry.cut for entry in read_audit(store, run=by_hand.id)]


def test_it_is_not_tried_on_another_system(boutique: tuple[Boutique, Path], campaign: tuple[Path, str]) -> None:
    other = load_config(boutique[0].config_file)
    elsewhere = replace(other, target=replace(other.target, environment="elsewhere"))
    events = try_cut(
        elsewhere, CHECKOUT, frozenset({Fault.parse(CUT)}), key=KEY, store=campaign[0], part_of=campaign[1]
    )

    with pytest.raises(UsageError, match="was of another system"):
        asyncio.run(anext(events))
