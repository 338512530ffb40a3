"""Hardens against what a campaign found: decides what, tries it on the running system, and says what it comes to."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cutset.app.explore import explore, open_laboratory, tried_in
from cutset.app.guarding import guarded, shown_as_active
from cutset.app.harden_grounds import Grounds, bounds_of_rates, failure_rates_of, gather, known_rates
from cutset.app.harden_place import Apply, Steps, opened_place, services_of_file
from cutset.app.harden_problem import HardenOptions, Posed, best_choice, classes_of, pose
from cutset.app.harden_undo import put_right
from cutset.app.report import read_campaign
from cutset.config.explore import Config
from cutset.config.harden import HardenChoice
from cutset.errors import InputError, TargetError, UsageError
from cutset.guards.brake import Brake
from cutset.harden.decision import Decision, Hardening, TriedHardening, advice_of, sites_of
from cutset.harden.odds import Odds, hardened_by, odds_of, within_bounds
from cutset.harden.traffic import pace_of
from cutset.harden.verification import verification_of
from cutset.inject.local.change import require_changeable
from cutset.lineage.path import Level
from cutset.manifests import folder
from cutset.manifests.istio import istio_manifests
from cutset.model.campaign import Campaign, campaign_of
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.hardening import (
    CallsObserved,
    HardeningEvent,
    HardeningStarted,
    HealthJudged,
    MeshChanging,
    MeshRestored,
)
from cutset.model.outcome import Verdict
from cutset.model.run import Loop, RunFinished, RunRecord, RunStarted
from cutset.report.hardening.markdown import to_markdown
from cutset.report.hardening.page import hardening_page
from cutset.report.replaying import replay_command, resume_command, undo_command
from cutset.store.ledger import Ledger, open_ledger
from cutset.store.runs import campaign_events, fingerprint, hardening_events, new_run, resumed_run
from cutset.verify.run import Undertaking, try_hardening

TrialEvent = HardeningEvent | CampaignEvent  # of a campaign: when it is explored again


@dataclass(frozen=True, slots=True)
class Decided:
    posed: Posed
    decision: Decision

    @property
    def grounds(self) -> Grounds:
        return self.posed.grounds


def decide(store: Path, campaign: str, wishes: HardenChoice, options: HardenOptions) -> Decided:
    """What to harden, proven best. The campaign is by default the latest."""
    return decided_on(posed_on(gather(read_campaign(store, campaign), store, wishes), wishes, options))


def posed_on(grounds: Grounds, wishes: HardenChoice, options: HardenOptions) -> Posed:
    if not grounds.findings:
        raise UsageError(f"Campaign `{grounds.campaign.id}` has no findings: there is nothing to harden")
    return pose(grounds, wishes, options)


def decided_on(posed: Posed) -> Decided:
    """For the budget of its options."""
    grounds, choice = posed.grounds, best_choice(posed)
    decision = Decision(tuple(grounds.findings), posed.problem, choice, grounds.evidence, posed.wishes.fallbacks)
    return Decided(posed, decision)


async def try_out(
    decided: Decided, steps: Steps, config: Config, *, key: bytes, resume: bool = False
) -> AsyncGenerator[TrialEvent, None]:
    """Every event of the hardening from its beginning on, each after it was recorded.

    If it cannot be done, that is told within seconds, and before anything is begun.
    """
    grounds, config = decided.grounds, _as_explored(config, decided.grounds.campaign.summary.started)
    if steps.apply:
        _require_decided(grounds)
        if steps.apply is Apply.LOCAL:
            await asyncio.to_thread(require_changeable, steps.mesh_file or Path())
    started = _as_it_starts(decided, steps, config)
    Brake(grounds.store).check()
    if steps.apply is Apply.ISTIO and not resume:
        await put_right(grounds.store)
    with open_ledger(grounds.store) as ledger, (resumed_run if resume else new_run)(ledger, started) as run:
        past = hardening_events(ledger, run)
        for event in past:
            yield event
        restored = False
        async with (
            guarded(grounds.store, config.guards, Loop.HARDENING, config.target.environment) as gate,
            open_laboratory(config, key, gate=gate) as laboratory,
            opened_place(steps, config, laboratory) as (place, services),
        ):
            wanted = Undertaking(
                campaign=grounds.campaign.id,
                requests=config.requests,
                services=services,
                place=place,
                recheck=steps.verify,
                parallel=config.limits.parallel,
            )
            record = partial(ledger.append, run)
            trial = try_hardening(decided.decision, wanted, laboratory, past=past, record=record)
            with shown_as_active(gate, grounds.store, run, _rechecked_in(config, steps), config=config.path):
                async with aclosing(trial) as events:
                    async for event in events:
                        restored = isinstance(event, MeshRestored)
                        yield event
        finished = RunFinished()
        if steps.verify and steps.explore and not restored:
            async with aclosing(_explore_again(ledger, run, config, key)) as campaign:
                async for explored in campaign:
                    finished = explored if isinstance(explored, RunFinished) else finished
                    yield explored
        ledger.append(run, finished)
        yield finished


def can_resume(run: RunRecord, decided: Decided, steps: Steps, config: Config) -> bool:
    """Whether this unfinished run was begun for the same."""
    same = _as_it_starts(decided, steps, _as_explored(config, decided.grounds.campaign.summary.started))
    return not run.finished and dict(run.started.fingerprint) == dict(same.fingerprint)


def _as_it_starts(decided: Decided, steps: Steps, config: Config) -> RunStarted:
    grounds = decided.grounds
    return RunStarted(
        loop=Loop.HARDENING,
        fingerprint=fingerprint(
            campaign=grounds.campaign.id,
            options=[decided.posed.options, decided.posed.wishes, steps],
            traces=grounds.traces,
            requests=config.requests,
            target=(config.target.url, config.target.environment),
        ),
        command="harden",
        config=str(config.path or ""),
    )


def _rechecked_in(config: Config, steps: Steps) -> str:
    if not steps.verify:
        return "nothing: a hardening is put into the mesh, and requests are sent without faults"
    return f"known cuts again: {tried_in(config)}"


def conclude(decided: Decided, steps: Steps, events: Sequence[TrialEvent] = ()) -> Hardening:
    """What the decision comes to, and what trying it out showed, if it was: all events of `try_out`."""
    decision, grounds = decided.decision, decided.grounds
    trial = next((event for event in events if isinstance(event, HardeningStarted)), None)
    observed = next((event for event in events if isinstance(event, CallsObserved)), None)
    tried = tried_hardening(events, grounds.campaign, _campaign_in(events), grounds.store)
    return Hardening(
        campaign=grounds.campaign.id,
        level=decided.posed.options.level,
        objective=decided.posed.options.objective,
        decision=decision,
        frontier=decided.posed.frontier,
        sites=sites_of(decision, trial.services if trial else services_of_file(steps.mesh_file), observed),
        odds=_odds(decided),
        change=tried.change,
        undo=tried.undo,
        health=tried.health,
        restored=tried.restored,
        verification=tried.verification,
        replay=tried.replay,
    )


def tried_hardening(
    events: Sequence[TrialEvent], known: Campaign, again: Campaign | None, store: Path
) -> TriedHardening:
    """From the events of a hardening, the campaign that it is against, and the one that it explored afterwards."""
    change = next((event for event in events if isinstance(event, MeshChanging)), None)
    return TriedHardening(
        change=change,
        undo=undo_command(change, store) if change else "",
        health=next((event for event in reversed(events) if isinstance(event, HealthJudged)), None),
        restored=next((event for event in events if isinstance(event, MeshRestored) and not event.interrupted), None),
        verification=verification_of(
            [event for event in events if isinstance(event, HardeningEvent)],
            known.summary,
            again.summary if again else None,
        ),
        replay=replay_command(again.started, store) if again else "",
    )


def at_the_knee(decided: Decided, steps: Steps) -> Hardening:
    """What the budget would come to from which on more of it brings little."""
    posed = decided.posed
    return conclude(decided_on(posed.within(posed.frontier.points[posed.frontier.knee].budget)), steps)


def write_page(file: Path, hardening: Hardening, knee: Hardening | None = None) -> None:
    _write(file, hardening_page(hardening, knee))


def write_markdown(file: Path, hardening: Hardening) -> None:
    _write(file, to_markdown(hardening))


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"Cannot write `{file}`: {error.strerror}", hint="Name another file") from error


def write_manifests(hardening: Hardening, into: Path) -> list[Path]:
    """As Istio resources. Returns the files that were written."""
    return folder.write_manifests(into, istio_manifests(advice_of(hardening.sites)))


def exit_code(hardening: Hardening) -> int:
    """1 if a finding that should be gone is not, there are new ones, or it was taken back; 3 if nobody can tell."""
    found = hardening.verification
    if hardening.restored:
        return 1
    if found is None:
        return 0
    if any(each.outcome.verdict is Verdict.FAILED for each in found.disappointments) or found.new_cuts:
        return 1
    return 3 if found.disappointments else 0


def _require_decided(grounds: Grounds) -> None:
    last = [event for event in grounds.campaign.events if isinstance(event, RunFinished)]
    if not last or last[-1].reason:
        why = f": {last[-1].reason}" if last else ""
        raise UsageError(
            f"Campaign `{grounds.campaign.id}` is not finished{why}: what it may still find would be missed",
            hint=f"Go on with `{resume_command(grounds.campaign.started, grounds.store)}`, or leave `--apply` out",
        )


async def _explore_again(ledger: Ledger, run: str, config: Config, key: bytes) -> AsyncGenerator[CampaignEvent, None]:
    """A campaign on behalf of the hardening, so that the one that was hardened against stays the latest."""
    begun = [each for each in ledger.runs(Loop.CAMPAIGN) if each.started.part_of == run]
    if begun and begun[-1].finished:
        for event in campaign_events(ledger, begun[-1].id):
            yield event
        return
    campaign = explore(config, key=key, store=ledger.folder, resume=bool(begun), part_of=run)
    async with aclosing(campaign) as events:
        async for event in events:
            yield event


def _as_explored(config: Config, started: CampaignStarted) -> Config:
    """With the requests, points, effects and size of the campaign, so that results can be compared."""
    level = Level(started.points) if started.points else config.points
    requests = tuple(request for request in config.requests if request.name in started.requests)
    if missing := set(started.requests) - {request.name for request in requests}:
        raise UsageError(
            f"The campaign explored `{min(missing)}`, which the configuration does not have",
            hint="Name the configuration that it ran with, with `--config`",
        )
    limits = replace(config.limits, max_size=started.max_size)
    return replace(config, requests=requests, points=level, effects=started.effects, limits=limits)


def _campaign_in(events: Sequence[TrialEvent]) -> Campaign | None:
    starts = [n for n, each in enumerate(events) if isinstance(each, RunStarted) and each.loop is Loop.CAMPAIGN]
    if not starts:
        return None
    return campaign_of(event for event in events[starts[0] :] if isinstance(event, CampaignEvent))


def _odds(decided: Decided) -> Odds | None:
    decision, grounds = decided.decision, decided.grounds
    try:
        known = known_rates(grounds, decided.posed.wishes)
    except InputError:
        return None
    classes = classes_of(grounds, decision.problem)
    hardened = hardened_by(decision.problem, decision.choice)
    odds = odds_of(classes, grounds.findings, failure_rates_of(grounds, decided.posed.wishes), hardened)
    between = {request: each.between for request, each in grounds.traffic_seen.items()}
    odds = within_bounds(odds, classes, bounds_of_rates(known, decided.posed.wishes), hardened, between)
    unseen = "not seen: counted as one a day"
    return replace(
        odds,
        rates=known,
        traffic_from={each.name: grounds.traffic_from.get(each.name, unseen) for each in classes},
        pace_of=pace_of(grounds.traffic_seen.values()),
    )
