"""`cutset impact`: what a fault at a rate, on a share of requests, does to everything upstream."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from cutset.app.impact import ImpactPlan, measure
from cutset.app.impact_results import (
    RecordedImpact,
    exit_code,
    read_recorded_impact,
    recorded_in,
    write_impact_markdown,
    write_impact_page,
)
from cutset.app.impact_workflow import targets_of, workflow_numbered
from cutset.cli.amounts import pairs, percentage, percentages, seconds, whole_percentage
from cutset.cli.impact_consent import confirm
from cutset.cli.impact_progress import show_impact_progress
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, RequestOption, StoreOption
from cutset.cli.output import notes, print_document, print_lines
from cutset.cli.run import run_async
from cutset.cli.survey import show_survey
from cutset.config.explore import Config, adjusted, load_config, load_place, plan_key
from cutset.errors import HaltedError, UsageError
from cutset.impact.settings import ImpactSettings
from cutset.model.impact import Impact, ImpactEvent, TrafficSource
from cutset.report.impact.comparison import (
    ImpactComparison,
    compare,
    comparison_document,
    comparison_lines,
)
from cutset.report.impact.json import impact_document
from cutset.report.impact.terminal import impact_lines


def impact_command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAULT",
            help="Where: `payment/Charge`, `payment` for all of its APIs, `cart>cache/redis/get` for a caller's own "
            "side; with an effect of its own: `payment/Charge:timeout`. Several happen together.",
        ),
    ] = None,
    rate: Annotated[
        str, typer.Option("--rate", help="How many of a faulted request's calls fail there, as `30%`; else all.")
    ] = "",
    share: Annotated[
        str,
        typer.Option(
            "--share", help="Of requests, with the fault; as many again are control. `5%` of live ones, else `50%`."
        ),
    ] = "",
    ramp: Annotated[
        str, typer.Option("--ramp", help="Shares one after the other, while nothing speaks against it: `0.1%,1%,5%`.")
    ] = "",
    effect: Annotated[
        str, typer.Option("--effect", "-e", help="What happens to a call: `abort(503)`, `delay(2s)`, `timeout`, …")
    ] = "",
    before: Annotated[str, typer.Option("--before", help="How long to watch before the fault: `30s`, `2m`.")] = "",
    during: Annotated[str, typer.Option("--during", help="How long to inject, at most, in each step.")] = "",
    after: Annotated[str, typer.Option("--after", help="How long to watch the recovery.")] = "",
    method: Annotated[str, typer.Option("--method", help="Mark only live requests with this method.")] = "",
    path: Annotated[
        str, typer.Option("--path", help="… with this path: `/cart`, `/product/*`, `/api/**` for all below.")
    ] = "",
    header: Annotated[list[str] | None, typer.Option("--header", help="… with this header, `NAME=VALUE`.")] = None,
    cookie: Annotated[list[str] | None, typer.Option("--cookie", help="… with this cookie, `NAME=VALUE`.")] = None,
    query: Annotated[list[str] | None, typer.Option("--query", help="… with this parameter, `NAME=VALUE`.")] = None,
    user_header: Annotated[
        str, typer.Option("--user-header", help="The header that tells users apart: one is always in or always out.")
    ] = "",
    user_cookie: Annotated[str, typer.Option("--user-cookie", help="… or the cookie.")] = "",
    load: Annotated[
        float | None,
        typer.Option("--load", min=0.1, max=10_000, help="Send the requests of cutset.yaml, so many per second."),
    ] = None,
    request: RequestOption = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="RECORDING", help="Send what `cutset record` wrote, `--load` flows a second."),
    ] = None,
    workflow: Annotated[
        int,
        typer.Option(
            "--workflow",
            min=0,
            show_default=False,
            help="Each service and call of this one of `cutset workflows`, in turn.",
        ),
    ] = 0,
    margin: Annotated[
        str, typer.Option("--margin", help="More failures than this matter, fewer are called resilient; else `2%`.")
    ] = "",
    alpha: Annotated[
        str, typer.Option("--alpha", help="The chance of any false alarm, over all APIs together; else `1%`.")
    ] = "",
    against: Annotated[
        str, typer.Option("--against", metavar="RUN", help="Compare with this run: exits 1 only if it got worse.")
    ] = "",
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a page with timelines.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Also write Markdown, for a comment.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before live requests are marked.")] = False,
    as_json: JsonOption = False,
    config_file: ConfigOption = DEFAULT_CONFIG,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Fail a call at a rate, on a share of requests, and say what that does to each API upstream.

    Requests are marked by a coin: some with the fault, as many with an empty plan, the control. Both meet the same
    system at the same time, so that what differs is the fault's doing. Without `--load` or `--replay` these are live
    requests, which the edge of the mesh asks about; without an answer none is marked, so that nothing is left behind
    when this command ends, however it ends. Guards (`guards` in cutset.yaml), Ctrl-C and `cutset halt` stop it at once.

    Exit codes: 0 resilient, 1 affected, 3 cannot tell, 4 halted by a guard, 130 interrupted.

    Examples:

    - `cutset impact payment/Charge --rate 30% --share 5%`: on live traffic
    - `cutset impact payment/Charge --ramp 0.1%,1%,5% --user-cookie session`: carefully, each user in or out for good
    - `cutset impact payment:timeout --path "/cart/**" --header x-beta=1`: all of a service, for some requests alone
    - `cutset impact ad/GetAds --load 20 -r "GET /"`: on requests of our own, 20 per second
    - `cutset impact cart/GetCart -e "delay(500ms)" --replay recording`: on what was recorded
    - `cutset impact --workflow 1 --load 20`: each service and call of the most common workflow
    - `cutset impact ad/GetAds --load 20 --against 20261117-041612-3fb2 --html impact.html`: in CI
    """
    traffic = TrafficSource.REPLAY if replay else TrafficSource.LOAD if load else TrafficSource.LIVE
    live_only = {"--method": method, "--path": path, "--header": header, "--cookie": cookie, "--query": query}
    live_only |= {"--user-header": user_header, "--user-cookie": user_cookie}
    _refuse_what_does_not_go_together(what, workflow, traffic, live_only, request, against)
    config = load_config(config_file) if traffic is TrafficSource.LOAD else load_place(config_file)
    said = {
        "rate": whole_percentage(rate, "--rate") if rate else None,
        "share": percentage(share, "--share") if share else None,
        "ramp": percentages(ramp, "--ramp") if ramp else None,
        "effect": effect or None,
        "before": seconds(before, "--before") if before else None,
        "during": seconds(during, "--during") if during else None,
        "after": seconds(after, "--after") if after else None,
        "margin": percentage(margin, "--margin") if margin else None,
        "alpha": percentage(alpha, "--alpha") / 100 if alpha else None,
        "load": load,
        "method": method or None,
        "path": path or None,
        "headers": pairs(header or (), "--header") or None,
        "cookies": pairs(cookie or (), "--cookie") or None,
        "query": pairs(query or (), "--query") or None,
        "user_header": user_header or None,
        "user_cookie": user_cookie or None,
    }
    settings = adjusted_impact(config.impact, said)
    config = replace(adjusted(config, requests=request or ()), impact=settings)
    past = read_recorded_impact(store, against).impact if against else None
    parts: tuple[tuple[str, ...], ...] = (tuple(what or ()),)
    if workflow:
        parts = targets_of(workflow_numbered(show_survey(store, "", "", ""), workflow))
    plan = ImpactPlan(parts, traffic, recording=replay, workflow=workflow)
    key = plan_key(config, os.environ)
    asks = traffic is TrafficSource.LIVE and not yes
    if asks and not sys.stdin.isatty():
        raise UsageError(
            "Live requests of users would be marked, and nobody can be asked",
            hint="Say `--yes` in a script; or use requests of your own: `--load 20`",
        )
    events: list[ImpactEvent] = []
    stopped = _run(config, plan, key, store, events, asks=asks)
    recorded = recorded_in(events)
    impacts = [each.impact for each in recorded]
    if stopped.before_anything(impacts):
        raise stopped.error or KeyboardInterrupt
    comparison = compare(past, impacts[-1]) if past and impacts and impacts[-1].finished else None
    shown = _Shown(
        html, markdown, workflow, links=config.collector.server, repeat=shlex.join(["cutset", *sys.argv[1:]])
    )
    _show(recorded, comparison, shown, as_json=as_json)
    if stopped.error:
        notes().print(f"[red]halted:[/] {escape(stopped.error.message)}")
    if stopped.interrupted:
        notes().print(f"Stopped; nothing is injected any more. What is known is kept as `{impacts[-1].run}`")
        raise KeyboardInterrupt
    raise typer.Exit(exit_code(impacts, comparison))


