"""Tries one cut on one request because somebody wants to know: what a campaign left open, or what changed since."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path

from cutset.app.explore import fingerprint_of, open_laboratory
from cutset.app.guarding import guarded, shown_as_active
from cutset.campaign.by_hand import try_by_hand
from cutset.config.explore import Config, request_named
from cutset.errors import UsageError
from cutset.inject.signing import seal_of
from cutset.lineage.path import Level
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.fault import Cut, format_cut
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_existing_ledger, open_ledger
from cutset.store.runs import campaign_events, latest_run, new_run


async def try_cut(
    config: Config,
    request: str,
    cut: Cut,
    *,
    key: bytes,
    store: Path,
    part_of: str,
    on_note: Callable[[str], None] | None = None,
) -> AsyncGenerator[CampaignEvent, None]:
    """Every event of the experiment, each after it was recorded, in a run of its own.

    `part_of` is the campaign that wants to know: effects are its own, and points are told apart as it did.
    """
    if not cut:
        raise UsageError("There is nothing to try: no call is to fail", hint="Choose one or more")
    wanted = request_named(request, config.requests)
    with open_existing_ledger(store) as ledger:
        campaign = latest_run(ledger, Loop.CAMPAIGN, part_of)
        begun = [event for event in campaign_events(ledger, campaign.id) if isinstance(event, CampaignStarted)]
    if not begun:
        raise UsageError(f"The campaign `{campaign.id}` has not begun yet", hint="Wait until it has")
    points, limits = begun[-1].points, config.limits
    config = replace(
        config, requests=(wanted,), effects=begun[-1].effects, points=Level(points) if points else config.points
    )
    started = RunStarted(
        loop=Loop.CAMPAIGN,
        fingerprint=fingerprint_of(config),
        command=campaign.started.command,
        config=str(config.path) if config.path and campaign.started.config else "",
        part_of=campaign.id,
    )
    if campaign.started.fingerprint.get("target") != started.fingerprint["target"]:
        raise UsageError(
            f"The campaign `{campaign.id}` was of another system than the configuration names now",
            hint="Explore again, or use the configuration of that campaign",
        )
    of = replace(begun[-1], repeats=limits.failures_needed, flake_rate=limits.flake_rate, trials=limits.trials)
    async with AsyncExitStack() as stack:
        guards = guarded(store, config.guards, Loop.CAMPAIGN, config.target.environment)
        gate = await stack.enter_async_context(guards)
        ledger = stack.enter_context(open_ledger(store, key=seal_of(key)))
        laboratory = await stack.enter_async_context(open_laboratory(config, key, on_note, gate))
        run = stack.enter_context(new_run(ledger, started))
        what = f"{format_cut(cut)} in a request of our own: {request}"
        stack.enter_context(shown_as_active(gate, store, run, what, config=config.path))
        yield replace(started, run=run)
        async with aclosing(try_by_hand(run, wanted, cut, laboratory, ledger, of=of)) as events:
            async for event in events:
                yield event
