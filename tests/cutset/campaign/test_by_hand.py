import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.simulated_campaign import REQUESTS, SimulatedLaboratory

from cutset.campaign.by_hand import ASKED_FOR, try_by_hand
from cutset.check import check
from cutset.errors import HaltedError
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.summary import summarise
from cutset.simulation.simulated import Call, all_points
from cutset.store.ledger import NAME, open_ledger
from cutset.store.runs import campaign_events

HOME = REQUESTS[0]
OF = CampaignStarted(
    requests=("GET /", "POST /checkout"), max_size=3, strategy="cuts", certificates="exact", repeats=2, trials=10
)


def session() -> Cut:
    return cut_of(all_points(Call("session")))


def tried(store: Path, cut: Cut, laboratory: SimulatedLaboratory | None = None) -> list[CampaignEvent]:
    async def collected() -> list[CampaignEvent]:
        with open_ledger(store) as ledger:
            ledger.append("by-hand", RunStarted(loop=Loop.CAMPAIGN, run="by-hand", part_of="campaign"))
            events = try_by_hand("by-hand", HOME, cut, laboratory or SimulatedLaboratory(), ledger, of=OF)
            found = [event async for event in events]
            assert campaign_events(ledger, "by-hand")[1:] == found
            return found

    return asyncio.run(collected())


def test_one_experiment_is_recorded_as_any_other_and_claims_nothing_more(tmp_path: Path) -> None:
    started, audited, experiment, finished, ended = tried(tmp_path, session())

    assert started == replace(OF, requests=("GET /",), max_size=1, strategy="", across_requests="")
    assert isinstance(audited, RequestAudited)
    assert isinstance(experiment, ExperimentFinished)
    assert (experiment.outcome.cut, experiment.outcome.verdict) == (session(), Verdict.FAILED)
    assert finished == RequestFinished(request="GET /", complete_up_to=-1, reason=ASKED_FOR)
    assert ended == RunFinished()


def test_the_checker_finds_nothing_wrong_with_it_and_nothing_proven(tmp_path: Path) -> None:
    events = tried(tmp_path, session())

    checked = check(tmp_path / NAME, "by-hand")
    assert not checked.refuted
    assert not checked.proven
    assert not summarise(events).complete


def test_what_stays_unknown_is_said_to_be_undecided(tmp_path: Path) -> None:
    nobody_calls = cut_of([Point("nobody", "Get")])

    *_, finished, _ = tried(tmp_path, nobody_calls)

    assert isinstance(finished, RequestFinished)
    assert finished.undecided == (nobody_calls,)


def test_a_request_that_fails_by_itself_is_not_experimented_on(tmp_path: Path) -> None:
    class Broken(SimulatedLaboratory):
        async def audit(self, request: Request) -> RequestAudited:
            return replace(await super().audit(request), healthy=False, reason="it is down")

    laboratory = Broken()
    _, _, finished, _ = tried(tmp_path, session(), laboratory)

    assert finished == RequestFinished(request="GET /", complete_up_to=-1, reason="it is down")
    assert not laboratory.ran


def test_a_server_that_does_not_come_back_is_told_after_all_is_recorded(tmp_path: Path) -> None:
    class Deadly(SimulatedLaboratory):
        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            return replace(await super().run(request, cut), dead=("127.0.0.1:5001",))

        async def recovered(self) -> bool:
            return False

    with pytest.raises(HaltedError, match=r"127\.0\.0\.1:5001 stopped answering"):
        tried(tmp_path, session(), Deadly())
    with open_ledger(tmp_path) as ledger:
        assert isinstance(campaign_events(ledger, "by-hand")[-1], RunFinished)
