"""What to harden: the frontier to drag along, what each choice removes, and what it costs.

All fields belong to one form, `settings`, that is sent by GET: every view has an address. Without a script, its button
shows what was chosen; `harden.js` shows it at once.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from cutset.app.harden_problem import Posed
from cutset.app.mesh import mesh_file_of
from cutset.config.harden import HardenChoice, Objective, section_of
from cutset.errors import CutsetError
from cutset.harden.decision import Hardening
from cutset.harden.problem import CandidateLevel
from cutset.model.campaign import Campaign
from cutset.model.point import Point
from cutset.model.run import Loop
from cutset.model.wording import count, visible
from cutset.report.hardening.page import choice, curve, frontier_table, numbers, odds_of
from cutset.report.hardening.plot import place_of
from cutset.report.hardening.wording import headline
from cutset.report.page.components import bounded, code, command, empty, note, table, with_code
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.harden_query import COST, STATE, ApiState, HardenQuery, query_of, state_of, usual_choice
from cutset.web.hardening import config_file_of, configured_wishes, found_for, posed_for, with_campaign
from cutset.web.pages.hardenings import past_hardenings

PLACE = "/harden"
FORM = "settings"
CAMPAIGNS_OFFERED = 20
COSTS_SHOWN = 300  # APIs with fields of their own; of others costs are changed in cutset.yaml
NAMES_SHOWN = 12
_LEVELS = {CandidateLevel.API: "APIs, for all callers", CandidateLevel.CALL_SITE: "single call sites"}
_OBJECTIVES = {Objective.COVERAGE: "most cuts gone", Objective.AVAILABILITY: "fewest failed requests"}
Value = TypeVar("Value", bound=str)
_STATES = {
    ApiState.OPEN: "may be hardened",
    ApiState.UNTOUCHABLE: "untouchable",
    ApiState.HARDENED: "hardened already",
}


async def harden(request: Request) -> Response:
    dashboard = dashboard_of(request)
    if not dashboard.reading.runs(Loop.CAMPAIGN):
        body: h.Node = empty(
            "There is no campaign to harden against yet", "Explore your system, or the demo's shop", "cutset demo --ui"
        )
        return HTMLResponse(page(dashboard.frame(), PLACE, "Harden", h.h1["Harden"], body))
    query = query_of(request.query_params.multi_items())
    campaign = dashboard.reading.campaign(query.campaign)
    query = with_campaign(query, campaign)
    body = await _body(dashboard, campaign, query)
    return HTMLResponse(page(dashboard.frame(), PLACE, "Harden", body, scripts=("harden.js",)))


async def _body(dashboard: Dashboard, campaign: Campaign, query: HardenQuery) -> h.Node:
    title = h.h1["Harden"]
    if not campaign.findings:
        nothing = empty(f"Campaign `{campaign.id}` found no cut: there is nothing to harden")
        return [title, _settings(dashboard, campaign, query), nothing, past_hardenings(dashboard)]
    try:
        wishes = configured_wishes(dashboard, campaign)
        query = query.without_usual(wishes)
        posed = await posed_for(dashboard, campaign, query)
        query = replace(query, budget=posed.options.budget)
        found = await found_for(posed, mesh_file_of(config_file_of(dashboard, campaign)))
    except CutsetError as error:
        told = note(h.p[with_code(error.message)], h.p(".muted")[with_code(error.hint)], kind="failed")
        return [title, _settings(dashboard, campaign, query), told, past_hardenings(dashboard)]
    return [
        title,
        _settings(dashboard, campaign, query),
        h.div(".curve-and-choice")[_curve(posed), _summary(found)],
        _try_out(dashboard, query),
        _details(found),
        _costs(posed, wishes, query),
        h.details("#frontier")[
            h.summary[h.strong["What each budget buys, as a table"]],
            frontier_table(found.frontier, found.decision.choice.budget),
        ],
        past_hardenings(dashboard),
    ]


async def chosen(request: Request) -> Response:
    """The parts that depend on the budget, to be put into the page."""
    dashboard, query = dashboard_of(request), query_of(request.query_params.multi_items())
    campaign = dashboard.reading.campaign(query.campaign)
    try:
        posed = await posed_for(dashboard, campaign, query)
        found = await found_for(posed, mesh_file_of(config_file_of(dashboard, campaign)))
    except CutsetError as error:
        parts: h.Node = h.div("#summary")[note(with_code(error.message), kind="failed")]
    else:
        parts = [_summary(found), _details(found)]
    return HTMLResponse(visible(str(h.fragment[parts])))


async def section(request: Request) -> Response:
    """The costs as they were edited, for cutset.yaml: a file to keep, not one that we write."""
    dashboard, query = dashboard_of(request), query_of(request.query_params.multi_items())
    campaign = dashboard.reading.campaign(query.campaign)
    text = section_of(query.applied_to(configured_wishes(dashboard, campaign)))
    headers = {"content-disposition": 'attachment; filename="harden.yaml"'}
    return PlainTextResponse(text, headers=headers)


def _settings(dashboard: Dashboard, campaign: Campaign, query: HardenQuery) -> h.Element:
    runs = [run for run in dashboard.reading.runs(Loop.CAMPAIGN) if not run.started.part_of or run.id == campaign.id]
    offered = [run.id for run in runs[-CAMPAIGNS_OFFERED:]][::-1]
    names = [request.name for request in campaign.summary.requests]
    return h.form(".card", method="get", action=PLACE, id=FORM)[
        h.div(".fields")[
            h.label[h.span["Against campaign"], _select("campaign", {each: each for each in offered}, campaign.id)],
            h.label[
                h.span["Budget"],
                h.input(
                    "#budget",
                    type="number",
                    name="budget",
                    min="0",
                    step="any",
                    value="" if query.budget is None else f"{query.budget:g}",
                ),
            ],
            h.label[h.span["Harden"], _select("level", _LEVELS, query.level)],
            h.label[h.span["So that there are"], _select("objective", _OBJECTIVES, query.objective)],
        ],
        h.details(open=bool(query.high))[
            h.summary["Requests whose cuts must all go"],
            [
                h.label(".choice")[
                    h.input(type="checkbox", name="high", value=name, checked=name in query.high), " ", bounded(name)
                ]
                for name in names
            ],
        ],
        h.button("#show")["Show"],
        query.edits and [" ", h.a(".button", href=_unedited(query))["Costs as configured"]],
    ]


def _unedited(query: HardenQuery) -> str:
    return replace(query, costs={}, states={}).address()


def _select(name: str, options: Mapping[Value, str], selected: Value, **attributes: str) -> h.Element:
    return h.select(name=name, **attributes)[
        [h.option(value=str(value), selected=value == selected)[bounded(words)] for value, words in options.items()]
    ]


def _curve(posed: Posed) -> h.Element:
    frontier, budget = posed.frontier, posed.options.budget
    points = [
        (point.budget, round(point.coverage, 4), *place_of(frontier, point.budget, point.coverage, given=budget))
        for point in frontier.points
    ]
    reached = frontier.at(budget)
    return h.div("#curve")[
        curve(frontier, budget),
        # Only a script can follow it; without one, there is the number above.
        h.label("#along", hidden=True)[
            h.span["Drag along the curve, or use the arrow keys"],
            h.input(
                "#position",
                type="range",
                min="0",
                max=str(len(points) - 1),
                step="1",
                value=str(reached),
                data_points=json.dumps(points),
                autocomplete="off",
            ),
        ],
        not frontier.proven and h.p(".muted")["Not all of the curve is proven to be the best."],
    ]


def _summary(found: Hardening) -> h.Element:
    """What changes first as one drags."""
    best, frontier = found.decision.choice, found.frontier
    gain = frontier.points[frontier.at(best.budget)].gain
    names = [each.name for each in best.chosen]
    return h.div("#summary")[
        h.h2("#headline")[headline(found)],
        numbers(found),
        h.p[
            "The last unit of budget removed ",
            h.b[f"{gain:.3g}"],
            " (marginal gain).",
        ]
        if gain is not None
        else h.p[f"The least that a budget can be here: {frontier.points[0].budget:g}."],
        h.ol(".chosen")[
            [h.li[code(name)] for name in names[:NAMES_SHOWN]],
            len(names) > NAMES_SHOWN and h.li(".muted")[f"and {count(len(names) - NAMES_SHOWN, 'place')} more, below"],
        ],
    ]


def _details(found: Hardening) -> h.Element:
    return h.div("#details")[choice(found), odds_of(found)]


def _costs(posed: Posed, wishes: HardenChoice, query: HardenQuery) -> h.Element:
    """Of each call that could be hardened, the one in most cuts first."""
    cuts: Counter[Point] = Counter()
    for weakness in posed.problem.weaknesses:
        helpful = frozenset().union(*weakness.clauses)
        cuts.update({posed.problem.candidates[index].site for index in helpful})
    sites = [site for site, _ in sorted(cuts.items(), key=lambda each: (-each[1], each[0]))]
    edited = section_of(query.applied_to(wishes))
    return h.details("#costs", open=query.edits)[
        h.summary[h.strong["What it costs, and what may be touched"]],
        h.p(".muted.small")[
            "For this view only: nothing is written into your configuration. A cost may stand for days, people or risk."
        ],
        table(
            ("call", "in cuts", "cost", "state"),
            (_cost_row(site, cuts[site], wishes, query) for site in sites[:COSTS_SHOWN]),
            caption="What each call costs to harden",
        ),
        len(sites) > COSTS_SHOWN
        and h.p(".muted")[f"and {count(len(sites) - COSTS_SHOWN, 'call')} more, whose costs are in cutset.yaml"],
        h.p[
            h.button(".primary", form=FORM)["Show with these costs"],
            " ",
            h.button(form=FORM, formaction=f"{PLACE}/section", formtarget="_blank")["Download for cutset.yaml"],
        ],
        query.edits and [h.p["As a section of cutset.yaml:"], h.pre("#section", tabindex="0")[h.code[edited]]],
    ]


def _cost_row(site: Point, cuts: int, wishes: HardenChoice, query: HardenQuery) -> Iterator[h.Node]:
    name = str(site)
    usual = usual_choice(wishes, name)
    state = state_of(usual)
    yield h.th(scope="row")[code(name)]
    yield h.td(".number")[str(cuts)]
    yield h.input(
        type="number",
        name=f"{COST}{name}",
        min="0",
        step="any",
        value=f"{query.costs.get(name, usual.cost):g}",
        data_usual=f"{usual.cost:g}",
        form=FORM,
        aria_label=f"Cost of {bounded(name)}",
    )
    yield _select(
        f"{STATE}{name}",
        _STATES,
        query.states.get(name, state),
        data_usual=state,
        form=FORM,
        aria_label=f"State of {bounded(name)}",
    )


def _try_out(dashboard: Dashboard, query: HardenQuery) -> h.Element:
    if dashboard.can_act:
        busy = dashboard.runs.current is not None
        return h.p("#try")[
            h.button(".primary", form=FORM, formaction=f"{PLACE}/apply", disabled=busy)["Apply and verify …"],
            h.span(".muted")[
                f" when what runs now has ended: {dashboard.runs.current.what}"
                if dashboard.runs.current
                else " shows first what would be changed, and how it is undone"
            ],
        ]
    return h.details("#try")[
        h.summary["Apply it to the running system, and verify that it helps"],
        query.edits and h.p["With the costs in ", code("costs.yaml"), ", as they can be downloaded below:"],
        command(query.command(dashboard.store, "--apply", "local", "--verify")),
        h.p(".muted.small")[
            "Or from here, if ",
            code("cutset ui"),
            " is started with a configuration and a key, and not read-only.",
        ],
    ]


ROUTES = [Route(PLACE, harden), Route(f"{PLACE}/choice", chosen), Route(f"{PLACE}/section", section)]
