"""`cutset reproduce --init`: a case.yaml from a command, a log, and answers to two questions."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.markup import escape

from cutset.app.first_case import (
    FirstRun,
    check_case,
    refuse_existing_case,
    run_first,
    sources_to_choose_from,
    symptoms_to_choose_from,
    write_first_case,
)
from cutset.cli.output import notes, print_lines
from cutset.cli.run import run_async
from cutset.config.case import STANDARD_INPUT, CaseFile
from cutset.errors import UsageError
from cutset.report.printable import printable

SHOWN = 8  # proposals
_SIGNS = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[magenta]?[/]"}


def begin_case(given: CaseFile, out: Path) -> int:
    """The exit code: 0 if a search can begin with it."""
    refuse_existing_case(out)
    asks = is_terminal() and given.log != STANDARD_INPUT
    given = replace(
        given,
        run=given.run
        or _asked("The command that exercises the system, and works when nothing fails", "run", asks=asks),
        log=given.log or _asked("The log of the failure", "log", asks=asks),
    )
    with TemporaryDirectory(prefix="cutset-") as folder:
        notes().print("running the workload once, without faults")
        first = run_async(run_first(given, Path(folder)))
        given = replace(given, oracle=given.oracle or _symptom(first, asks=asks))
        given = replace(given, source=given.source or _sources(first, asks=asks))
        checks = run_async(check_case(given, first))
        write_first_case(out, given, first)
    print_lines(
        [f"[green]Wrote[/] {escape(str(out))}", *(f"{_SIGNS[each.good]} {printable(each.text)}" for each in checks)]
    )
    if all(each.good is not False for each in checks):
        print_lines([f"Next: `cutset reproduce {escape(str(out))}`"])
        return 0
    print_lines([f"Correct {escape(str(out))} first; then `cutset reproduce {escape(str(out))}`"])
    return 1


def is_terminal() -> bool:
    return sys.stdin.isatty()


def _asked(question: str, option: str, *, asks: bool) -> str:
    if not asks:
        raise UsageError(f"`--{option}` must be given: there is nobody to ask", hint="As in `cutset reproduce --help`")
    answer: str = typer.prompt(question)
    return answer


def _symptom(first: FirstRun, *, asks: bool) -> str:
    proposed = [(str(each.oracle), each.why) for each in run_async(symptoms_to_choose_from(first))]
    (chosen,) = _chosen("What is the symptom?", "an oracle", "oracle", proposed, asks=asks)
    return chosen


def _sources(first: FirstRun, *, asks: bool) -> tuple[str, ...]:
    proposed = [(each.name, each.why) for each in sources_to_choose_from(first)]
    chosen = _chosen("Which package is in question?", "names with commas", "source", proposed, asks=asks, several=True)
    return tuple(chosen)


def _chosen(
    question: str, else_: str, option: str, proposed: Sequence[tuple[str, str]], *, asks: bool, several: bool = False
) -> list[str]:
    """By number, or what is typed instead."""
    shown = proposed[:SHOWN]
    if not asks:
        known = "; ".join(f"`--{option} {shlex.quote(text)}` ({why})" for text, why in shown)
        hint = f"Likely: {known}" if known else "As in `cutset reproduce --help`"
        raise UsageError(f"`--{option}` must be given: there is nobody to ask", hint=hint)
    lines = [
        f"  {number}  {printable(text)}  [dim]{printable(why)}[/]" for number, (text, why) in enumerate(shown, start=1)
    ]
    print_lines([f"[bold]{question}[/]", *lines])
    answer: str = typer.prompt(f"A number, or {else_}" if shown else else_, default="1" if shown else None)
    parts = [part.strip() for part in answer.split(",")] if several else [answer.strip()]
    return [shown[int(part) - 1][0] if part.isdecimal() and 0 < int(part) <= len(shown) else part for part in parts]
