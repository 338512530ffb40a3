"""`cutset drill`: faults inside a freshly started service, while recorded requests are sent to it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.drill import drill, old_history, plan_drills, read_case, replay_drill, write_drill_reports, write_page
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, StoreOption
from cutset.cli.output import Console
from cutset.cli.run import run_async
from cutset.config.drill import adjusted, load_drill
from cutset.drill.plan import Plan
from cutset.errors import UsageError
from cutset.model.drill import (
    DrillEvent,
    DrillFinished,
    DrillResult,
    DrillsPlanned,
    DrillVerdict,
    PhaseBegan,
    ServiceStarted,
    results_of,
)
from cutset.model.run import RunStarted
from cutset.model.wording import count
from cutset.report.drill.terminal import plan_document, plan_lines, result_lines, results_document
from cutset.report.replaying import replay_command, resume_command
from cutset.report.traffic.recording import loss_lines


def drill_command(
    config_file: ConfigOption = DEFAULT_CONFIG,
    recording: Annotated[Path | None, typer.Option("--recording", help="What `cutset record` wrote.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say which tests would run, and why not others.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="POINT", help="Points, or beginnings of them.")
    ] = None,
    faults: Annotated[
        list[str] | None, typer.Option("--faults", metavar="NAME", help="As `cutset faults` lists them.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Decides which services stand for many.")] = None,
    everything: Annotated[bool, typer.Option("--again", help="Also what passed and has not expired.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted session.")] = False,
    replay: Annotated[str, typer.Option("--replay", metavar="ID", help="Run one test again.")] = "",
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the page with timelines there.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Also write Markdown, for a comment.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Test how one Python service deals with failures of its database, cache, broker and of other services (CAST).

    `drill.command` of cutset.yaml starts the service with the agent in it. Recorded requests are sent before, during
    and after each fault; the answers and every call behind them decide. Nobody else's requests see a fault.

    Examples:

    - `cutset drill --plan`: the tests, and what was left out for which reason
    - `cutset drill --only db/ --faults connection-lost`: one fault at all points of databases
    - `cutset drill --resume`: after an interruption: no finished test is repeated
    - `cutset drill --replay 1f3a90bc`: is it fixed?
    """
    if sum((plan, resume, bool(replay))) > 1:
        raise UsageError("`--plan`, `--resume` and `--replay` exclude each other")
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    case = read_case(
        adjusted(load_drill(config_file), recording=recording, only=only or (), faults=faults or (), seed=seed)
    )
    for line in loss_lines(case.recorded):
        errors.print(line)
    if old := old_history(store):
        errors.print(
            f"`{escape(str(old))}` is of an earlier version of Cutset and is not read: what passed then is tested again"
        )
    if plan:
        _print_plan(plan_drills(case, store=store, again=everything), as_json=as_json)
        return
    progress = _Progress(errors)
    events = (
        replay_drill(case, replay, store=store) if replay else drill(case, store=store, resume=resume, again=everything)
    )
    try:
        run_async(progress.follow(events))
    except KeyboardInterrupt:
        _say_how_to_go_on(progress.events, store, replay, errors)
        raise
    code = _conclude(progress.events, store, as_json=as_json)
    write_drill_reports(store, progress.events, html=html, markdown=markdown)
    raise typer.Exit(code)


def _print_plan(plan: Plan, *, as_json: bool) -> None:
    shown = (
        [(each.test, each.reason) for each in plan.tests],
        [(each.what, each.reason) for each in plan.pruned],
        [(each.test, reason) for each, reason in plan.not_repeated],
    )
    if as_json:
        print(json.dumps(plan_document(*shown), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in plan_lines(*shown):
        console.print(line)
    console.print(
        "By the recording. A run asks the service first: other calls are added, those no longer made are left out.",
        style="dim",
    )


@dataclass(slots=True)
class _Progress:
    """A line for each result on standard error; on a terminal the phase under way, too."""

    console: Console
    events: list[DrillEvent] = field(default_factory=list)  # so far
    planned: int = 0
    finished: int = 0

    async def follow(self, events: AsyncGenerator[DrillEvent, None]) -> None:
        async with aclosing(events):
            async for event in events:
                self.events.append(event)
                self._tell(event)

    def _tell(self, event: DrillEvent) -> None:
        match event:
            case DrillsPlanned(tests=tests, not_repeated=not_repeated):
                self.planned = len(tests)
                if not_repeated:
                    left_out = f"{count(not_repeated, 'test')} passed lately and left out"
                    self.console.print(f"{left_out}; `--again` runs what passed, too")
            case PhaseBegan(test=test, phase=phase):
                if self.console.is_terminal:
                    done = f"{self.finished + 1}/{self.planned}"
                    self.console.print(f"\r\x1b[K[dim]{done}[/] {escape(str(test))}: {phase}", end="")
            case DrillFinished(result=result):
                self.finished += 1
                cleared = "\r\x1b[K" if self.console.is_terminal else ""
                symptoms = ", ".join(dict.fromkeys(finding.symptom for finding in result.judgement.findings))
                told = f"{result.judgement.verdict}{f' ({symptoms})' if symptoms else ''}"
                done = f"{self.finished}/{self.planned}"
                self.console.print(f"{cleared}[dim]{done}[/] {escape(str(result.test))}: {told}")


def _say_how_to_go_on(events: Sequence[DrillEvent], store: Path, replay: str, console: Console) -> None:
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        return
    command = f"{replay_command(started, store)} {replay}" if replay else resume_command(started, store)
    kept = "" if replay else f"; results kept: {len(results_of(events))}"
    console.print(f"\nStopped{kept}. Go on with `{escape(command)}`")


def _conclude(events: Sequence[DrillEvent], store: Path, *, as_json: bool) -> int:
    """Prints the report; returns the exit code."""
    started = next(event for event in events if isinstance(event, RunStarted))
    results, replay = results_of(events), replay_command(started, store)
    starts = sum(isinstance(event, ServiceStarted) for event in events)
    page = write_page(store, events)
    if as_json:
        document = results_document(results, starts=starts, replay=replay)
        print(json.dumps(document | {"page": str(page)}, indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in result_lines(results, starts=starts, replay=replay):
            console.print(line)
        console.print(f"page: {escape(str(page))}", style="dim")
    return exit_code(results)


def exit_code(results: Sequence[DrillResult]) -> int:
    verdicts = {result.judgement.verdict for result in results}
    if DrillVerdict.FAILED in verdicts:
        return 1
    return 3 if DrillVerdict.UNKNOWN in verdicts else 0
