"""The command line: its commands, and the one place where errors are printed and exit codes are picked."""

import errno
import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from cutset import __version__
from cutset.cli.output import Console
from cutset.errors import CutsetError, UsageError
from cutset.model.wording import did_you_mean, visible

# What the help shows, in its order, with where each command is. Their modules are imported when a command is used, not
# for the help: all of them take more than a second.
GROUPS = {
    "Find": {
        "demo": ("demo:demo_command", "Break a real shop behind a real Envoy mesh: the whole story"),
        "explore": ("explore:explore_command", "Find every minimal cut of your requests, by experiments"),
        "impact": ("impact:impact_command", "Fail a share of live or own requests: what is affected?"),
        "drill": ("drill:drill_command", "Fail what a Python service calls: does it survive, recover?"),
        "reproduce": ("reproduce:reproduce_command", "Find the fault behind a failure of which there is a log"),
    },
    "Stop": {
        "halt": ("halt:halt_command", "End all injection at once, and let none begin until lifted"),
        "status": ("status:status_command", "Show what is injected now, by whom; and what is installed"),
    },
    "Fix": {
        "harden": ("harden:harden_command", "Choose what to harden within a budget; apply and verify it"),
        "baseline": ("baseline:baseline_command", "Accept findings: CI fails only on what is new or worse"),
    },
    "Understand": {
        "ui": ("ui:ui_command", "Open the dashboard: look, click, explain, start"),
        "report": ("report:report_command", "Show a campaign again: cuts, evidence, commands to replay"),
        "audit": ("audit:audit_command", "Show each injection: when, by whom, which cut, which trace"),
        "check": ("check:check_command", "Prove a campaign's claims again, from its ledger alone"),
        "explain": ("faults:explain_command", "Explain a fault, and what a resilient caller does"),
        "faults": ("faults:faults_command", "List the faults that the agent can cause, and where"),
        "traces": ("traces:traces_command", "Show which traces are stored, and what was skipped"),
        "classes": ("classes:classes_command", "List request classes, the most complex first"),
        "rank": ("rank:rank_command", "Rank APIs by how much would fail with them (APIRank)"),
        "workflows": ("workflows:workflows_command", "Find the calls that most traces have in common"),
        "endpoints": ("endpoints:endpoints_command", "List where to inject, and what pruning leaves"),
        "graph": ("graph:graph_command", "Draw services, their calls, and the critical workflow"),
    },
    "Set up": {
        "init": ("init:init_command", "Write a first cutset.yaml, from what is there"),
        "install": ("install:install_command", "Make Istio's sidecars obey plans, without restarts"),
        "uninstall": ("uninstall:uninstall_command", "Take away all that was installed in a cluster"),
        "doctor": ("doctor:doctor_command", "Say what is wrong with a set-up, and what to do"),
        "mesh": ("mesh:mesh_app", "Run your own services behind a local Envoy mesh"),
        "agent": ("agent:agent_app", "Run Python services with the agent inside"),
        "collect": ("collect:collect_command", "Receive OpenTelemetry traces into a file"),
        "ingest": ("ingest:ingest_command", "Read traces from files and servers into the store"),
        "record": ("record:record_app", "Record the traffic of a service, secrets masked"),
        "replay": ("replay:replay_command", "Send recorded traffic again: fresh ids, present times"),
    },
}
_FULL = "Make room; `--store`, `--out` and TMPDIR say which disk what is kept, results and temporary files are on"
INTERNAL = {"tunnel": "tunnel:tunnel_command"}  # for pods that `install` makes; the help does not show them
COMMANDS = {name: place for commands in GROUPS.values() for name, (place, _) in commands.items()}
SETTINGS: dict[str, Any] = {
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """Knows of each command what the help shows, and imports its module when it is run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in COMMANDS or args[0] in INTERNAL:
            return args[0], _imported(args[0]), args[1:]
        if question := did_you_mean(args[0], COMMANDS):
            raise UsageError(f"No such command `{args[0]}`", hint=question)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 -- click's, which typer only vendors
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        for group, commands in GROUPS.items():
            if cmd_name in commands:
                return TyperCommand(cmd_name, help=commands[cmd_name][1], rich_help_panel=group)
        return None


def _imported(command: str) -> Any:
    module, _, name = (COMMANDS | INTERNAL)[command].partition(":")
    found = getattr(import_module(f"cutset.cli.{module}"), name)
    parent = typer.Typer(**SETTINGS, add_completion=False)  # the main command offers that
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=command)
        parent.callback()(lambda: None)
        return get_group(parent).commands[command]
    parent.command(command)(found)
    return get_command(parent)


app = typer.Typer(
    name="cutset",
    cls=_Commands,
    **SETTINGS,
    no_args_is_help=True,
    help="Find the smallest sets of failures that break a user's request.\n\n"
    "Examples: `cutset demo`; then, with services of your own, `cutset mesh up mesh.yaml` and `cutset explore`.",
    epilog="Exit codes: 0 survived, 1 findings, 2 usage or configuration, 3 could not tell, 4 halted by a guard, "
    "5 a claim does not hold, 130 interrupted.",
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
        code = app(prog_name="cutset", standalone_mode=False)
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
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:  # of a task that ran beside others
        error = error.exceptions[0]
    if isinstance(error, CutsetError):
        message, hint, code = error.message, error.hint, error.exit_code
    elif isinstance(error, OSError):
        message, hint, code = str(error), _FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else "", 3
    elif hasattr(error, "format_message") and hasattr(error, "exit_code"):
        # Click's usage errors, without importing click, which typer only vendors.
        message, hint, code = error.format_message(), "See `cutset --help` or `cutset COMMAND --help`", 2
        if not message:  # a command that needs another one after it: its help was shown
            return code
    else:
        print(visible("".join(traceback.format_exception(error))), end="", file=sys.stderr)
        message, hint, code = "This is a mistake in Cutset, not of yours", "Report it, with the lines above", 3
    errors.print(f"[red]error:[/] {escape(message)}")
    if hint:
        errors.print(f"\n[cyan]hint:[/] {escape(hint)}")
    return code
