"""`cutset reproduce --init`: a case.yaml from a command, a log, and answers to two questions."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.markup import escape

from cutset.app.first_case import (
    FirstRun,
    check_case,
    refuse_case,
    refuse_existing_case,
    refuse_symptom,
    run_first,
    sources_to_choose_from,
    symptoms_to_choose_from,
    write_first_case,
)
from cutset.cli.output import notes, print_lines
from cutset.cli.run import run_async
from cutset.config.case import STANDARD_INPUT, CaseFile
from cutset.errors import CutsetError, UsageError
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
        given = replace(given, source=given.source or _sources(given, first, asks=asks))
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
    _must_be_able_to_ask("oracle", proposed, asks=asks)
    (chosen,) = _chosen("What is the symptom?", "an oracle", proposed, lambda texts: refuse_symptom(*texts))
    return chosen


def _sources(given: CaseFile, first: FirstRun, *, asks: bool) -> tuple[str, ...]:
    proposed = [(each.name, each.why) for each in sources_to_choose_from(first)]
    _must_be_able_to_ask("source", proposed, asks=asks)

    def refuse(names: tuple[str, ...]) -> None:
        refuse_case(replace(given, source=names), first)

    return _chosen("Which package is in question?", "names with commas", proposed, refuse, several=True)


def _must_be_able_to_ask(option: str, proposed: Sequence[tuple[str, str]], *, asks: bool) -> None:
    if not asks:
        known = "; ".join(f"`--{option} {shlex.quote(text)}` ({why})" for text, why in proposed[:SHOWN])
        hint = f"Likely: {known}" if known else "As in `cutset reproduce --help`"
        raise UsageError(f"`--{option}` must be given: there is nobody to ask", hint=hint)


def _chosen(
    question: str,
    else_: str,
    proposed: Sequence[tuple[str, str]],
    refuse: Callable[[tuple[str, ...]], None],
    *,
    several: bool = False,
) -> tuple[str, ...]:
    """By number, or what is typed instead; asked again while it is refused."""
    shown = {str(number): each for number, each in enumerate(proposed[:SHOWN], start=1)}
    lines = [f"  {number}  {printable(text)}  [dim]{printable(why)}[/]" for number, (text, why) in shown.items()]
    print_lines([f"[bold]{question}[/]", *lines])
    while True:
        answer: str = typer.prompt(f"A number, or {else_}" if shown else else_, default="1" if shown else None)
        parts = [part.strip() for part in (answer.split(",") if several else [answer])]
        try:
            if unknown := [part for part in parts if part.isdecimal() and part not in shown]:
                raise UsageError(f"There is no proposal {unknown[0]}")
            chosen = tuple(shown[part][0] if part in shown else part for part in parts)
            refuse(chosen)
        except CutsetError as error:
            notes().print(f"[red]error:[/] {printable(error.message)}")
            if error.hint:
                notes().print(f"[cyan]hint:[/] {printable(error.hint)}")
        else:
            return chosen
