"""The command line: its commands, and the one place where errors are printed and exit codes are picked."""

import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup
from typer.main import get_command, get_group

from cutset import __version__
from cutset.errors import CutsetError, UsageError
from cutset.model.wording import did_you_mean

# In the order of the help. Their modules are imported when they are used: all of them take more than a second.
COMMANDS = {
    "demo": "demo:demo_command",
    "explore": "explore:explore_command",
    "report": "report:report_command",
    "baseline": "baseline:baseline_command",
    "harden": "harden:harden_command",
    "reproduce": "reproduce:reproduce_command",
    "drill": "drill:drill_command",
    "record": "record:record_app",
    "replay": "replay:replay_command",
    "agent": "agent:agent_app",
    "faults": "faults:faults_command",
    "explain": "faults:explain_command",
    "mesh": "mesh:mesh_app",
    "collect": "collect:collect_command",
    "ingest": "ingest:ingest_command",
    "traces": "traces:traces_command",
    "classes": "classes:classes_command",
    "workflows": "workflows:workflows_command",
    "rank": "rank:rank_command",
    "endpoints": "endpoints:endpoints_command",
    "graph": "graph:graph_command",
}
SETTINGS: dict[str, Any] = {
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """Imports the module of a command when that is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and (question := did_you_mean(args[0], COMMANDS)):
            raise UsageError(f"No such command `{args[0]}`", hint=question)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 -- click's, which typer only vendors
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name].partition(":")
            found = getattr(import_module(f"cutset.cli.{module}"), name)
            parent = typer.Typer(**SETTINGS)
            if isinstance(found, typer.Typer):
                parent.add_typer(found, name=cmd_name)
                parent.callback()(lambda: None)
                self.commands.update(get_group(parent).commands)
            else:
                parent.command(cmd_name)(found)
                self.commands[cmd_name] = get_command(parent)
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="cutset",
    cls=_Commands,
    **SETTINGS,
    no_args_is_help=True,
    help="Find the smallest sets of failures that break a user's request.",
    epilog="Exit codes: 0 survived, 1 findings, 2 usage or configuration, 3 could not tell, 4 halted by a guard, "
    "130 interrupted.",
)


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
