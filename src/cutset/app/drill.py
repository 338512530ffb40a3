"""Drills of one service: what would be tested, a session from its start or where it was interrupted, one test again."""

import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cutset.app.guarding import guarded, shown_as_active
from cutset.app.report_file import write_report
from cutset.drill.flows import flows_of
from cutset.drill.history import PastDrill, due, subject_of
from cutset.drill.phases import ENVIRONMENT
from cutset.drill.plan import Flow, Plan, make_plan, points_in, representatives
from cutset.drill.session import Choose, run_session
from cutset.drill.settings import DrillSettings
from cutset.errors import CutsetError, UsageError
from cutset.experiment.gate import Gate
from cutset.model.drill import DrillEvent, DrillFinished, DrillsPlanned, DrillTest, session_of
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.wording import count, did_you_mean, known_names, quoted, sentences
from cutset.report.drill.markdown import to_markdown
from cutset.report.drill.page import drill_page
from cutset.report.replaying import replay_command
from cutset.store.ledger import NAME, Ledger, open_existing_ledger, open_ledger
from cutset.store.runs import fingerprint, latest_run, new_run, resumed_run
from cutset.workload.recording.folder import Recorded, read_recording
from cutset.workload.templates.rules import rules_for

FOLDER = "drills"  # of the store: pages, and what services under test printed


@dataclass(frozen=True, slots=True)
class DrillCase:
    """A service under test, and the flows that were recorded of it."""

    settings: DrillSettings
    recorded: Recorded
    flows: Sequence[Flow]


def read_case(settings: DrillSettings) -> DrillCase:
    recorded = read_recording(settings.recording)
    flows = flows_of(recorded.exchanges, rules_for(settings.recording))
    if not flows:
        raise UsageError(
            f"The recording in `{settings.recording}` has no request that can be sent again",
            hint="Record some with `cutset record`",
        )
    names = dict.fromkeys(flow.name for flow in flows)
    for name in settings.classes:
        if name not in names:
            raise UsageError(
                f"`drill.classes` names `{name}`, which no flow of the recording is called",
                hint=sentences(did_you_mean(name, names), known_names(names)),
            )
    return DrillCase(settings, recorded, flows)


def plan_drills(case: DrillCase, *, store: Path, again: bool = False) -> Plan:
    """By the recording alone: a run asks the service, too. `again` also takes what passed and has not expired."""
    if not (store / NAME).exists():
        return _plan(case, case.flows, (), again=again)
    with open_existing_ledger(store) as ledger:
        return _plan(case, case.flows, [past for _, past in _past(ledger)], again=again)


async def drill(
    case: DrillCase, *, store: Path, resume: bool = False, again: bool = False
) -> AsyncGenerator[DrillEvent, None]:
    """Every event of the session from its beginning on, each after it was recorded; the first one tells its id."""
    flows, _ = representatives(case.flows, case.settings.selection.top)
    started = _started(case, flows)
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(guarded(store, case.settings.guards, Loop.DRILL, ENVIRONMENT))
        ledger = stack.enter_context(open_ledger(store))
        run = stack.enter_context((resumed_run if resume else new_run)(ledger, started))
        stack.enter_context(shown_as_active(gate, store, run, _tested_in(case, flows), config=case.settings.path))
        past = [each for _, each in _past(ledger)]

        def choose(as_it_runs_now: Sequence[Flow]) -> DrillsPlanned:
            plan = _plan(case, as_it_runs_now, past, again=again)
            return DrillsPlanned(tests=tuple(each.test for each in plan.tests), not_repeated=len(plan.not_repeated))

        async with aclosing(_recorded(ledger, run, case, flows, choose, gate=gate)) as events:
            async for event in events:
                yield event


async def replay_drill(case: DrillCase, test_id: str, *, store: Path) -> AsyncGenerator[DrillEvent, None]:
    """One test again, as a run of its own. The service is asked first here, too: what it finds cold would differ."""
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(guarded(store, case.settings.guards, Loop.DRILL, ENVIRONMENT))
        ledger = stack.enter_context(open_ledger(store))
        test, found_by = _find(ledger, case, test_id)
        flows, _ = representatives((flow for flow in case.flows if flow.name == test.flow), 1)
        started = replace(_started(case, flows), part_of=found_by)
        run = stack.enter_context(new_run(ledger, started))
        stack.enter_context(shown_as_active(gate, store, run, str(test), config=case.settings.path))
        chosen = DrillsPlanned(tests=(test,))
        async with aclosing(_recorded(ledger, run, case, flows, lambda _: chosen, gate=gate)) as events:
            async for event in events:
                yield event


