"""Runs that `cutset report` shows by their id alone: sessions of drills, and reproductions."""

from pathlib import Path

from cutset.app.drill import recorded_drills, write_drill_reports
from cutset.app.reproduce import (
    REPLAY,
    ReportFiles,
    recorded_logs,
    recorded_reproduction,
    run_folder,
    write_reproduction_reports,
)
from cutset.cli.output import print_document, print_lines
from cutset.model.drill import session_of
from cutset.model.run import Loop, RunStarted
from cutset.report.drill.terminal import result_lines, results_document
from cutset.report.replaying import replay_command
from cutset.report.reproduction.json import to_document
from cutset.report.reproduction.terminal import to_lines

SHOWN = (Loop.DRILL, Loop.REPRODUCTION)


def show_run(
    store: Path, run: str, loop: Loop, *, html: Path | None, markdown: Path | None, as_json: bool = False
) -> int:
    """Prints what came of it and writes the files; returns the exit code. `loop` is one of `SHOWN`."""
    if loop is Loop.DRILL:
        _show_drills(store, run, html, markdown, as_json=as_json)
    else:
        _show_reproduction(store, run, html, markdown, as_json=as_json)
    return 0


def _show_drills(store: Path, run: str, html: Path | None, markdown: Path | None, *, as_json: bool) -> None:
    events = recorded_drills(store, run)
    session = session_of(events)
    replay = replay_command(next(event for event in events if isinstance(event, RunStarted)), store)
    write_drill_reports(store, events, html=html, markdown=markdown)
    if as_json:
        print_document(results_document(session.results, starts=session.starts, replay=replay))
    else:
        print_lines(result_lines(session.results, starts=session.starts, replay=replay))


def _show_reproduction(store: Path, run: str, html: Path | None, markdown: Path | None, *, as_json: bool) -> None:
    run, result = recorded_reproduction(store, run)
    wanted = ReportFiles(html=html, markdown=markdown)
    logs = recorded_logs(store, run, result) if html else None
    write_reproduction_reports(wanted, result, logs, run_folder(store, run) / REPLAY)
    if as_json:
        print_document(to_document(result))
    else:
        print_lines(to_lines(result, files={}))