@dataclass(slots=True)
class _Stopped:
    """Why it did not come to its end by itself."""

    error: HaltedError | None = None
    interrupted: bool = False

    def before_anything(self, impacts: Sequence[Impact]) -> bool:
        return not impacts and (self.interrupted or self.error is not None)


def _run(
    config: Config, plan: ImpactPlan, key: bytes, store: Path, events: list[ImpactEvent], *, asks: bool
) -> _Stopped:
    measuring = measure(config, plan, key=key, store=store, on_note=_show_note, approve=confirm if asks else None)
    _show_note("first, a look at what requests call")
    try:
        run_async(show_impact_progress(measuring, events))
    except HaltedError as error:
        return _Stopped(error=error)
    except KeyboardInterrupt:
        return _Stopped(interrupted=True)
    return _Stopped()


def adjusted_impact(settings: ImpactSettings, said: dict[str, Any]) -> ImpactSettings:
    """What is said here wins over the file; None stands for what is not said."""
    known = {name: value for name, value in said.items() if value is not None}
    matching = {name: known.pop(name) for name in ("method", "path", "headers", "cookies", "query") if name in known}
    users = {name: known.pop(f"user_{name}") for name in ("header", "cookie") if f"user_{name}" in known}
    if "share" in known and "ramp" in known:
        raise UsageError("`--share` and `--ramp` exclude each other", hint="The steps of a ramp are shares")
    if "share" in known:
        known["ramp"] = ()
    if "ramp" in known:
        known["share"] = known.get("share")
    if users:
        known["user"] = type(settings.user)(**users)
    return replace(settings, **known, matching=replace(settings.matching, **matching))


