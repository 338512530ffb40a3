"""Finds the fault behind a failure log, and writes what shows it again."""

import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from cutset.app.report_file import write_report
from cutset.config.case import CaseFile, build_case, case_text, kept_case, language_of, read_case, search_settings
from cutset.errors import CutsetError, UsageError
from cutset.model.reproduction.event import ProgramAnalysed, ReproductionEvent, ReproductionFinished
from cutset.model.reproduction.log import LogComparison
from cutset.model.reproduction.result import Language, ReproductionResult
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.report.replaying import from_here
from cutset.report.reproduction.json import to_document
from cutset.report.reproduction.markdown import to_markdown
from cutset.report.reproduction.page import reproduction_page
from cutset.reproduce.front_end import FrontEnd
from cutset.reproduce.jvm.front_end import JvmFrontEnd
from cutset.reproduce.logs.side_by_side import compare_logs
from cutset.reproduce.loop import reproduce as search
from cutset.reproduce.prepare import identity, read_subject
from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.settings import FailureCase, ReproductionSettings
from cutset.store.ledger import Ledger, open_existing_ledger, open_ledger
from cutset.store.runs import fingerprint, latest_run, new_run, resumed_run

FRONT_ENDS: dict[Language, FrontEnd] = {Language.PYTHON: PythonFrontEnd(), Language.JVM: JvmFrontEnd()}
PROGRAMS = "programs"  # in the store: what was read of the source, for the next search
CASE, FAILURE_LOG, RESULT, PAGE, REPLAY = "case.yaml", "failure.log", "result.json", "report.html", "replay"


@dataclass(frozen=True, slots=True)
class ReproductionPlan:
    """A failure to reproduce, and how."""

    case: FailureCase
    settings: ReproductionSettings
    given: CaseFile  # what a resumption starts from
    store: Path
    resumes: str = ""  # the id of the search that it goes on with; "": a new one

    @property
    def front_end(self) -> FrontEnd:
        return FRONT_ENDS[self.case.language]


def plan_reproduction(options: CaseFile, case_file: Path | None = None, *, store: Path) -> ReproductionPlan:
    """Of what options and a file say; all that is wrong with it is said here."""
    given = read_case(options, case_file)
    return ReproductionPlan(build_case(given), search_settings(given), given, store.absolute())


def plan_resumption(options: CaseFile, case_file: Path | None = None, *, store: Path) -> ReproductionPlan:
    """The latest search that was interrupted, or that gave up: with more rounds it may succeed."""
    store = store.absolute()
    run = _unfinished(store)
    given = read_case(options, case_file or run_folder(store, run) / CASE)
    return ReproductionPlan(build_case(given), search_settings(given), given, store, run)


def run_folder(store: Path, run: str) -> Path:
    """Where a search keeps its rounds, and leaves what it found."""
    return store / "reproductions" / run


async def reproduce(
    plan: ReproductionPlan, on_progress: Callable[[str], None] = lambda _: None
) -> AsyncIterator[ReproductionEvent]:
    """Every event of the search, each after it was recorded; the first tells its id, the last but one the result.

    `on_progress` is told, from any thread, what is done before there are events: the source may take a minute.
    """

    def progress(done: int, total: int, what: str) -> None:
        so_far = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
        on_progress(f"{what}: {so_far}" if so_far else what)

    on_progress(f"reading the source of {', '.join(plan.case.sources)}")
    subject = await read_subject(plan.case, plan.front_end, progress, plan.store / PROGRAMS)
    on_progress("running the workload without faults")
    started = RunStarted(
        loop=Loop.REPRODUCTION, command="reproduce", fingerprint=fingerprint(**identity(subject, plan.settings))
    )
    with open_ledger(plan.store) as ledger, (resumed_run if plan.resumes else new_run)(ledger, started) as run:
        folder = run_folder(plan.store, run)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Logs rotate, and pipes are read once: a resumption and reports have a copy.
        write_private(folder / CASE, case_text(replace(plan.given, log=FAILURE_LOG)))
        write_private(folder / FAILURE_LOG, plan.case.failure_log)
        past = ledger.events(run)
        yield next(event for event in past if isinstance(event, RunStarted))
        is_prepared = False
        try:
            async for event in search(
                subject,
                plan.settings,
                folder,
                past=past,
                record=lambda event: ledger.append(run, event),
                progress=progress,
            ):
                is_prepared |= isinstance(event, ProgramAnalysed)
                yield event
                if isinstance(event, ReproductionFinished):
                    yield _finish(ledger, run, _left_to_do(event.result))
        except CutsetError:
            if not is_prepared:
                _finish(ledger, run, "")  # it cannot work: there is nothing to resume
            raise


