import asyncio
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import simulated_campaign
from simulated_campaign import REQUESTS, SETTINGS, SYSTEMS, SimulatedLaboratory

from cutset.campaign.explore import CampaignSettings, explore
from cutset.errors import HaltedError
from cutset.inject.simulated import minimal_cuts_by_brute_force
from cutset.model.event import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Cut, points_of
from cutset.model.finding import findings_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.request import Request
from cutset.store.ledger import open_ledger

TRUTH = {(name, cut) for name, system in SYSTEMS.items() for cut in minimal_cuts_by_brute_force(system, 3)}


def run(store: Path, laboratory: SimulatedLaboratory, settings: CampaignSettings = SETTINGS) -> list[Event]:
    async def consume() -> list[Event]:
        with open_ledger(store) as ledger:
            return [event async for event in explore("only", REQUESTS, laboratory, ledger, settings)]

    return asyncio.run(consume())


def recorded(store: Path) -> list[Event]:
    with open_ledger(store) as ledger:
        return ledger.events("only")


def experiments_of(events: list[Event]) -> list[tuple[str, Cut]]:
    return [(event.request, event.outcome.cut) for event in events if isinstance(event, ExperimentFinished)]


def found(events: list[Event]) -> set[tuple[str, Points]]:
    return {(finding.request, points_of(finding.cut)) for finding in findings_of(events)}


def test_finds_every_minimal_cut_of_every_request(tmp_path: Path) -> None:
    events = run(tmp_path, SimulatedLaboratory())

    assert found(events) == TRUTH
    assert isinstance(events[0], CampaignStarted)
    assert events[-1] == CampaignFinished(reason="")
    assert events == recorded(tmp_path)


def test_a_campaign_killed_many_times_repeats_nothing_and_finds_the_same(tmp_path: Path) -> None:
    random_delays = random.Random(7)
    kills = 0
    while not any(isinstance(event, CampaignFinished) for event in recorded(tmp_path)):
        process = subprocess.Popen([sys.executable, simulated_campaign.__file__, tmp_path])
        before = len(experiments_of(recorded(tmp_path)))
        # Strike at some moment after the next experiment, wherever that is: in another one, in a write, in between.
        while process.poll() is None and len(experiments_of(recorded(tmp_path))) <= before:
            time.sleep(0.001)
        time.sleep(random_delays.uniform(0, 0.04))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL

    assert kills >= 5
    assert max(Counter(experiments_of(recorded(tmp_path))).values()) == 1
    assert found(recorded(tmp_path)) == TRUTH


def test_a_finished_request_is_not_explored_again_on_resumption(tmp_path: Path) -> None:
    run(tmp_path, SimulatedLaboratory())
    again = SimulatedLaboratory()

    run(tmp_path, again)

    assert again.ran == []


def test_a_spent_budget_ends_the_campaign_and_a_larger_one_continues_it(tmp_path: Path) -> None:
    first = SimulatedLaboratory()
    events = run(tmp_path, first, replace(SETTINGS, max_experiments=10))

    assert len(first.ran) == 10
    reasons = [event.reason for event in events if isinstance(event, RequestFinished)]
    assert "the budget of experiments is spent" in reasons
    assert isinstance(events[-1], CampaignFinished)
    assert events[-1].reason != ""

    second = SimulatedLaboratory()
    run(tmp_path, second)
    assert not set(first.ran) & set(second.ran)
    assert found(recorded(tmp_path)) == TRUTH


def test_no_more_experiments_are_in_flight_than_allowed(tmp_path: Path) -> None:
    class CountingLaboratory(SimulatedLaboratory):
        now = most = 0

        async def run(self, request: Request, cut: Cut) -> Outcome:
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                return await super().run(request, cut)
            finally:
                self.now -= 1

    laboratory = CountingLaboratory(pause=0.001)
    run(tmp_path, laboratory)

    assert laboratory.most == SETTINGS.parallel


def test_an_unhealthy_request_is_reported_and_not_explored(tmp_path: Path) -> None:
    class SickLaboratory(SimulatedLaboratory):
        async def audit(self, request: Request) -> RequestAudited:
            audited = await super().audit(request)
            return replace(audited, healthy=False, reason="down") if request.name == "GET /" else audited

    laboratory = SickLaboratory()
    events = run(tmp_path, laboratory)

    assert RequestFinished(request="GET /", complete_up_to=-1, reason="down") in events
    assert {name for name, _ in laboratory.ran} == {"POST /checkout"}
    assert events[-1] == CampaignFinished(reason="GET /: down")


def test_a_server_that_dies_and_stays_dead_halts_the_campaign_after_recording_it(tmp_path: Path) -> None:
    class DeadlyLaboratory(SimulatedLaboratory):
        async def run(self, request: Request, cut: Cut) -> Outcome:
            outcome = await super().run(request, cut)
            return replace(outcome, dead=("127.0.0.1:9",)) if outcome.verdict is Verdict.FAILED else outcome

        async def recovered(self) -> bool:
            return False

    with pytest.raises(HaltedError, match=r"127\.0\.0\.1:9 stopped answering"):
        run(tmp_path, DeadlyLaboratory())

    assert any(isinstance(event, ExperimentFinished) and event.outcome.dead for event in recorded(tmp_path))
