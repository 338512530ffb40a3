"""A finding: what the user sees, the traces, the evidence, the remedy, the history; try it again, or accept it."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import htpy as h
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cutset.app.acceptance import LONGEST_REASON, accept_finding, accepted_in
from cutset.app.explore import Retrial, replay_finding
from cutset.config.explore import load_config
from cutset.errors import UsageError
from cutset.model.evidence import EvidenceKept
from cutset.model.outcome import Verdict
from cutset.model.run import Loop
from cutset.report.campaign.finding import (
    IN_THE_FILE,
    AnswerAddresses,
    PastVerdict,
    ShownFinding,
    body,
    headline,
    past_verdict,
    remedy_grounds,
    seen,
    shown_finding,
    traces,
)
from cutset.report.campaign.terminal import describe_cut
from cutset.report.page.answer import POLICY, is_page, rendered
from cutset.report.page.components import note, verdict, with_code
from cutset.report.replaying import replay_command
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.forms import form_of
from cutset.web.frame import page

MOST_HISTORY = 10  # campaigns, the latest


async def finding(request: Request) -> Response:
    dashboard = dashboard_of(request)
    shown = _shown(request)
    shown = replace(shown, history=_history(dashboard, shown))
    at, again = _address(shown), _again(dashboard, shown)
    content = [
        h.p(".small")[h.a(href=f"/campaigns/{shown.campaign.id}")[f"Campaign {shown.campaign.id}"]],
        headline(shown),
        again,
        body(shown, AnswerAddresses(f"{at}/answer", f"{at}/healthy-answer")),
        h.h2("#acceptance")["Accept it"],
        _acceptance(dashboard, shown),
    ]
    title = f"{shown.finding.request}: {describe_cut(shown.finding.cut)}"
    return HTMLResponse(page(dashboard.frame(), "/campaigns", title, content, scripts=("refresh.js",)))


async def answer(request: Request) -> Response:
    return _served(_shown(request).faulted)


async def healthy_answer(request: Request) -> Response:
    return _served(_shown(request).healthy)


async def accept(request: Request) -> Response:
    dashboard, shown = dashboard_of(request), _shown(request)
    because = dict(await form_of(request)).get("because", "")
    accept_finding(dashboard.store, shown.campaign.id, shown.finding.id, because, dashboard.baseline_file)
    return RedirectResponse(f"{_address(shown)}#acceptance", 303)


async def try_again(request: Request) -> Response:
    dashboard, shown = dashboard_of(request), _shown(request)
    if not dashboard.can_act or dashboard.config_file is None:
        raise UsageError("Nothing can be started here", hint="It takes a configuration, and `CUTSET_KEY`")
    config = load_config(dashboard.config_file)

    async def retrial() -> AsyncGenerator[Retrial, None]:
        yield await replay_finding(config, shown.finding.id, key=dashboard.key, store=dashboard.store)

    dashboard.runs.start(_trying(shown), retrial, finish=lambda results: results[0])
    return RedirectResponse(_address(shown), 303)


def _shown(request: Request) -> ShownFinding:
    dashboard, wanted = dashboard_of(request), request.path_params["finding"]
    campaign = dashboard.reading.campaign(request.path_params["run"])
    replay = replay_command(campaign.started, dashboard.store)
    grounds = dashboard.reading.computed("remedy grounds", campaign.id, lambda: remedy_grounds(campaign))
    if shown := shown_finding(campaign, wanted, replay, grounds):
        return shown
    raise UsageError(f"There is no finding `{wanted}` in campaign `{campaign.id}`", hint="Choose one from the campaign")


def _address(shown: ShownFinding) -> str:
    return f"/campaigns/{shown.campaign.id}/findings/{shown.finding.id}"


def _history(dashboard: Dashboard, shown: ShownFinding) -> tuple[PastVerdict, ...]:
    reading = dashboard.reading
    return tuple(
        reading.computed(
            f"history of {shown.finding.id}",
            run.id,
            lambda run=run: past_verdict(shown.finding, run, reading.campaign(run.id)),  # type: ignore[misc]
        )
        for run in reversed(reading.runs(Loop.CAMPAIGN)[-MOST_HISTORY:])
    )


def _served(evidence: EvidenceKept | None) -> Response:
    kept = evidence.answer if evidence else None
    if kept is None or not is_page(kept):
        raise HTTPException(404)
    return HTMLResponse(rendered(kept), headers={"content-security-policy": POLICY})


def _trying(shown: ShownFinding) -> str:
    return f"Trying finding {shown.finding.id} again"


def _again(dashboard: Dashboard, shown: ShownFinding) -> h.Node:
    """What came of it, if that was the last thing that was started here; and the button for it."""
    latest = dashboard.runs.latest
    told: h.Node = None
    trying = False
    if latest and latest.what == _trying(shown):
        trying = not latest.ended
        if not latest.ended:
            told = note("It is being tried again …")
        elif isinstance(latest.result, Retrial):
            told = _retried(latest.result)
        else:
            told = note(
                h.b["It could not be tried again: "], latest.problem, " ", with_code(latest.hint), kind="unknown"
            )
    button = (
        h.form(method="post", action=f"{_address(shown)}/replay")[h.button(".primary")["Try it again"]]
        if dashboard.can_act and not dashboard.runs.current
        else None
    )
    return h.div("#again", role="status", data_under_way=trying)[told, button]


def _retried(retrial: Retrial) -> h.Node:
    before, now = retrial.finding.outcome.verdict, retrial.outcome
    words = {
        Verdict.FAILED: "still fails" if before is Verdict.FAILED else "fails now",
        Verdict.DEGRADED: "is degraded" if before is Verdict.FAILED else "is still degraded",
        Verdict.SURVIVED: "no longer fails" if before is Verdict.FAILED else "is answered in full",
        Verdict.UNKNOWN: "could not tell",
    }[now.verdict]
    return h.section(aria_label="Tried again")[
        note(h.b["Tried again just now: "], verdict(now.verdict, words), " ", with_code(now.reason), kind=now.verdict),
        h.details[
            h.summary["What it got this time"],
            seen(retrial.faulted, retrial.healthy, IN_THE_FILE),
            traces(retrial.faulted, retrial.healthy),
        ]
        if retrial.faulted
        else None,
    ]


def _acceptance(dashboard: Dashboard, shown: ShownFinding) -> h.Node:
    file = str(dashboard.baseline_file)
    try:
        known = accepted_in(dashboard.baseline_file, shown.finding.id)
    except UsageError as error:
        return note(error.message, " ", with_code(error.hint), kind="unknown")
    return [
        note("Accepted in ", h.code[file], ": ", known.because or "no reason is given", kind="passed")
        if known
        else None,
        None if dashboard.read_only else _form(shown, file, known.because if known else ""),
    ]


def _form(shown: ShownFinding, file: str, because: str) -> h.Element:
    return h.form(method="post", action=f"{_address(shown)}/accept")[
        h.p[h.label(for_="because")["Why may it stay? ", h.span(".muted")["It is written to ", h.code[file]]]],
        h.p[
            h.textarea("#because", name="because", required=True, maxlength=str(LONGEST_REASON), rows="2", cols="70")[
                because
            ]
        ],
        h.button["Change the reason" if because else "Accept into the baseline"],
    ]


_AT = "/campaigns/{run}/findings/{finding}"
ROUTES = [
    Route(_AT, finding),
    Route(f"{_AT}/answer", answer),
    Route(f"{_AT}/healthy-answer", healthy_answer),
    Route(f"{_AT}/accept", accept, methods=["POST"]),
    Route(f"{_AT}/replay", try_again, methods=["POST"]),
]
