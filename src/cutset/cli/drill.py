"""`cutset drill`: faults inside a freshly started service, while recorded requests are sent to it."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, StoreOption
from cutset.cli.record import report_losses
from cutset.cli.run import run_async
from cutset.config.drill import load_drill
from cutset.drill import history
from cutset.drill.flows import flows_of
from cutset.drill.plan import Flow, Plan, PlannedTest, make_plan, points_of_flows, representatives
from cutset.drill.session import DrillFinished, PhaseBegan, ServiceStarted, SessionEvent, reconnoitre, run_session
from cutset.drill.settings import DrillSettings
from cutset.errors import TargetError, UsageError
from cutset.model.drill import DrillResult, DrillTest, DrillVerdict
from cutset.model.run import Loop, RunStarted
from cutset.report.drill.page import drill_page
from cutset.report.drill.terminal import plan_document, plan_lines, result_lines, results_document
from cutset.report.replaying import replay_command
from cutset.store.run_id import new_run_id
from cutset.workload.recording.folder import read_recording
from cutset.workload.templates.rules import rules_for


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
    settings = _adjusted(load_drill(config_file), recording, only, faults, seed)
    recorded = read_recording(settings.recording)
    report_losses(recorded, Console(stderr=True, highlight=False, markup=False, soft_wrap=True))
    flows = flows_of(recorded.exchanges, rules_for(settings.recording))
    if not flows:
        raise UsageError(
            f"The recording in `{settings.recording}` has no request that can be sent again",
            hint="Record some with `cutset record`",
        )
    begun = RunStarted(loop=Loop.DRILL, command="drill", config=str(config_file.absolute()))
    command = replay_command(begun, store)
    session = history.unfinished_session(store) if resume else new_run_id()
    if not session:
        raise UsageError("There is no interrupted session of drills to resume", hint="Start one with `cutset drill`")
    if not plan:
        flows = _as_it_runs_now(flows, settings, store, replay)
    made = make_plan(flows, settings.selection)
    if settings.selection.only and not made.tests:
        raise UsageError(
            f"No point of the recording begins with {' or '.join(f'`{each}`' for each in settings.selection.only)}",
            hint=f"There are {', '.join(sorted(map(str, points_of_flows(flows)))) or 'none'}",
        )
    if replay:
        tests: list[PlannedTest] = [_planned(made, store, replay)]
        skipped: list[tuple[PlannedTest, str]] = []
    else:
        expire_days = 0.0 if everything else settings.expire_days
        past = history.results(store)
        tests, skipped = history.due(
            made.tests, past, now=time.time(), expire_days=expire_days, session=session if resume else ""
        )
    if plan:
        _print_plan(tests, made, skipped, as_json=as_json)
        return
    if skipped:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(f"{len(skipped)} tests passed lately and are left out; `--again` runs them, too")
    if not replay:
        history.begin(store, session)
    raise typer.Exit(
        _run([each.test for each in tests], made, settings, session, command, store, starts=1, as_json=as_json)
    )


def _as_it_runs_now(recorded: Sequence[Flow], settings: DrillSettings, store: Path, replay: str) -> list[Flow]:
    """With what the service calls now. Also before a replay: what a first request finds cold would be a difference."""
    if replay:
        _planned(make_plan(recorded, settings.selection), store, replay)  # is there such a test, before a start
    chosen, _ = representatives(recorded, settings.selection.top)
    log = store / "drills" / "reconnaissance.log"
    found = run_async(reconnoitre(chosen, settings, log=log))
    if points_of_flows(recorded) and not any(step.called for flow in found for step in flow.steps):
        raise TargetError(
            "The service was sent its recorded requests, and the agent in it reported no call",
            hint=f"Does `drill.command` start the recorded service, in Python, with our environment? Its output: {log}",
        )
    return found


def _adjusted(
    settings: DrillSettings,
    recording: Path | None,
    only: list[str] | None,
    faults: list[str] | None,
    seed: int | None,
) -> DrillSettings:
    """What the command line says wins over the file."""
    selection = settings.selection
    return replace(
        settings,
        recording=recording or settings.recording,
        selection=replace(
            selection,
            only=tuple(only or ()),
            faults=tuple(faults or ()) or selection.faults,
            seed=selection.seed if seed is None else seed,
        ),
    )


def _planned(made: Plan, store: Path, wanted: str) -> PlannedTest:
    """By its id, from the plan; a test of the past that is no longer planned can be run as long as its flow exists."""
    for planned in made.tests:
        if planned.test.id == wanted:
            return planned
    for _, result in reversed(history.results(store)):
        if result.test.id == wanted and result.test.flow in made.flows:
            return PlannedTest(result.test, 1, "asked for")
    raise UsageError(f"There is no test `{wanted}`", hint="`cutset drill --plan` lists them with their ids")


def _print_plan(
    tests: Sequence[PlannedTest], made: Plan, skipped: Sequence[tuple[PlannedTest, str]], *, as_json: bool
) -> None:
    shown = (
        [(each.test, each.reason) for each in tests],
        [(each.what, each.reason) for each in made.pruned],
        [(each.test, reason) for each, reason in skipped],
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
    """A line for each start and each result on standard error; on a terminal the phase under way, too."""

    total: int
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False, soft_wrap=True))
    results: list[DrillResult] = field(default_factory=list)
    starts: int = 0

    def tell(self, event: SessionEvent) -> None:
        match event:
            case ServiceStarted():
                self.starts += 1
            case PhaseBegan(test=test, phase=phase):
                if self.console.is_terminal:
                    done = f"{len(self.results) + 1}/{self.total}"
                    self.console.print(f"\r\x1b[K[dim]{done}[/] {escape(str(test))}: {phase}", end="")
            case DrillFinished(result=result):
                self.results.append(result)
                cleared = "\r\x1b[K" if self.console.is_terminal else ""
                symptoms = ", ".join(dict.fromkeys(finding.symptom for finding in result.judgement.findings))
                told = f"{result.judgement.verdict}{f' ({symptoms})' if symptoms else ''}"
                done = f"{len(self.results)}/{self.total}"
                self.console.print(f"{cleared}[dim]{done}[/] {escape(str(result.test))}: {told}")


def _run(
    tests: Sequence[DrillTest],
    made: Plan,
    settings: DrillSettings,
    session: str,
    replay: str,
    store: Path,
    *,
    starts: int,
    as_json: bool,
) -> int:
    """Runs to the end and prints the report; returns the exit code. `starts` are those of the service so far."""
    progress = _Progress(len(tests), starts=starts)
    try:
        run_async(run_session(session, tests, made.flows, settings, store=store, tell=progress.tell))
    except KeyboardInterrupt:
        done = len(progress.results)
        progress.console.print(f"\nStopped; results kept: {done}. Go on with `cutset drill --resume`")
        raise
    results = [result for own, result in history.results(store) if own == session]
    page = store / "drills" / session / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(drill_page(results, replay=replay), encoding="utf-8")
    if as_json:
        document = results_document(results, starts=progress.starts, replay=replay)
        print(json.dumps(document | {"page": str(page)}, indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in result_lines(results, starts=progress.starts, replay=replay):
            console.print(line)
        console.print(f"page: {escape(str(page))}", style="dim")
    return exit_code(results)


def exit_code(results: Sequence[DrillResult]) -> int:
    verdicts = {result.judgement.verdict for result in results}
    if DrillVerdict.FAILED in verdicts:
        return 1
    return 3 if DrillVerdict.UNKNOWN in verdicts else 0
