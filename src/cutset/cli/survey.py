"""A survey of stored traces with its progress on standard error, for the commands that analyse them."""

import time
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from cutset.app.survey import survey_traces
from cutset.cli.output import Console
from cutset.model.moments import parse_moment_ns
from cutset.model.steps import finished
from cutset.model.survey import Survey
from cutset.survey.run import SurveySettings


def show_survey(
    store: Path,
    since: str,
    until: str,
    workers: str,
    settings: SurveySettings = SurveySettings(),
) -> Survey:
    now_ns = time.time_ns()
    steps = survey_traces(
        store,
        since_ns=parse_moment_ns(since, now_ns) if since else 0,
        until_ns=parse_moment_ns(until, now_ns) if until else None,
        workers=workers,
        settings=settings,
    )
    columns = (TextColumn("Reading traces"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("")
        return finished(steps, lambda read: progress.update(task, completed=read.done, total=read.total))
