"""Campaigns for a test framework: the request is code, and the laboratory stays open from one test to the next."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.app.check import check_campaign, require
from cutset.app.explore import Retrial, find_finding, open_laboratory, tried_in
from cutset.app.guarding import guarded, shown_as_active
from cutset.app.report import exit_code, replay_of
from cutset.campaign.explore import explore as run_campaign
from cutset.config.baseline import load_baseline
from cutset.config.explore import Config, adjusted, load_place, plan_key
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.inject.signing import seal_of
from cutset.model.campaign import Campaign, campaign_of
from cutset.model.event import CampaignEvent
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.request import Request
from cutset.model.run import Loop, RunStarted
from cutset.report.campaign.baseline import Comparison, compare
from cutset.report.campaign.gaps import asides, gaps
from cutset.report.campaign.terminal import describe_cut
from cutset.report.replaying import PYTEST
from cutset.search.strategy import Certificates
from cutset.store.ledger import open_existing_ledger, open_ledger
from cutset.store.runs import campaign_events, fingerprint, new_run


@dataclass(frozen=True, slots=True)
class PlaceForTests:
    """What all tests of one configuration have in common."""

    config: Config
    key: bytes
    store: Path


def open_place(config_file: Path, store: Path) -> PlaceForTests:
    config = load_place(config_file)
    return PlaceForTests(config, plan_key(config, os.environ), store)


def narrowed(
    config: Config,
    *,
    max_size: int | None = None,
    effects: Sequence[str] | None = None,
    certificates: str | None = None,
    experiments: int | None = None,
    minutes: float | None = None,
) -> Config:
    """As one test wants it. Bodies of tests run one after the other, and so do experiments."""
    limits = {"max_size": max_size, "experiments": experiments, "minutes": minutes, "parallel": 1}
    search = {"certificates": Certificates(certificates) if certificates else None}
    return adjusted(config, limits=limits, search=search, effects=effects or ())


@asynccontextmanager
async def opened_for_tests(
    place: PlaceForTests, request: Request, on_note: Callable[[str], None]
) -> AsyncIterator[MeshLaboratory]:
    """For all tests; the check-up before all experiments is made with this request."""
    config = replace(place.config, requests=(request,))
    async with (
        guarded(place.store, config.guards, Loop.CAMPAIGN, config.target.environment) as gate,
        open_laboratory(config, place.key, on_note, gate) as laboratory,
    ):
        gate.run = PYTEST
        yield laboratory


async def explore_code(
    config: Config, request: Request, laboratory: MeshLaboratory, place: PlaceForTests
) -> AsyncGenerator[CampaignEvent, None]:
    """Every event of the campaign, each after it was recorded."""
    started = RunStarted(
        loop=Loop.CAMPAIGN,
        fingerprint=fingerprint(
            requests=(request.name,),
            effects=config.effects,
            points=config.points,
            target=(config.target.url, config.target.environment),
        ),
        command=PYTEST,
        config=str(config.path or ""),
        part_of=PYTEST,  # so that the latest campaign, for whoever does not name one, is that of a person
    )
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(place.store, key=seal_of(place.key)))
        run = stack.enter_context(new_run(ledger, started))
        if laboratory.gate:
            what = tried_in(replace(config, requests=(request,)))
            stack.enter_context(shown_as_active(laboratory.gate, place.store, run, what, config=config.path))
        for event in campaign_events(ledger, run):
            yield event
        settings = replace(config.campaign, replicas=laboratory.replicas or config.campaign.replicas)
        async with aclosing(run_campaign(run, (request,), laboratory, ledger, settings)) as events:
            async for event in events:
                yield event


async def try_finding_again(finding: Finding, request: Request, laboratory: MeshLaboratory) -> Retrial:
    audited = await laboratory.audit(request)
    if not audited.healthy:
        return Retrial(finding, Outcome(finding.cut, Verdict.UNKNOWN, audited.reason))
    return Retrial(finding, await laboratory.run(request, finding.cut))


def recorded_finding(store: Path, finding_id: str) -> Finding:
    with open_existing_ledger(store) as ledger:
        return find_finding(ledger, finding_id)


@dataclass(frozen=True, slots=True)
class ExploredTest:
    """What a campaign over one test came to, after it was proven again from the ledger alone."""

    campaign: Campaign
    comparison: Comparison | None
    replay: str  # the command that tries a finding again, but for its id

    @property
    def failures(self) -> list[Finding]:
        """Those that nobody has accepted."""
        if self.comparison is None:
            return self.campaign.findings
        return [each.finding for each in self.comparison.failures]

    @property
    def is_open(self) -> bool:
        """Whether nobody can say that the test holds whatever was not found to fail it."""
        return not self.failures and exit_code(self.campaign.summary, self.comparison) != 0

    @property
    def left_open(self) -> list[str]:
        (request,) = self.campaign.summary.requests
        blind = self.comparison.blind(request.name) if self.comparison else ""
        return [*gaps(request, self.campaign.summary), *([blind] if blind else [])]

    def to_document(self) -> dict[str, object]:
        (request,) = self.campaign.summary.requests
        failures, started = {finding.id for finding in self.failures}, self.campaign.summary.started
        return {
            "test": request.name,
            "campaign": self.campaign.id,
            "experiments": request.experiments,
            "complete_up_to": request.complete_up_to,
            "max_size": started.max_size,
            "effects": [str(effect) for effect in started.effects.all],
            "rests_on": request.assumption,
            "findings": [
                {
                    "id": finding.id,
                    "cut": describe_cut(finding.cut, started.effects),
                    "user_sees": finding.outcome.reason,
                    "replay": f"{self.replay} {finding.id}",
                    "accepted": finding.id not in failures,
                    "minimal": request.is_minimal(finding),
                }
                for finding in request.findings
            ],
            "left_open": self.left_open,
            "asides": asides(request),
        }


def concluded(events: Sequence[CampaignEvent], place: PlaceForTests, baseline: Path | None) -> ExploredTest:
    """Raises RefutedError if what it claims does not follow from its record."""
    campaign = campaign_of(events)
    require(check_campaign(place.store, campaign.id, key=place.key))
    accepted = load_baseline(baseline) if baseline else None
    comparison = None if accepted is None else compare(accepted, campaign.events)
    return ExploredTest(campaign, comparison, replay_of(campaign, place.store))