def _left_to_do(result: ReproductionResult) -> str:
    return result.stopped or ("" if result.reproduced else "it was not reproduced")


def _finish(ledger: Ledger, run: str, reason: str) -> RunFinished:
    finished = RunFinished(reason=reason)
    ledger.append(run, finished)
    return finished


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is written besides the report in the folder of the search, if its user asks for it."""

    out: Path | None = None  # a folder for report and replay, in place of that of the search
    html: Path | None = None
    markdown: Path | None = None


def write_results(
    plan: ReproductionPlan,
    run: str,
    result: ReproductionResult,
    wanted: ReportFiles = ReportFiles(),  # noqa: B008 -- it is frozen
) -> dict[str, Path]:
    """What the user gets, in the folder of the search or in another; returns what to name, by a word for each."""
    document = json.dumps(to_document(result), indent=2)
    folder, case = run_folder(plan.store, run), plan.case
    write_private(folder / RESULT, document)  # before all else that may fail: what was found is found
    logs = None
    if result.best is not None:
        logs = compare_logs(case.failure_log, result.best, case.log_pattern, plan.front_end.dialect)
    out = wanted.out or folder
    write_private(out / RESULT, document)
    files = {"report": out / PAGE}
    write_private(files["report"], reproduction_page(result, logs))
    if result.best is not None:
        files["replay"] = plan.front_end.write_replay(out / REPLAY, case, result.best.faults)
    write_reproduction_reports(wanted, result, logs, out / REPLAY)
    return files


def write_reproduction_reports(
    wanted: ReportFiles, result: ReproductionResult, logs: LogComparison | None, replay: Path
) -> None:
    """`replay` is the folder of the script that replays."""
    script = str(from_here(replay))
    if wanted.html:
        write_report(wanted.html, reproduction_page(result, logs, script), private=True)
    if wanted.markdown:
        write_report(wanted.markdown, to_markdown(result, script), private=True)


def recorded_reproduction(store: Path, run: str = "") -> tuple[str, ReproductionResult]:
    """The id of the search, and what it found; by default the latest."""
    with open_existing_ledger(store) as ledger:
        found = latest_run(ledger, Loop.REPRODUCTION, run).id
        events = ledger.events(found)
    if (result := result_of(events)) is None:
        hint = "Go on with `cutset reproduce --resume`"
        raise UsageError(f"The search `{found}` has not come to an end", hint=hint)
    return found, result


def result_of(events: Iterable[object]) -> ReproductionResult | None:
    """The last one, of a search that was resumed; None while there is none."""
    results = [event.result for event in events if isinstance(event, ReproductionFinished)]
    return results[-1] if results else None


def found_so_far(store: Path, run: str) -> ReproductionResult | None:
    """By a search that was interrupted; None if nothing was."""
    with open_existing_ledger(store) as ledger:
        result = result_of(ledger.events(run))
    return result if result is not None and result.best is not None else None


def recorded_logs(store: Path, run: str, result: ReproductionResult) -> LogComparison | None:
    """The logs of a search that is over, side by side, wherever its store is now; None if they were not kept."""
    folder = run_folder(store, run)
    if result.best is None or not (folder / FAILURE_LOG).exists():
        return None
    failure_log = (folder / FAILURE_LOG).read_text(encoding="utf-8", errors="replace")
    best = replace(result.best, folder=folder / result.best.folder.name)
    case = kept_case(folder / CASE)
    return compare_logs(failure_log, best, case.log_pattern, FRONT_ENDS[language_of(case)].dialect)


def remove_rounds(plan: ReproductionPlan, run: str, result: ReproductionResult) -> None:
    """They are many, and of no use once the search has succeeded; one that may go on looks at some."""
    if _left_to_do(result):
        return
    shown = (result.best, result.first_found, *result.alternatives)
    kept = {reproduction.folder.resolve() for reproduction in shown if reproduction is not None}
    for path in run_folder(plan.store, run).glob("round-*"):
        if path.resolve() not in kept:
            shutil.rmtree(path, ignore_errors=True)


def create_folder(out: Path) -> None:
    """Where results are to go. Before the search: it may take hours."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise UsageError(f"`--out {out}`: cannot write there: {error.strerror}", hint="Name another folder") from error


def write_private(path: Path, text: str) -> None:
    """Logs and environments hold secrets: for its owner alone."""
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def _unfinished(store: Path) -> str:
    with open_ledger(store) as ledger:
        runs = [run.id for run in ledger.runs(Loop.REPRODUCTION) if not run.finished]
    if not runs:
        raise UsageError(
            f"There is no unfinished reproduction in `{store}`",
            hint="Start one without `--resume`, or name another `--store`",
        )
    return runs[-1]
