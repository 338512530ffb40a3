"""Hardenings that were tried: what is asked before one is applied, each as it goes on, and the way back."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cutset.app.harden import Decided, can_resume, conclude, tried_hardening, try_out
from cutset.app.harden_place import Steps, foreseen_change
from cutset.app.harden_undo import is_undone, left_by, undo
from cutset.config.explore import Config, load_config
from cutset.errors import UsageError
from cutset.model.campaign import Campaign
from cutset.model.event import ExperimentFinished
from cutset.model.hardening import CutRechecked, HardeningEvent, HardeningStarted, MeshChanging
from cutset.model.run import Loop, RunRecord
from cutset.model.wording import count
from cutset.report.hardening.happened import DatedEvents, happened, in_one_line
from cutset.report.hardening.page import settings_list, tried
from cutset.report.hardening.wording import headline
from cutset.report.page.components import bounded, code, command, empty, note, table, verdict, when, with_code
from cutset.report.replaying import undo_by_record_command
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.forms import form_of
from cutset.web.frame import page
from cutset.web.harden_query import HardenQuery, query_of
from cutset.web.hardening import configured_wishes, decided_for, steps_for, with_campaign
from cutset.web.live import PageLook, live_parts, stream
from cutset.web.running import RunState, look_at_runs, state_in_words, state_of
from cutset.web.runs import StartedRun

PLACE, MENU = "/hardenings", "/harden"
STOP = "/campaigns/stop"  # whatever runs

MOST_LISTED = 10
PATIENCE_SECONDS = 8.0  # until a run has an id: it looks whether the mesh runs before


def past_hardenings(dashboard: Dashboard) -> h.Node:
    """What was tried, the latest first."""
    runs = dashboard.reading.runs(Loop.HARDENING)[-MOST_LISTED:][::-1]
    if not runs:
        return None
    return [
        h.h2["Hardenings that were tried"],
        table(
            ("began", "against", "state", "known cuts injected again"),
            (_row(dashboard, run) for run in runs),
            caption="Hardenings that were tried",
        ),
    ]


def _row(dashboard: Dashboard, run: RunRecord) -> Iterator[h.Node]:
    events = _own_events(dashboard, run)
    against = next((event.campaign for event in events if isinstance(event, HardeningStarted)), "")
    rechecks = {event.finding.id: event for event in events if isinstance(event, CutRechecked)}
    gone = sum(not each.remains for each in rechecks.values())
    yield h.th(scope="row")[h.a(href=f"{PLACE}/{quote(run.id)}")[when(run.started_at)]]
    yield code(against) if against else "nothing was begun"
    yield [_state_in_words(dashboard, run), " ", _held_by_mesh(events, in_force=_in_force(dashboard, events))]
    yield f"{len(rechecks)}: {gone} gone" if rechecks else "none"


async def hardenings(request: Request) -> Response:
    """What runs now, until it has a page of its own, and what ran before."""
    dashboard = dashboard_of(request)
    now = _look_at_all(dashboard)
    body = [
        h.h1["Hardenings"],
        h.p[h.a(href=MENU)["Choose what to harden"]],
        live_parts(now, f"/live{PLACE}"),
    ]
    return HTMLResponse(page(dashboard.frame(), MENU, "Hardenings", body, scripts=now.scripts))


async def live_hardenings(request: Request) -> Response:
    dashboard = dashboard_of(request)
    return stream(request, dashboard.pace, lambda: _look_at_all(dashboard))


def _look_at_all(dashboard: Dashboard) -> PageLook:
    def parts() -> dict[str, h.Node]:
        return {
            "past": past_hardenings(dashboard) or empty("None was tried yet", "Choose what to harden, and apply it")
        }

    return look_at_runs(dashboard, parts)


async def confirm(request: Request) -> Response:
    """What would be changed, and how it is undone: nothing is done yet."""
    dashboard, config = _acting(request)
    query = query_of(request.query_params.multi_items())
    campaign = dashboard.reading.campaign(query.campaign)
    decided = await decided_for(dashboard, campaign, query)
    query = with_campaign(query, campaign).without_usual(configured_wishes(dashboard, campaign))
    query = replace(query, budget=decided.posed.options.budget)
    steps = steps_for(dashboard, config)
    found = await asyncio.to_thread(conclude, decided, steps)
    change = await foreseen_change(decided.decision, steps)
    unfinished = next((run for run in _unfinished(dashboard) if _same(run, decided, config, dashboard)), None)
    body = [
        h.h1["Apply and verify"],
        h.p[h.a(href=query.address())["← choose otherwise"]],
        h.h2[headline(found)],
        _what_changes(steps, change, [str(each.candidate.name) for each in found.sites]),
        _way_back(dashboard, steps, change),
        _resume_card(query, unfinished) if unfinished else None,
        _apply_form(query, steps),
    ]
    return HTMLResponse(page(dashboard.frame(), MENU, "Apply and verify", body))


def _what_changes(steps: Steps, change: MeshChanging | None, places: list[str]) -> h.Node:
    if steps.apply is None:
        return note(
            "There is no mesh here that could be changed: what is advised has to be done by hand. "
            "Then verify: every known cut is injected again."
        )
    if change is None:
        return [
            h.h3["What will be changed in the cluster"],
            h.p["VirtualServices and DestinationRules get what they lack for these; what others wrote is kept:"],
            h.ul[[h.li[code(each)] for each in places]],
        ]
    return [
        h.h3["What will be put into ", code(str(change.file))],
        settings_list(change)
        if change.added or change.kept or change.left_out
        else h.p["Nothing is known to be missing."],
        h.p(".muted")["Calls are timed first: timeouts may follow from that."],
    ]


def _way_back(dashboard: Dashboard, steps: Steps, change: MeshChanging | None) -> h.Node:
    if steps.apply is None:
        return None
    kept = ["The file as it is now is kept as ", code(str(change.original)), ". "] if change and change.original else []
    return [
        h.h3["How it is undone"],
        h.p[
            kept,
            "If a request does not work as before, or you stop it, all of it is taken back at once. ",
            "Afterwards, the page of the hardening has a button for that, and the terminal has:",
        ],
        command(undo_by_record_command(dashboard.store)),
    ]


def _apply_form(query: HardenQuery, steps: Steps) -> h.Element:
    return h.form(".card", method="post", action=f"{MENU}/apply", id="apply")[
        _hidden(query),
        steps.apply is not None
        and h.label(".choice")[
            h.input(type="checkbox", name="verify", value="yes", checked=True), " Inject every known cut again"
        ],
        h.label(".choice")[
            h.input(type="checkbox", name="explore", value="yes", checked=True), " Then look for new cuts"
        ],
        h.button(".primary")["Apply and verify" if steps.apply else "Verify"],
    ]


def _resume_card(query: HardenQuery, run: RunRecord) -> h.Element:
    return h.form(".card", method="post", action=f"{MENU}/apply", id="resume")[
        h.p[
            "The hardening ", h.a(href=f"{PLACE}/{quote(run.id)}")[h.span(".mono")[run.id]],
            " was begun for the same, and interrupted. No cut that it injected again is injected once more.",
        ],
        _hidden(query),
        h.input(type="hidden", name="resume", value="yes"),
        h.button["Resume"],
    ]  # fmt: skip


def _hidden(query: HardenQuery) -> list[h.VoidElement]:
    return [h.input(type="hidden", name=name, value=value) for name, value in query.pairs()]


async def apply(request: Request) -> Response:
    dashboard, config = _acting(request)
    form = await form_of(request)
    said, query = dict(form), query_of(form)
    campaign = dashboard.reading.campaign(query.campaign)
    decided = await decided_for(dashboard, campaign, query)
    steps = steps_for(dashboard, config, verify="verify" in said, explore="explore" in said)
    resume = "resume" in said
    if resume:
        same = (_same(run, decided, config, dashboard) for run in _unfinished(dashboard))
        if (found := next(filter(None, same), None)) is None:
            raise UsageError("No unfinished hardening was begun for the same", hint="Apply it anew")
        steps = found
    begin = partial(try_out, decided, steps, config, key=dashboard.key, resume=resume)
    dashboard.runs.start(f"Hardening {count(len(decided.decision.choice.chosen), 'place')}", begin, place=PLACE)
    latest = await asyncio.to_thread(dashboard.runs.await_id, PATIENCE_SECONDS)
    return RedirectResponse(latest.address if latest else PLACE, 303)


async def take_back(request: Request) -> Response:
    """The latest that is in force."""
    dashboard = dashboard_of(request)
    if dashboard.read_only:
        raise UsageError("Nothing can be changed from here", hint="`cutset harden --undo` does it")
    done = await undo(dashboard.store)
    return RedirectResponse(f"{PLACE}/{quote(done.run)}", 303)


async def hardening(request: Request) -> Response:
    dashboard, run = dashboard_of(request), _run_of(request)
    now = look(dashboard, run.id)
    body = [
        h.h1["Hardening ", h.span(".mono")[bounded(run.id)]],
        h.p(".muted")["begun ", when(run.started_at), " · ", h.a(href=PLACE)["all hardenings"]],
        live_parts(now, f"/live{PLACE}/{quote(run.id)}"),
    ]
    return HTMLResponse(page(dashboard.frame(), MENU, f"Hardening {run.id}", body, scripts=now.scripts))


async def live_hardening(request: Request) -> Response:
    dashboard, run = dashboard_of(request), _run_of(request)
    return stream(request, dashboard.pace, lambda: look(dashboard, run.id))


def _run_of(request: Request) -> RunRecord:
    return dashboard_of(request).reading.run(Loop.HARDENING, request.path_params["run"])


def look(dashboard: Dashboard, wanted: str) -> PageLook:
    """All parts of its page, as they are now."""
    run = dashboard.reading.run(Loop.HARDENING, wanted)
    state, events, again = _state(dashboard, run), _own_events(dashboard, run), _explored_again(dashboard, run)
    dated = _dated(dashboard, run.id)
    started = next((event for event in events if isinstance(event, HardeningStarted)), None)
    known = dashboard.reading.campaign(started.campaign) if started else None
    cuts = len(known.findings) if known else 0
    explored = _dated(dashboard, again.id) if again else []
    experiments = sum(isinstance(event, ExperimentFinished) for _, event in explored)
    parts: dict[str, h.Node] = {
        "controls": _controls(dashboard, run, state, events, known),
        "happened": [
            h.h2["What happened"],
            happened(dated, cuts=cuts, explored=explored, experiments=experiments),
        ],
        "tried": _tried(dashboard, events, known, again) if known and not state.under_way else None,
    }
    status = in_one_line(dated, cuts=cuts) if not explored else f"{count(experiments, 'experiment')} explored again"
    return PageLook({name: str(h.div[part]) for name, part in parts.items()}, status, ended=not state.under_way)


def _tried(dashboard: Dashboard, events: list[HardeningEvent], known: Campaign, again: RunRecord | None) -> h.Node:
    explored = dashboard.reading.campaign(again.id) if again and again.finished else None
    found = tried_hardening(events, known, explored, dashboard.store)
    return tried(found if _in_force(dashboard, events) or found.restored else replace(found, undo=""))


def _controls(
    dashboard: Dashboard, run: RunRecord, state: RunState, events: list[HardeningEvent], known: Campaign | None
) -> h.Node:
    """What can be done with it, as it stands."""
    in_force = _in_force(dashboard, events)
    latest = dashboard.runs.latest
    return [
        h.p[_state_in_words(dashboard, run), " ", _held_by_mesh(events, in_force=in_force)],
        _ended(latest) if latest and latest.id == run.id and latest.problem else None,
        h.form(method="post", action=STOP)[h.button("#stop")["Stop, and take it back"]] if state.here else None,
        _undo_form(dashboard, run) if in_force and not state.under_way else None,
        _ways_on(known) if known and not state.under_way and not run.finished else None,
    ]


def _ended(latest: StartedRun) -> h.Element:
    return note(h.p[with_code(latest.problem)], h.p(".muted")[with_code(latest.hint)], kind="unknown")


def _undo_form(dashboard: Dashboard, run: RunRecord) -> h.Node:
    latest = [
        each for each in dashboard.reading.runs(Loop.HARDENING) if _in_force(dashboard, _own_events(dashboard, each))
    ]
    if latest[-1].id != run.id:
        return h.p(".muted")["A later hardening is in force: that one is undone first."]
    if dashboard.read_only:
        return h.p(".muted")["It is undone by ", code(undo_by_record_command(dashboard.store))]
    return h.form(method="post", action=f"{PLACE}/undo")[
        h.button("#undo")["Undo"], h.span(".muted")[" takes out of the mesh what it put there"]
    ]


def _ways_on(known: Campaign) -> h.Node:
    address = HardenQuery(campaign=known.id).address()
    return h.p[
        "It was interrupted. Choose the same ",
        h.a(href=address)["budget and costs"],
        " to resume it, or add ",
        code("--resume"),
        " to the command that began it.",
    ]


def _in_force(dashboard: Dashboard, events: list[HardeningEvent]) -> bool:
    """By the record, and by the file of a local mesh, which whoever undid it may have put back by hand."""
    change = left_by(events)
    if change is None:
        return False
    return not (change.file and change.original and change.original.exists() and is_undone(change, dashboard.store))


def _held_by_mesh(events: list[HardeningEvent], *, in_force: bool) -> h.Node:
    changed = any(isinstance(event, MeshChanging) and event.added for event in events)
    return h.span(".tag")["in force" if in_force else "taken back"] if changed else None


def _state(dashboard: Dashboard, run: RunRecord) -> RunState:
    """While it explores again, that campaign is what another process tells of."""
    state, again = state_of(dashboard, run), _explored_again(dashboard, run)
    if state.under_way or again is None or again.finished:
        return state
    return replace(state, elsewhere=state_of(dashboard, again).elsewhere)


def _state_in_words(dashboard: Dashboard, run: RunRecord) -> h.Element:
    state = _state(dashboard, run)
    if not state.under_way and not run.finished:
        return verdict("unknown", "interrupted")
    return state_in_words(state)


def _explored_again(dashboard: Dashboard, run: RunRecord) -> RunRecord | None:
    own = [each for each in dashboard.reading.runs(Loop.CAMPAIGN) if each.started.part_of == run.id]
    return own[-1] if own else None


def _own_events(dashboard: Dashboard, run: RunRecord) -> list[HardeningEvent]:
    return [event for event in dashboard.reading.events(run.id) if isinstance(event, HardeningEvent)]


def _dated(dashboard: Dashboard, run: str) -> DatedEvents:
    followed = dashboard.reading.refreshed()
    return followed.dated_events(run) if followed else []


def _unfinished(dashboard: Dashboard) -> list[RunRecord]:
    """The latest one, if nobody goes on with it: no other can be resumed."""
    runs = [run for run in dashboard.reading.runs(Loop.HARDENING) if not run.finished]
    return [run for run in runs[-1:] if not _state(dashboard, run).under_way]


def _same(run: RunRecord, decided: Decided, config: Config, dashboard: Dashboard) -> Steps | None:
    """The steps with which this run was begun for the same decision; None: it was for another."""
    for verify, explore in ((True, True), (True, False), (False, True), (False, False)):
        steps = steps_for(dashboard, config, verify=verify, explore=explore)
        if can_resume(run, decided, steps, config):
            return steps
    return None


def _acting(request: Request) -> tuple[Dashboard, Config]:
    dashboard = dashboard_of(request)
    if not dashboard.can_act or dashboard.config_file is None:
        raise UsageError("Nothing can be started from here", hint="`cutset ui` says why when it starts")
    return dashboard, load_config(dashboard.config_file)


ROUTES = [
    Route(f"{MENU}/apply", confirm),
    Route(f"{MENU}/apply", apply, methods=["POST"]),
    Route(PLACE, hardenings),
    Route(f"{PLACE}/undo", take_back, methods=["POST"]),
    Route(f"{PLACE}/{{run}}", hardening),
    Route(f"/live{PLACE}", live_hardenings),
    Route(f"/live{PLACE}/{{run}}", live_hardening),
]