def _refuse_what_does_not_go_together(
    what: Sequence[str] | None,
    workflow: int,
    traffic: TrafficSource,
    live_only: Mapping[str, object],
    requests: Sequence[str] | None,
    against: str,
) -> None:
    if bool(what) == bool(workflow):
        hint = "As `cutset impact payment/Charge`, or `cutset impact --workflow 1`"
        raise UsageError("Name where the fault is, or a workflow" + (", not both" if what else ""), hint=hint)
    if traffic is not TrafficSource.LIVE and (wrong := [name for name, value in live_only.items() if value]):
        raise UsageError(f"`{wrong[0]}` is for live requests, and these are our own", hint="Choose with `-r REQUEST`")
    if requests and traffic is not TrafficSource.LOAD:
        raise UsageError("`--request` goes with `--load`", hint="Live requests are chosen with `--path` and `--method`")
    if against and workflow:
        raise UsageError("`--against` compares one run with one run, and `--workflow` makes several")


@dataclass(frozen=True, slots=True)
class _Shown:
    html: Path | None
    markdown: Path | None
    workflow: int
    links: str  # where traces can be looked at
    repeat: str  # the command that does the same again

    def numbered(self, file: Path, number: int) -> Path:
        """Of a workflow, each run has files of its own."""
        return file.with_stem(f"{file.stem}-{number}") if self.workflow else file


def _show(
    recorded: Sequence[RecordedImpact],
    comparison: ImpactComparison | None,
    shown: _Shown,
    *,
    as_json: bool,
) -> None:
    impacts = [each.impact for each in recorded]
    for number, each in enumerate(recorded, start=1):
        if shown.html:
            page = shown.numbered(shown.html, number)
            write_impact_page(page, each, links=shown.links, repeat=shown.repeat)
            notes().print(f"[dim]page: {escape(str(page))}[/]")
        if shown.markdown:
            write_impact_markdown(shown.numbered(shown.markdown, number), each, repeat=shown.repeat)
    if as_json:
        documents = [impact_document(impact, shown.links, shown.repeat) for impact in impacts]
        whole = {"workflow": shown.workflow, "impacts": documents} if shown.workflow else documents[-1]
        print_document(whole | ({"against": comparison_document(comparison)} if comparison else {}))
        return
    for number, impact in enumerate(impacts, start=1):
        last = number == len(impacts)
        print_lines(["", *impact_lines(impact)] if number > 1 else impact_lines(impact, shown.repeat if last else ""))
    if comparison:
        print_lines(["", *comparison_lines(comparison)])


def _show_note(note: str) -> None:
    notes().print(f"[dim]note: {escape(note)}[/]")
