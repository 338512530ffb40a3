"""What starts, resumes and stops campaigns from the dashboard, as `cutset explore` does."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cutset.app.explore import explore
from cutset.config.explore import Config, adjusted, load_config
from cutset.errors import UsageError
from cutset.lineage.path import Level
from cutset.model.run import Loop, RunRecord
from cutset.model.wording import count
from cutset.report.replaying import PYTEST
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.forms import form_of
from cutset.web.running import state_of

PLACE = "/campaigns"


async def start(request: Request) -> Response:
    dashboard, config = _acting(request)
    form = await form_of(request)
    said = dict(form)
    chosen = [value for name, value in form if name == "request"]
    return _begun(
        dashboard,
        adjusted(config, requests=chosen, effects=said.get("effects", "").split(), limits=_limits(said)),
    )


async def resume(request: Request) -> Response:
    """The latest that is unfinished, with what it was begun with; the budget may be another."""
    dashboard, config = _acting(request)
    said = dict(await form_of(request))
    if (unfinished := resumable(dashboard)) is None:
        raise UsageError("There is no unfinished campaign to resume", hint="Start one")
    started = dashboard.reading.campaign(unfinished.id).summary.started
    config = adjusted(config, requests=started.requests, limits={**_limits(said), "max_size": started.max_size or None})
    # Outcomes depend on these: with others it would be another campaign.
    config = replace(config, effects=started.effects, points=Level(started.points) if started.points else config.points)
    return _begun(dashboard, config, resumed=unfinished.id)


async def stop(request: Request) -> Response:
    dashboard, _ = _acting(request)
    current = dashboard.runs.current
    dashboard.runs.stop()
    return RedirectResponse(current.address if current else PLACE, 303)


def resumable(dashboard: Dashboard) -> RunRecord | None:
    """The latest unfinished campaign, if it can be gone on with from here and nobody does."""
    unfinished = [run for run in dashboard.reading.runs(Loop.CAMPAIGN) if not run.finished and not run.started.part_of]
    if not unfinished or not dashboard.can_act or dashboard.runs.current:
        return None
    latest = unfinished[-1]  # tests are run by pytest alone
    return None if latest.started.command == PYTEST or state_of(dashboard, latest).under_way else latest


def _acting(request: Request) -> tuple[Dashboard, Config]:
    dashboard = dashboard_of(request)
    if not dashboard.can_act or dashboard.config_file is None:
        raise UsageError("Nothing can be started from here", hint="`cutset ui` says why when it starts")
    return dashboard, load_config(dashboard.config_file)


def _begun(dashboard: Dashboard, config: Config, *, resumed: str = "") -> Response:
    size = config.campaign.max_size  # refuses what does not go together before anything is begun
    what = f"Exploring {count(len(config.requests), 'request class')} up to size {size}"
    begin = partial(explore, config, key=dashboard.key, store=dashboard.store, resume=bool(resumed))
    dashboard.runs.start(what, begin, run=resumed)
    return RedirectResponse(f"{PLACE}/{quote(resumed)}" if resumed else PLACE, 303)


def _limits(said: Mapping[str, str]) -> dict[str, float | None]:
    """What was left empty is as in the configuration."""
    numbers = {"max_size": int, "experiments": int, "minutes": float}
    limits: dict[str, float | None] = {}
    for name, number in numbers.items():
        text = said.get(name, "").strip()
        try:
            limits[name] = number(text) if text else None
        except ValueError:
            raise UsageError(f"`{text}` is not a number", hint=f"Go back, and correct `{name}`") from None
        if (limits[name] or 0) < 0:
            raise UsageError(f"`{name}` is less than 0", hint="Go back, and correct it")
    return limits