def _tested_in(case: DrillCase, flows: Mapping[str, Flow]) -> str:
    command = " ".join(case.settings.service.command)
    return f"drills of a service of our own, `{command}`, in {count(len(flows), 'flow')}"


def write_page(store: Path, events: Sequence[DrillEvent]) -> Path:
    """The page of the run whose events these are."""
    started = next(event for event in events if isinstance(event, RunStarted))
    page = store / FOLDER / started.run / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # What a service answered is for who drilled it.
    write_report(page, drill_page(session_of(events), replay=replay_command(started, store)), private=True)
    return page


def recorded_drills(store: Path, run: str = "") -> list[DrillEvent]:
    """What was recorded of a session; by default the latest."""
    with open_existing_ledger(store) as ledger:
        return [e for e in ledger.events(latest_run(ledger, Loop.DRILL, run).id) if isinstance(e, DrillEvent)]


def write_drill_reports(
    store: Path, events: Sequence[DrillEvent], *, html: Path | None = None, markdown: Path | None = None
) -> None:
    started = next(event for event in events if isinstance(event, RunStarted))
    session, replay = session_of(events), replay_command(started, store)
    hint = f"What was found is kept: see `cutset report {started.run}`"
    if html:
        write_report(html, drill_page(session, replay=replay), hint=hint)
    if markdown:
        write_report(markdown, to_markdown(session, replay=replay), hint=hint)


def old_history(store: Path) -> Path | None:
    """Where earlier versions kept what drills had found, if it is there. It is not read."""
    path = store / "drills.jsonl"
    return path if path.exists() else None


async def _recorded(
    ledger: Ledger, run: str, case: DrillCase, flows: Mapping[str, Flow], choose: Choose, *, gate: Gate
) -> AsyncGenerator[DrillEvent, None]:
    before = [event for event in ledger.events(run) if isinstance(event, DrillEvent)]
    for event in before:
        yield event
    session = run_session(
        flows,
        case.settings,
        choose,
        past=before,
        record=partial(ledger.append, run),
        logs=ledger.folder / FOLDER / run,
        gate=gate,
    )
    has_plan = any(isinstance(event, DrillsPlanned) for event in before)
    try:
        async with aclosing(session) as events:
            async for event in events:
                has_plan = has_plan or isinstance(event, DrillsPlanned)
                yield event
    except CutsetError:
        if not has_plan:  # there is nothing to go on with, and an earlier session may still be resumed
            ledger.append(run, RunFinished())
        raise
    ledger.append(run, RunFinished())
    yield RunFinished()


def _started(case: DrillCase, flows: Mapping[str, Flow]) -> RunStarted:
    service = case.settings.service
    return RunStarted(
        loop=Loop.DRILL,
        fingerprint=fingerprint(
            command=service.command,
            environment=service.env,
            recording={name: [step.exchange.id for step in flow.steps] for name, flow in flows.items()},
        ),
        command="drill",
        config=str(case.settings.path or ""),
    )


def _plan(case: DrillCase, flows: Sequence[Flow], past: Sequence[PastDrill], *, again: bool) -> Plan:
    """What passed lately is not repeated."""
    settings = case.settings
    made = make_plan(flows, settings.selection)
    if settings.selection.only and not made.tests:
        raise UsageError(
            f"No point of the recording begins with {quoted(settings.selection.only)}",
            hint=f"There are {', '.join(sorted(map(str, points_in(flows)))) or 'none'}",
        )
    recorded, _ = representatives(case.flows, settings.selection.top)
    tests = [(each, subject_of(settings.service, recorded[each.test.flow])) for each in made.tests]
    run, not_repeated = due(tests, past, now=time.time(), expire_days=0.0 if again else settings.expire_days)
    return replace(made, tests=tuple(run), not_repeated=tuple(not_repeated))


def _past(ledger: Ledger) -> Iterator[tuple[str, PastDrill]]:
    """All drills that have finished, each with its run, the latest last."""
    for run in ledger.runs(Loop.DRILL):
        for at, event in ledger.dated_events(run.id):
            if isinstance(event, DrillFinished):
                yield run.id, PastDrill(at, event)


def _find(ledger: Ledger, case: DrillCase, test_id: str) -> tuple[DrillTest, str]:
    """A test of the past, with its run, as long as its flow exists; or one that would be planned."""
    names = {flow.name for flow in case.flows}
    for run, past in reversed(list(_past(ledger))):
        test = past.finished.result.test
        if test.id == test_id and test.flow in names:
            return test, run
    for planned in make_plan(case.flows, case.settings.selection).tests:
        if planned.test.id == test_id:
            return planned.test, ""
    raise UsageError(f"There is no test `{test_id}`", hint="`cutset drill --plan` lists them with their ids")
