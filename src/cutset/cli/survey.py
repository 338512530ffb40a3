"""What the commands that analyse stored traces have in common: their options, and the analysis itself."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from cutset.cli.moments import parse_moment_ns
from cutset.errors import UsageError
from cutset.model.wording import did_you_mean, sentences
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights
from cutset.store.manifest import open_spans
from cutset.store.shapes import trace_ranges
from cutset.survey.run import SurveySettings, survey
from cutset.survey.summary import Survey
from cutset.survey.workers import open_executor

Found = TypeVar("Found")


def run_survey(
    store: Path, since: str, until: str, workers: str, *, by_calls: bool = False, weights: Weights = DEFAULT_WEIGHTS
) -> Survey:
    """All stored traces of that time, with progress on standard error."""
    now_ns = time.time_ns()
    stored = open_spans(store)
    if not stored.spans:
        raise UsageError(f"There are no traces in `{store}`", hint="Read some with `cutset ingest SOURCE…`")
    since_ns = parse_moment_ns(since, now_ns) if since else 0
    until_ns = parse_moment_ns(until, now_ns) if until else stored.last_ns + 1
    ranges = trace_ranges(stored, since_ns=since_ns, until_ns=until_ns)
    settings = SurveySettings(weights, by_calls)
    columns = (TextColumn("Reading traces"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("")
        with open_executor(workers or str(min(len(ranges), os.cpu_count() or 1) or 1)) as executor:
            result = survey(
                ranges, settings, executor, lambda done, total: progress.update(task, completed=done, total=total)
            )
    if not result.traces:
        raise UsageError(
            f"No traces in `{store}` are of that time", hint="`cutset traces` shows of which time there are some"
        )
    return result


def print_table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Numbers to the right. The last column is never cut or folded: names must be copied whole."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for number, row in enumerate((headings, *rows)):
        *cells, last = row
        numeric = [all(_is_number(each[position]) for each in rows) for position in range(len(cells))]
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=False)
        ]
        console.print(printable("  ".join([*padded, last])), style="" if number else "bold")


def printable(text: str) -> str:
    """Text from traces as a terminal may show it: neither our markup nor control characters of its own."""
    shown = (letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return escape("".join(shown))


def _is_number(cell: str) -> bool:
    return cell.strip(" –%").replace(",", "").replace(".", "").isdecimal() or cell in ("", "–")


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if part else "–"


def named(name: str, known: Mapping[str, Found], what: str) -> Found:
    """What the user named, or an error that lists what is close to it."""
    if name in known:
        return known[name]
    listed = "`cutset classes` lists them" if what == "class" else "`cutset graph --json` lists them"
    raise UsageError(f"There is no {what} `{name}`", hint=sentences(did_you_mean(name, known, most=3), listed))
