"""Campaigns: the list of them, and what it takes to start one."""

from collections.abc import Iterator
from urllib.parse import quote

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.config.explore import Config, load_config
from cutset.errors import CutsetError
from cutset.model.event import ExperimentFinished
from cutset.model.run import Loop, RunRecord
from cutset.model.wording import count
from cutset.report.campaign.scope import effects_text
from cutset.report.page.components import bounded, code, empty, note, verdict, when, with_code
from cutset.report.replaying import resume_command
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.exploring import PLACE, resumable, resume, start, stop
from cutset.web.frame import page
from cutset.web.live import PageLook, live_parts, stream
from cutset.web.running import look_at_runs, state_in_words, state_of

MOST_LISTED = 100
MOST_SUMMARISED = 10  # of the list, the latest: what was found takes reading all of a campaign
LARGEST_SIZE = 9


async def campaigns(request: Request) -> Response:
    dashboard = dashboard_of(request)
    now = look(dashboard)
    body = [h.h1["Campaigns"], live_parts(now, f"/live{PLACE}")]
    return HTMLResponse(page(dashboard.frame(), PLACE, "Campaigns", body, scripts=now.scripts))


async def live_campaigns(request: Request) -> Response:
    dashboard = dashboard_of(request)
    return stream(request, dashboard.pace, lambda: look(dashboard))


def look(dashboard: Dashboard) -> PageLook:
    def parts() -> dict[str, h.Node]:
        return {"start": _start_form(dashboard), "list": _list(dashboard)}

    return look_at_runs(dashboard, parts)


def _list(dashboard: Dashboard) -> h.Node:
    runs = dashboard.reading.runs(Loop.CAMPAIGN)[-MOST_LISTED:][::-1]
    if not runs:
        return empty("There is no campaign yet", "Explore your system, or the demo's shop", "cutset demo --ui")
    return [
        h.h2["All campaigns"] if len(runs) < MOST_LISTED else h.h2[f"The latest {MOST_LISTED}"],
        h.ul(".classes")[(_row(dashboard, number, run) for number, run in enumerate(runs))],
    ]


def _row(dashboard: Dashboard, number: int, run: RunRecord) -> h.Element:
    followed = dashboard.reading.refreshed()
    experiments = followed.number_of(run.id, ExperimentFinished) if followed else 0
    return h.li[
        h.a(".mono", href=f"{PLACE}/{quote(run.id)}")[bounded(run.id)],
        h.div[
            h.span(".states")[
                state_in_words(state_of(dashboard, run)),
                _found(dashboard, run) if number < MOST_SUMMARISED else None,
                count(experiments, "experiment"),
            ],
            h.span(".small.muted")[
                "begun ", when(run.started_at), " by ", code(f"cutset {run.started.command}"), served(run)
            ],
        ],
    ]


def _found(dashboard: Dashboard, run: RunRecord) -> h.Element:
    cuts = dashboard.reading.computed("cuts", run.id, lambda: len(dashboard.reading.campaign(run.id).findings))
    return verdict("failed", count(cuts, "minimal cut")) if cuts else h.span["no minimal cut"]


def served(run: RunRecord) -> h.Node:
    return run.started.part_of and h.span(".small.muted")[f" for {bounded(run.started.part_of)}"]


def _start_form(dashboard: Dashboard) -> h.Node:
    if not dashboard.can_act or dashboard.config_file is None:
        if dashboard.read_only or dashboard.not_yet:
            return h.p(".muted")[dashboard.not_yet]
        return h.p(".muted")[
            "Nothing can be started from here: it takes a configuration, and ", code("CUTSET_KEY"), " as for ",
            code("cutset explore"),
        ]  # fmt: skip
    try:
        config = load_config(dashboard.config_file)
    except CutsetError as error:
        return note(h.p[with_code(error.message)], h.p(".muted")[with_code(error.hint)], kind="unknown")
    busy = dashboard.runs.current is not None
    return [
        resume_form(dashboard, unfinished) if (unfinished := resumable(dashboard)) else None,
        h.details(".card", open=not (busy or dashboard.reading.runs(Loop.CAMPAIGN)))[
            h.summary[h.strong["Start a campaign"]],
            h.form(method="post", action=PLACE)[
                h.fieldset[
                    h.legend["Request classes"],
                    (
                        h.label(".choice")[
                            h.input(type="checkbox", name="request", value=each.name, checked=True),
                            " ",
                            bounded(each.name),
                        ]
                        for each in config.requests
                    ),
                ],
                h.div(".fields")[_fields(config)],
                h.p(".small.muted")[
                    "What is left empty is as in the configuration. Faults reach requests of our own alone."
                ],
                h.button(".primary", disabled=busy)["Explore"],
                busy and h.span(".muted")[" when what runs now has ended"],
            ],
        ],
    ]


def _fields(config: Config) -> Iterator[h.Element]:
    limits = config.limits
    yield _field(
        "Largest cut",
        h.input(
            type="number", name="max_size", min="1", max=str(LARGEST_SIZE), placeholder=str(config.campaign.max_size)
        ),
    )
    yield _field(
        "Minutes; 0: no limit",
        h.input(type="number", name="minutes", min="0", step="any", placeholder=f"{limits.minutes:g}"),
    )
    yield _field(
        "Experiments; 0: no limit",
        h.input(type="number", name="experiments", min="0", placeholder=str(limits.experiments)),
    )
    yield _field(
        "Effects, separated by spaces", h.input(type="text", name="effects", placeholder=effects_text(config.effects))
    )


def _field(words: str, control: h.VoidElement) -> h.Element:
    return h.label[h.span[words], control]


def resume_form(dashboard: Dashboard, run: RunRecord) -> h.Element:
    return h.form(".card", method="post", action=f"{PLACE}/resume")[
        h.p["The campaign ", h.a(href=f"{PLACE}/{quote(run.id)}")[h.span(".mono")[run.id]], " is unfinished."],
        h.div(".fields")[
            _field("Minutes more; 0: no limit", h.input(type="number", name="minutes", min="0", step="any")),
            _field("Experiments in all; 0: no limit", h.input(type="number", name="experiments", min="0")),
        ],
        h.button["Resume"],
        h.span(".small.muted")[" or ", code(resume_command(run.started, dashboard.store))],
    ]


ROUTES = [
    Route(PLACE, campaigns),
    Route(PLACE, start, methods=["POST"]),
    Route(f"{PLACE}/resume", resume, methods=["POST"]),
    Route(f"{PLACE}/stop", stop, methods=["POST"]),
    Route(f"/live{PLACE}", live_campaigns),
]
