"""`cutset reproduce`: find the fault behind a failure log, and write a script that brings the failure back."""

import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.reproduce_progress import show_reproduction
from cutset.cli.run import run_async
from cutset.config.case import (
    DEFAULT_TIMEOUT,
    CaseFile,
    anchored,
    build_case,
    load_case_file,
    merged,
    search_settings,
    write_case_file,
)
from cutset.errors import UsageError
from cutset.model.wording import did_you_mean, known_names, sentences
from cutset.report.reproduction.page import to_page
from cutset.report.reproduction.terminal import to_document, to_lines
from cutset.reproduce.events import Analysed, Event
from cutset.reproduce.loop import reproduce
from cutset.reproduce.replay_script import write_replay
from cutset.reproduce.result import SearchResult
from cutset.reproduce.settings import Case, FaultKind, SearchSettings
from cutset.reproduce.strategies import STRATEGIES, StrategyName
from cutset.reproduce.symptoms import seconds_of
from cutset.store.run_id import new_run_id

CASE, RESULT, PAGE, REPLAY = "case.yaml", "result.json", "report.html", "replay"
_ROUNDS = "round-*"


def reproduce_command(
    case_file: Annotated[
        Path | None, typer.Argument(metavar="CASE.yaml", help="The case, with keys named like options; options win.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", "-s", help="A package or module in question, by name or path; several times."),
    ] = None,
    log: Annotated[str | None, typer.Option("--log", "-l", help="The log of the failure.")] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="The command that exercises the system. It works when nothing fails.")
    ] = None,
    oracle: Annotated[
        str | None, typer.Option("--oracle", help="What recognises the failure in a run: `log:REGEX`, `exit:!0`, …")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=256, help="Rounds at a time.")] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", min=1, help="Give up after so many. Default: 200.")] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", help=f"End a round after so long. Default: {DEFAULT_TIMEOUT}.")
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option("--faults", help=f"Kinds to try, with commas. Default: {', '.join(FaultKind)}."),
    ] = None,
    strategy: Annotated[
        StrategyName | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How to search. " + " ".join(f"*{name}*: {each.description}." for name, each in STRATEGIES.items()),
        ),
    ] = None,
    closer: Annotated[
        int | None,
        typer.Option(
            "--closer",
            min=0,
            help="Rounds after the first success, for a fault whose log is more like the failure log. Default: 10.",
        ),
    ] = None,
    second_fault: Annotated[
        bool | None,
        typer.Option("--second-fault/--no-second-fault", help="Try a second one on top when none alone does it."),
    ] = None,
    minimise: Annotated[
        bool | None,
        typer.Option("--minimise/--no-minimise", help="Find a simpler variant, and other places with the same result."),
    ] = None,
    cwd: Annotated[
        str | None, typer.Option("--cwd", help="Where the workload runs. Default: a new folder for each round.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option("--env", "-e", help="K=V, for the workload; several times.")] = None,
    driver: Annotated[
        list[str] | None,
        typer.Option("--driver", help="A script whose log lines count, but which gets no faults; several times."),
    ] = None,
    log_from: Annotated[
        str | None,
        typer.Option(
            "--log-from", help="Where a round logs: *output* (default), *stdout*, *stderr* or files: `*.log`."
        ),
    ] = None,
    log_pattern: Annotated[
        str | None,
        typer.Option("--log-pattern", help="A regular expression for a log line, with a group `message` and others."),
    ] = None,
    prints: Annotated[
        bool | None, typer.Option("--prints/--no-prints", help="Recognise what `print` writes, as log messages.")
    ] = None,
    python: Annotated[
        str | None, typer.Option("--python", help="The interpreter of the workload, if its command does not tell.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the latest unfinished search.")] = False,
    keep_rounds: Annotated[bool, typer.Option("--keep-rounds", help="Keep what failed rounds left, too.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Where report and replay go.")] = None,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Find the fault, and the moment, that makes a Python program fail as a log says it failed.

    Runs the workload again and again with one fault at a time, chosen by how the failure log can follow from it, until
    the oracle recognises the failure. Leaves a report, a script that replays the failure, and a test for the fix.

    Exit codes: 1 reproduced, 3 not reproduced, 2 wrong usage, 130 interrupted.

    Examples:

    - `cutset reproduce --source shop --log failure.log --run "python workload.py" --oracle "log:order lost"`
    - `cutset reproduce case.yaml --jobs 4 --minimise`: the case from a file, four rounds at a time
    - `cutset reproduce -s shop -l f.log --run "pytest tests/test_pay.py::test_pay" --oracle "exit:1"`
    - `cutset reproduce -s shop -l f.log --run "python w.py" --oracle "hang:10s" --faults exception,hang`
    - `cutset reproduce --resume --rounds 500`: after an interruption, or to try harder
    """
    given = CaseFile(
        run=run,
        source=tuple(source) if source else None,
        log=log,
        oracle=oracle,
        timeout=_duration(timeout),
        cwd=cwd,
        env=_variables(env) if env else None,
        driver=tuple(driver) if driver else None,
        python=python,
        log_from=log_from,
        log_pattern=log_pattern,
        prints=prints,
        rounds=rounds,
        jobs=jobs,
        closer=closer,
        strategy=strategy,
        faults=_kinds(faults) if faults is not None else None,
        second_fault=second_fault,
        minimise=minimise,
    )
    given = anchored(given, Path.cwd())
    searches = store.absolute() / "reproductions"
    folder = _unfinished(searches) if resume else searches / new_run_id()
    if case_file is not None or resume:
        given = merged(load_case_file(case_file or folder / CASE), given)
    case, settings = build_case(given), search_settings(given)
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    if resume:
        notes.print(f"going on with {escape(str(folder))}")
    if case.workload.cwd is not None and settings.jobs > 1:
        notes.print(f"[yellow]warning:[/] {settings.jobs} rounds at a time share {escape(str(case.workload.cwd))}")
    if out is not None:
        _create(out)
    result = _search(given, case, settings, folder, store)
    document = json.dumps(to_document(result, case), indent=2)
    (folder / RESULT).write_text(document)  # before all else that may fail: what was found is found
    if result.best is not None and not keep_rounds:
        _remove_rounds(folder, result)
    files = _write(result, case, out or folder, document)
    if as_json:
        print(document)
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in to_lines(result, case, files=files):
            console.print(line)
    raise typer.Exit(1 if result.best is not None else 3)


def _create(out: Path) -> None:
    """Before the search: it may take hours."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise UsageError(f"`--out {out}`: cannot write there: {error.strerror}", hint="Name another folder") from error


def _search(given: CaseFile, case: Case, settings: SearchSettings, folder: Path, store: Path) -> SearchResult:
    """Runs to the end, with progress on standard error."""
    searching = False

    def note(event: Event) -> None:
        nonlocal searching
        if isinstance(event, Analysed):
            # From here on there is something to go on with.
            write_case_file(given, folder / CASE)
            searching = True

    try:
        return run_async(show_reproduction(reproduce(case, settings, folder), settings.rounds, note))
    except KeyboardInterrupt:
        if searching:
            where = f" --store {shlex.quote(str(store))}" if store != DEFAULT_STORE else ""
            message = f"Stopped; no finished round is lost. Go on with `cutset reproduce --resume{where}`"
            Console(stderr=True, highlight=False).print(escape(message), soft_wrap=True)
        raise


def _write(result: SearchResult, case: Case, out: Path, document: str) -> dict[str, Path]:
    """What the user gets; returns what to name, by a word for each."""
    (out / RESULT).write_text(document)
    files = {"report": out / PAGE}
    files["report"].write_text(to_page(result, case, case.failure_log))
    if result.best is not None:
        files["replay"] = write_replay(out / REPLAY, case, result.best.faults)
    return files


def _remove_rounds(folder: Path, result: SearchResult) -> None:
    """They are many, and of no use once the search has succeeded; one that gave up may go on, and looks at some."""
    shown = (result.best, result.first_found, *result.alternatives)
    kept = {reproduction.folder.resolve() for reproduction in shown if reproduction is not None}
    for path in folder.glob(_ROUNDS):
        if path.resolve() not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _unfinished(searches: Path) -> Path:
    """The latest search that was interrupted, or that gave up: with more rounds it may succeed."""
    for case in sorted(searches.glob(f"*/{CASE}"), reverse=True):
        if not _has_succeeded(case.with_name(RESULT)):
            return case.parent
    raise UsageError(
        f"There is no unfinished search in `{searches}`",
        hint="Start one without `--resume`, or name another `--store`",
    )


def _has_succeeded(result: Path) -> bool:
    try:
        return bool(json.loads(result.read_text())["reproduced"])
    except (OSError, ValueError, LookupError, TypeError):  # not there, or cut short as the disk was full
        return False


def _duration(text: str | None) -> str | None:
    try:
        return text and str(seconds_of(text))
    except ValueError:
        raise UsageError(f"`--timeout {text}`: expected a time such as `60s` or `2m`") from None


def _variables(assignments: Sequence[str]) -> dict[str, str]:
    found = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise UsageError(f"`--env {assignment}`: expected a name and a value, as in `--env DEBUG=1`")
        found[name] = value
    return found


def _kinds(text: str) -> tuple[FaultKind, ...]:
    known = [str(kind) for kind in FaultKind]
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [""]:
        if name not in known:
            hint = sentences(did_you_mean(name, known), known_names(known))
            raise UsageError(f"`--faults {text}`: there is no kind of fault `{name}`", hint=hint)
    return tuple(map(FaultKind, names))
