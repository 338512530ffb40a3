"""The command line: its commands, and the one place where errors are printed and exit codes are picked."""

import os
import signal
import sys
import traceback
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cutset import __version__
from cutset.cli.agent import agent_app
from cutset.cli.classes import classes_command
from cutset.cli.collect import collect_command
from cutset.cli.demo import demo_command
from cutset.cli.drill import drill_command
from cutset.cli.endpoints import endpoints_command
from cutset.cli.explore import explore_command
from cutset.cli.faults import explain_command, faults_command
from cutset.cli.graph import graph_command
from cutset.cli.ingest import ingest_command
from cutset.cli.mesh import mesh_app
from cutset.cli.rank import rank_command
from cutset.cli.record import record_app
from cutset.cli.replay import replay_command
from cutset.cli.report import report_command
from cutset.cli.reproduce import reproduce_command
from cutset.cli.traces import traces_command
from cutset.cli.workflows import workflows_command
from cutset.errors import CutsetError

app = typer.Typer(
    name="cutset",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the smallest sets of failures that break a user's request.",
    epilog="Exit codes: 0 survived, 1 findings, 2 usage or configuration, 3 could not tell, 4 halted by a guard, "
    "130 interrupted.",
)
app.command("demo")(demo_command)
app.command("explore")(explore_command)
app.command("report")(report_command)
app.command("reproduce")(reproduce_command)
app.command("drill")(drill_command)
app.add_typer(agent_app, name="agent")
app.command("faults")(faults_command)
app.command("explain")(explain_command)
app.add_typer(record_app, name="record")
app.command("replay")(replay_command)
app.add_typer(mesh_app, name="mesh")
app.command("collect")(collect_command)
app.command("ingest")(ingest_command)
app.command("traces")(traces_command)
app.command("classes")(classes_command)
app.command("workflows")(workflows_command)
app.command("rank")(rank_command)
app.command("endpoints")(endpoints_command)
app.command("graph")(graph_command)


def _print_version(value: bool) -> None:
    if value:
        print(f"cutset {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    terminated = False

    def terminate(*_: object) -> None:
        # As an exception, so that everything started is also stopped when a container or a CI system ends us.
        nonlocal terminated
        terminated = True
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, terminate)
    try:
        code = _run(errors)
        if code == 130:
            if terminated:  # DuckDB makes an interruption of everything
                sys.exit(128 + signal.SIGTERM)
            errors.print("interrupted")
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, BrokenPipeError) or isinstance(end.__context__, BrokenPipeError):
            code = 128 + signal.SIGPIPE  # the reader of our output has gone, as `head` does
        else:
            raise
    sys.exit(_flushed(errors) or code)


def _run(errors: Console) -> int:
    """Returns the exit code."""
    try:
        code = app(standalone_mode=False)
    except typer.Exit as end:
        code = end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:  # noqa: BLE001 -- Python would exit with 1, which says that there are findings
        code = _explained(error, errors)
    return code if isinstance(code, int) else 0


def _flushed(errors: Console) -> int:
    """Writes the rest of our output; returns the exit code if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Else the interpreter would try again at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE if isinstance(error, BrokenPipeError) else _explained(error, errors)
    return 0


def _explained(error: Exception, errors: Console) -> int:
    """Prints what was wrong and returns the exit code."""
    if isinstance(error, CutsetError):
        message, hint, code = error.message, error.hint, error.exit_code
    elif isinstance(error, OSError):
        message, hint, code = str(error), "", 3
    elif hasattr(error, "format_message") and hasattr(error, "exit_code"):
        # Click's usage errors, without importing click, which typer only vendors.
        message, hint, code = error.format_message(), "See `cutset --help` or `cutset COMMAND --help`", 2
    else:
        traceback.print_exception(error)
        message, hint, code = "This is a mistake in Cutset, not of yours", "Report it, with the lines above", 3
    errors.print(f"[red]error:[/] {escape(message)}")
    if hint:
        errors.print(f"\n[cyan]hint:[/] {escape(hint)}")
    return code
