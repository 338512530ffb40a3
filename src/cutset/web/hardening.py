"""What pages about hardening compute, as `cutset harden` does: posed once, then asked for one budget after another."""

import asyncio
from dataclasses import replace
from pathlib import Path

from cutset.app.harden import Decided, conclude, decided_on, posed_on
from cutset.app.harden_grounds import gather
from cutset.app.harden_place import Apply, Steps
from cutset.app.harden_problem import Posed
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import Config
from cutset.config.harden import HardenChoice, load_harden
from cutset.harden.decision import Hardening
from cutset.model.campaign import Campaign
from cutset.report.replaying import DEFAULT_CONFIG
from cutset.store.manifest import open_spans
from cutset.web.dashboard import Dashboard
from cutset.web.harden_query import HardenQuery

USUAL_BUDGET = 3.0  # as on the command line


def config_file_of(dashboard: Dashboard, campaign: Campaign) -> Path:
    """That of the dashboard, else the one that the campaign ran with."""
    return dashboard.config_file or Path(campaign.started.config or DEFAULT_CONFIG)


def configured_wishes(dashboard: Dashboard, campaign: Campaign) -> HardenChoice:
    return load_harden(None, config_file_of(dashboard, campaign))


async def posed_for(dashboard: Dashboard, campaign: Campaign, query: HardenQuery) -> Posed:
    """For any budget. It is kept until the campaign goes on, or other traces are stored."""
    wishes = query.applied_to(configured_wishes(dashboard, campaign))
    stored = open_spans(dashboard.store)
    mark = (dashboard.reading.position(campaign.id), stored.spans, stored.last_ns if stored.spans else 0)
    grounds = await dashboard.aside.computed(
        ("grounds of hardening", campaign.id, repr(wishes.traffic)),
        mark,
        lambda: gather(campaign, dashboard.store, wishes),
    )
    posed = await dashboard.aside.computed(
        ("hardening", campaign.id, query.options, repr(wishes)),
        mark,
        lambda: posed_on(grounds, wishes, query.options),
    )
    first, last = posed.frontier.points[0].budget, posed.frontier.points[-1].budget
    return posed.within(min(max(USUAL_BUDGET, first), last) if query.budget is None else query.budget)


async def found_for(posed: Posed, mesh_file: Path | None) -> Hardening:
    """In a thread: by availability it may take a while."""
    return await asyncio.to_thread(lambda: conclude(decided_on(posed), Steps(mesh_file)))


async def decided_for(dashboard: Dashboard, campaign: Campaign, query: HardenQuery) -> Decided:
    posed = await posed_for(dashboard, campaign, query)
    return await asyncio.to_thread(decided_on, posed)


def steps_for(dashboard: Dashboard, config: Config, *, verify: bool = True, explore: bool = True) -> Steps:
    """Into the cluster if the configuration has one, else into the mesh beside it, if there is one."""
    mesh_file = mesh_file_of(dashboard.config_file) if dashboard.config_file else None
    apply = Apply.ISTIO if config.istio else Apply.LOCAL if mesh_file else None
    return Steps(mesh_file, apply, verify or apply is None, explore=explore)


def with_campaign(query: HardenQuery, campaign: Campaign) -> HardenQuery:
    """So that a link to it means the same when there is a later one."""
    return replace(query, campaign=campaign.id)
