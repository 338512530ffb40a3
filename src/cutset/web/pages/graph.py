"""The service graph: which calls matter, and what becomes of requests when some of them fail.

Answers come from the ledger alone. What it does not tell can be tried: one experiment, on the campaign's behalf.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import htpy as h
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cutset.app.trial import try_cut
from cutset.config.explore import load_config
from cutset.errors import CutsetError, InputError, UsageError
from cutset.model.campaign import Campaign
from cutset.model.fault import Cut, Fault
from cutset.model.point import Point
from cutset.model.run import Loop
from cutset.model.wording import visible
from cutset.report.campaign.explanation import ExplainedCampaign, ExplainedRequest, prepare
from cutset.report.campaign.graph import CampaignGraph, campaign_graph, marks_of
from cutset.report.campaign.terminal import describe_cut
from cutset.report.drawing.point_graph import MARGIN, Marks, RowMark, point_graph_content
from cutset.report.drawing.point_style import POINT_STYLE
from cutset.report.page.components import empty, note, with_code
from cutset.store.runs import tried_by_hand
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.forms import form_of
from cutset.web.frame import page
from cutset.web.graph_parts import (
    FORM,
    Question,
    answers_list,
    could_not_be_tried,
    cuts_to_look_at,
    failing_list,
    legend,
    list_of_points,
    marks_of_answers,
    said_of,
    trial_form,
    under_way,
)

TITLE = "Service graph"
Pairs = list[tuple[str, str]]  # names and values, of an address or a form


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    campaign: Campaign
    known: ExplainedCampaign
    problem: str = ""  # what cannot be answered, and is left out

    @property
    def answers(self) -> list[ExplainedRequest]:
        question = self.question
        return self.known.answers(question.cut, [question.request] if question.request else [])


def _asked(dashboard: Dashboard, pairs: Pairs) -> _Asked:
    said = dict(reversed(pairs))
    campaign = dashboard.reading.campaign(said.get("campaign", ""))
    known = _known(dashboard, campaign)
    request, problem, cut = said.get("request", ""), "", frozenset[Fault]()
    if request and request not in {each.name for each in known.summary.requests}:
        request, problem = "", f"There is no request `{request}` in this campaign"
    try:
        cut = _cut(known, pairs)
    except CutsetError as error:
        problem = error.message
    return _Asked(Question(campaign.id, request, cut), campaign, known, problem)


def _known(dashboard: Dashboard, campaign: Campaign) -> ExplainedCampaign:
    """Prepared anew only when the campaign went on, or something was tried by hand."""
    ledger = dashboard.reading.refreshed()
    by_hand = tried_by_hand(ledger, campaign.id) if ledger else []
    what = f"explained, with {len(by_hand)} by hand"
    return dashboard.reading.computed(what, campaign.id, lambda: prepare(campaign.events, by_hand))


def _graph(dashboard: Dashboard, asked: _Asked) -> CampaignGraph:
    events, summary = asked.campaign.events, asked.known.summary
    return dashboard.reading.computed("graph", asked.campaign.id, lambda: campaign_graph(events, summary))


def _cut(known: ExplainedCampaign, pairs: Pairs) -> Cut:
    """A `cut` is one fault, or several with ` + ` between them. A point alone fails by its `effect`, or the first."""
    chosen = {fault.point: fault for fault in (Fault.parse(value) for name, value in pairs if name == "effect")}
    effects, faults = known.summary.started.effects, dict[Point, Fault]()
    for part in (part for name, value in pairs if name == "cut" and value for part in _parts(known, value)):
        fault = Fault.parse(part)
        if str(fault.point) == part.strip():
            first = (effects.at(fault.point) or effects.all)[0]
            fault = chosen.get(fault.point, Fault(fault.point, first))
        faults[fault.point] = fault
    known.require_known(frozenset(faults.values()))
    return frozenset(faults.values())


def _parts(known: ExplainedCampaign, text: str) -> list[str]:
    """Names of calls may have ` + ` in them, too. Whoever types an address writes a space by a plus."""
    with suppress(InputError):
        if Fault.parse(text).point in known.points:
            return [text]
    return re.split(r" \+ | {3}", text)


async def graph_page(request: Request) -> Response:
    dashboard = dashboard_of(request)
    if not dashboard.reading.runs(Loop.CAMPAIGN):
        nothing = empty("Nothing was explored yet, so that there is no graph", "Explore your system", "cutset explore")
        return HTMLResponse(page(dashboard.frame(), "/graph", TITLE, h.h1[TITLE], nothing))
    pairs = request.query_params.multi_items()
    asked = _asked(dashboard, pairs)
    if any(name == "effect" for name, _ in pairs):  # of a form: the address says it shorter
        return RedirectResponse(asked.question.address, 303)
    graph = _graph(dashboard, asked)
    marks = marks_of(graph, asked.question.request, asked.question.cut, _marks_of_requests(asked))
    body = (
        h.h1[TITLE],
        _controls(dashboard, asked),
        h.div(".graph-page")[
            h.div(".graph-stage")[
                _tools(), _picture(graph, marks), h.div("#graph-legend")[legend(graph.placed.graph, marks)]
            ],
            h.aside(aria_label="What becomes of requests")[
                h.p("#graph-said.visually-hidden", role="status")[said_of(asked.answers, asked.question.cut)],
                h.div("#graph-panel")[_panel(dashboard, asked)],
            ],
        ],
        h.details("#graph-list")[
            h.summary[f"All calls as a list ({len(graph.points):,})"],
            h.noscript[h.p[h.button(".primary", type="submit", form=FORM)["What if these fail?"]]],
            list_of_points(graph.placed, marks),
        ],
    )
    return HTMLResponse(page(dashboard.frame(), "/graph", TITLE, *body, scripts=("graph.js",)))


async def graph_panel(request: Request) -> Response:
    """What changes with each click."""
    dashboard = dashboard_of(request)
    asked = _asked(dashboard, request.query_params.multi_items())
    return HTMLResponse(visible(str(h.fragment[_panel(dashboard, asked)])))


async def graph_trial(request: Request) -> Response:
    dashboard = dashboard_of(request)
    if not dashboard.can_act or dashboard.config_file is None:
        raise UsageError("Experiments cannot be started here", hint="Start `cutset ui` with a configuration and a key")
    pairs = await form_of(request)
    asked = _asked(dashboard, pairs)
    if asked.problem or not asked.question.request:
        raise UsageError(asked.problem or "It takes a request to try something with")
    question, config = asked.question, load_config(dashboard.config_file)
    begin = partial(
        try_cut,
        config,
        question.request,
        question.cut,
        key=dashboard.key,
        store=dashboard.store,
        part_of=question.campaign,
    )
    dashboard.runs.start(_what(question.request, question.cut), begin)
    shown = Question(question.campaign, dict(pairs).get("shown", ""), question.cut)
    return RedirectResponse(shown.address, 303)


def _what(request: str, cut: Cut) -> str:
    return f"{request} with {describe_cut(cut)}, by hand"


def _marks_of_requests(asked: _Asked) -> dict[str, RowMark]:
    return marks_of_answers(asked.answers) if asked.question.cut else {}


def _panel(dashboard: Dashboard, asked: _Asked) -> h.Node:
    question, answers = asked.question, asked.answers
    effects = asked.known.summary.started.effects
    trials = {each.request: _trial(dashboard, each, question) for each in answers if each.can_be_tried}
    busy = any(_is_latest(dashboard, each) and dashboard.runs.current for each in answers)
    return h.div(data_said=said_of(answers, question.cut), data_under_way=busy or None)[
        h.h2["What if these fail?" if question.cut else "What if calls fail?"],
        asked.problem and note(h.p[with_code(asked.problem)], kind="unknown"),
        failing_list(question, effects),
        answers_list(answers, question, trials)
        if question.cut
        else [
            h.p["Click calls in the picture, or check them in the list: here is what becomes of each request then."],
            cuts_to_look_at(
                [each for each in asked.known.summary.findings if question.request in ("", each.request)],
                question,
                effects,
            ),
        ],
    ]


def _is_latest(dashboard: Dashboard, each: ExplainedRequest) -> bool:
    latest = dashboard.runs.latest
    return latest is not None and latest.what == _what(each.request, each.cut)


def _trial(dashboard: Dashboard, each: ExplainedRequest, question: Question) -> h.Node:
    """What nobody knows can be tried, one experiment at a time."""
    latest = dashboard.runs.latest
    if not dashboard.can_act:
        return None
    if dashboard.runs.current and not _is_latest(dashboard, each):
        return h.p(".small.muted")["It can be tried once nothing else is under way."]
    if dashboard.runs.current:
        return under_way(dashboard.runs.current.what)
    if latest is None or not latest.problem or not _is_latest(dashboard, each):
        return trial_form(each, question)
    return [could_not_be_tried(latest.problem, latest.hint), trial_form(each, question)]


def _controls(dashboard: Dashboard, asked: _Asked) -> h.Element:
    question = asked.question
    runs = [
        run for run in dashboard.reading.runs(Loop.CAMPAIGN) if not run.started.part_of or run.id == question.campaign
    ]
    return h.form(f"#{FORM}.graph-controls", method="get", action="/graph")[
        h.label[
            "Campaign ",
            h.select(name="campaign")[
                (h.option(value=run.id, selected=run.id == question.campaign)[run.id] for run in reversed(runs))
            ],
        ],
        h.label[
            "Request ",
            h.select(name="request")[
                h.option(value="")["all of them"],
                (
                    h.option(value=each.name, selected=each.name == question.request)[each.name]
                    for each in asked.known.summary.requests
                ),
            ],
        ],
        h.noscript[h.button(type="submit")["Show"]],
        h.label("#graph-search", hidden=True)[
            "Find ",
            h.input(type="search", placeholder="a service or a call", autocomplete="off"),
            h.span(".small.muted", role="status"),
        ],
    ]


def _tools() -> h.Element:
    return h.div("#graph-tools.graph-tools", hidden=True, role="group", aria_label="Zoom")[
        h.button(type="button", data_zoom="in", aria_label="Zoom in")["+"],
        h.button(type="button", data_zoom="out", aria_label="Zoom out")["−"],
        h.button(type="button", data_zoom="fit")["Fit"],
    ]


def _picture(graph: CampaignGraph, marks: Marks) -> h.Node:
    layout = graph.placed.layout
    box = f"{-MARGIN} {-MARGIN} {layout.width + 2 * MARGIN:.0f} {layout.height + 2 * MARGIN:.0f}"
    return [
        h.a(".skip", href="#graph-list")["Skip the picture"],
        h.svg("#graph.point-graph", viewBox=box, role="group", aria_label="Services and their calls")[
            h.style[Markup(POINT_STYLE)],  # noqa: S704 -- our own
            h.g("#graph-content")[Markup(point_graph_content(graph.placed, marks))],  # noqa: S704 -- of escaped names
        ],
    ]


ROUTES = [
    Route("/graph", graph_page),
    Route("/graph/panel", graph_panel),
    Route("/graph/trial", graph_trial, methods=["POST"]),
]
