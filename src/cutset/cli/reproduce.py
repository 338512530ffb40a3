"""`cutset reproduce`: find the fault behind a failure log, and write a script that brings the failure back."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.reproduce import (
    ReportFiles,
    ReproductionPlan,
    create_folder,
    found_so_far,
    plan_reproduction,
    plan_resumption,
    remove_rounds,
    reproduce,
    run_folder,
    write_results,
)
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import Console, print_document, print_lines
from cutset.cli.reproduce_init import begin_case
from cutset.cli.reproduce_progress import SearchStanding, show_reproduction
from cutset.cli.run import run_async
from cutset.config.case import DEFAULT_TIMEOUTS, CaseFile
from cutset.errors import UsageError
from cutset.model.reproduction.result import Grade, Language, ReproductionResult
from cutset.model.reproduction.site import FaultKind
from cutset.model.wording import did_you_mean, known_names, sentences
from cutset.report.reproduction.json import to_document
from cutset.report.reproduction.terminal import to_lines
from cutset.reproduce.oracle.symptoms import seconds_of
from cutset.reproduce.strategies import STRATEGIES, SiteStrategyName

EXIT_CODES = {Grade.LOG: 0, Grade.MESSAGES: 1, Grade.SYMPTOM: 1, Grade.NOTHING: 3}


def reproduce_command(
    case_file: Annotated[
        Path | None, typer.Argument(metavar="CASE.yaml", help="The case, with keys named like options; options win.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", "-s", help="A package, module or jar in question, by name or path; several times."),
    ] = None,
    log: Annotated[str | None, typer.Option("--log", "-l", help="The log of the failure; `-`: standard input.")] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="The command that exercises the system. It works when nothing fails.")
    ] = None,
    oracle: Annotated[
        str | None, typer.Option("--oracle", help="What recognises the failure in a run: `log:REGEX`, `exit:!0`, …")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=256, help="Rounds at a time.")] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", min=1, help="Give up after so many. Default: 200.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0, help="Begin no round later than so. Default: no limit.")
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            help="End a round after so long. Default: {python}, of a JVM program {jvm}.".format(**DEFAULT_TIMEOUTS),
        ),
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option("--faults", help=f"Kinds to try, with commas. Default: {', '.join(FaultKind)}."),
    ] = None,
    strategy: Annotated[
        SiteStrategyName | None,
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
            help="After a success, go on until so many rounds in a row explain the log no better. Default: 10.",
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
        typer.Option("--driver", help="A script or class whose log lines count, but not for faults; several times."),
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
        bool | None,
        typer.Option(
            "--prints/--no-prints",
            help="Recognise what `print` writes, as log messages. Default: if the failure log is of no logger.",
        ),
    ] = None,
    python: Annotated[
        str | None, typer.Option("--python", help="The interpreter of the workload, if its command does not tell.")
    ] = None,
    java: Annotated[
        str | None, typer.Option("--java", help="The `java` of a JVM workload. Default: the command's, JAVA_HOME's.")
    ] = None,
    class_path: Annotated[
        list[str] | None,
        typer.Option("--class-path", help="Of a JVM workload, if its command does not tell, as of a start script."),
    ] = None,
    language: Annotated[
        Language | None, typer.Option("--language", help="Of the program, if its command does not tell.")
    ] = None,
    init: Annotated[
        bool,
        typer.Option("--init", help="Write a CASE.yaml, with help, and see whether it will do; search for nothing."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the latest unfinished search.")] = False,
    keep_rounds: Annotated[bool, typer.Option("--keep-rounds", help="Keep what failed rounds left, too.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Where report and replay go.")] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the report's page there.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Also write Markdown, for a comment.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Find the fault, and the moment, that makes a Python or JVM program fail as a log says it failed.

    Runs the workload again and again with one fault at a time, chosen by how the failure log can follow from it, until
    the oracle recognises the failure. Leaves a report, a script that replays the failure, and a test for the fix.

    Exit codes: 0 the log is reproduced, 1 its messages or the symptom are, but logs differ, 3 not reproduced,
    2 wrong usage, 130 interrupted: what was found so far is reported then, too.

    Examples:

    - `cutset reproduce --source shop --log failure.log --run "python workload.py" --oracle "log:order lost"`
    - `cutset reproduce --init --run "python workload.py" --log failure.log`: writes a case.yaml, asks the rest
    - `cutset reproduce case.yaml --jobs 4 --minimise`: the case from a file, four rounds at a time
    - `cutset reproduce -s org.shop -l f.log --run "java -cp 'app.jar:lib/*' Workload" --oracle "log:order lost"`
    - `cutset reproduce -s shop -l f.log --run "pytest tests/test_pay.py::test_pay" --oracle "exit:1"`
    - `cutset reproduce -s shop -l f.log --run "python w.py" --oracle "hang:10s" --faults exception,hang`
    - `kubectl logs shop | cutset reproduce case.yaml --log - --minutes 10`: the log from a pipe, and not for longer
    - `cutset reproduce --resume --rounds 500`: after an interruption, or to try harder
    """
    options = CaseFile(
        run=run,
        source=tuple(source) if source else None,
        log=log,
        oracle=oracle,
        timeout=_duration(timeout),
        cwd=cwd,
        env=_variables(env) if env else None,
        driver=tuple(driver) if driver else None,
        language=language,
        python=python,
        java=java,
        class_path=tuple(class_path) if class_path else None,
        log_from=log_from,
        log_pattern=log_pattern,
        prints=prints,
        rounds=rounds,
        minutes=minutes,
        jobs=jobs,
        closer=closer,
        strategy=strategy,
        faults=_kinds(faults) if faults is not None else None,
        second_fault=second_fault,
        minimise=minimise,
    )
    if init:
        raise typer.Exit(begin_case(options, case_file or Path("case.yaml")))
    plan = (plan_resumption if resume else plan_reproduction)(options, case_file, store=store)
    _say_first(plan)
    if out is not None:
        create_folder(out)
    standing = SearchStanding(plan.settings.rounds)
    wanted = ReportFiles(out, html, markdown)
    try:
        result = run_async(show_reproduction(reproduce(plan, standing.tell), standing))
    except (KeyboardInterrupt, SystemExit):  # by SIGINT or SIGTERM
        if standing.run:
            if found := found_so_far(plan.store, standing.run):
                _tell(found, write_results(plan, standing.run, found, wanted), as_json=as_json)
            _say_how_to_go_on(store)
        raise
    files = write_results(plan, standing.run, result, wanted)
    if not keep_rounds:
        remove_rounds(plan, standing.run, result)
    _tell(result, files, as_json=as_json)
    raise typer.Exit(EXIT_CODES[result.grade])


def _tell(result: ReproductionResult, files: Mapping[str, Path], *, as_json: bool) -> None:
    if as_json:
        print_document(to_document(result))
    else:
        print_lines(to_lines(result, files=files))


def _say_first(plan: ReproductionPlan) -> None:
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    if plan.resumes:
        notes.print(f"going on with {escape(str(run_folder(plan.store, plan.resumes)))}")
    if plan.case.workload.cwd is not None and plan.settings.jobs > 1:
        shared = escape(str(plan.case.workload.cwd))
        notes.print(f"[yellow]warning:[/] {plan.settings.jobs} rounds at a time share {shared}")


def _say_how_to_go_on(store: Path) -> None:
    where = f" --store {shlex.quote(str(store))}" if store != DEFAULT_STORE else ""
    message = f"Stopped; no finished round is lost. Go on with `cutset reproduce --resume{where}`"
    Console(stderr=True, highlight=False).print(escape(message), soft_wrap=True)


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
