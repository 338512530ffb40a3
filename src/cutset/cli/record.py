"""`cutset record`: requests and answers with their payloads, from the agent, from a mesh or from a browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from typer.core import TyperGroup

from cutset.app.record import (
    ExchangesRecorded,
    RecordEvent,
    RecordingAt,
    RecordingEnded,
    RecordSettings,
    record,
    record_har,
    record_taps,
)
from cutset.app.traffic import read_flows
from cutset.cli.options import JsonOption
from cutset.cli.output import Console, notes, print_document, print_lines
from cutset.cli.run import stopped_by_signals
from cutset.errors import UsageError
from cutset.model.expect import split_address
from cutset.model.wording import count
from cutset.report.traffic.recording import har_lines, loss_lines, tap_lines
from cutset.report.traffic.templates import to_document, to_lines
from cutset.workload.templates.rules import RULES_FILE

MEGABYTE = 1_000_000  # bytes, as disks are sold


class _StartByDefault(TyperGroup):
    """`cutset record -- python app.py` is `cutset record start -- python app.py`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["start", *args]
        return super().parse_args(ctx, args)


record_app = typer.Typer(
    cls=_StartByDefault,
    help="Record requests and answers for replay: `cutset record -- COMMAND`, `--har FILE`, `--tap FOLDER`.",
)


@record_app.command("start")
def start_command(
    command: Annotated[list[str] | None, typer.Argument(help="A Python service to run with the agent in it.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to record into, or to go on with.")] = Path(
        "recording"
    ),
    listen: Annotated[
        str, typer.Option(help="Where agents send exchanges; port 0 takes any free one.")
    ] = "127.0.0.1:0",
    har: Annotated[Path | None, typer.Option(help="Read a HAR file, as browsers save it, instead.")] = None,
    host: Annotated[str, typer.Option(help="The host whose entries of the HAR file count; else the first's.")] = "",
    tap: Annotated[Path | None, typer.Option(help="Read the files of Envoy's tap filter instead.")] = None,
    mask: Annotated[list[str] | None, typer.Option(help="A further field, header or cookie that is secret.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="One that is not secret, whatever its name is.")] = None,
    max_megabytes: Annotated[int, typer.Option(min=1, help="The recording grows no larger than this.")] = 500,
    service: Annotated[str, typer.Option(help="The name that the command's service gets.")] = "",
) -> None:
    """Record until the command ends, or until Ctrl-C.

    Passwords, tokens, cookies and the like are replaced before anything is written; equal ones stay equal. What was
    acknowledged is on the disk.

    Example: `cutset record -o recording -- uvicorn shop:app --port 8080`, use the shop, end it with Ctrl-C, then
    `cutset record show recording`.
    """
    console = notes()
    if sum((bool(command), har is not None, tap is not None)) > 1:
        raise UsageError("Expected one of a command, `--har` and `--tap`", hint="Record into one folder one by one")
    settings = RecordSettings(out, mask or (), keep or (), max_megabytes * MEGABYTE)
    code = 0
    if har is not None:
        entries = record_har(settings, har, host)
        number, lines = len(entries.exchanges), [*har_lines(entries)]
    elif tap is not None:
        taps = record_taps(settings, tap)
        number, lines = len(taps.exchanges), [*tap_lines(taps, tap)]
    else:
        ended = asyncio.run(_record(settings, listen, command or [], service, console))
        number, code = ended.exchanges, ended.code
        lines = _warnings(ended, max_megabytes, with_command=bool(command))
    for line in (*lines, f"Recorded {count(number, 'exchange')} into `{escape(str(out))}`"):
        console.print(line)
    raise typer.Exit(code)


async def _record(
    settings: RecordSettings, listen: str, command: list[str], service: str, console: Console
) -> RecordingEnded:
    try:
        host, port = split_address(listen)
    except ValueError as error:
        raise UsageError(f"--listen: {error}") from None
    events = record(settings, stopped_by_signals(), command=command, service=service, host=host, port=port)
    async with aclosing(events):
        return await _show(events, console, with_command=bool(command))


async def _show(events: AsyncIterator[RecordEvent], console: Console, *, with_command: bool) -> RecordingEnded:
    """A command may write to the terminal itself: nothing moves there then."""
    status = console.status("")
    with status if console.is_terminal and not with_command else nullcontext():
        async for event in events:
            match event:
                case RecordingAt(url) if not with_command:
                    console.print(f"Receiving exchanges: start services with CUTSET_RECORD={url}; stop with Ctrl-C")
                case ExchangesRecorded(number):
                    status.update(f"Recorded {count(number, 'exchange')}; stop with Ctrl-C")
                case RecordingEnded():
                    return event
    raise AssertionError("it ends with its end")


def _warnings(ended: RecordingEnded, max_megabytes: int, *, with_command: bool) -> list[str]:
    lines = []
    if with_command and not ended.exchanges:
        lines.append("no exchange came: the agent knows Python services with ASGI, WSGI or gRPC")
    if ended.refused:
        lines.append(f"refused {count(ended.refused, 'batch')}, at last because: {escape(ended.problem)}")
    if ended.full:
        lines.append(f"it is full at {max_megabytes:,} MB, and what came after was refused: `--max-megabytes`")
    return [f"[yellow]warning:[/] {line}" for line in lines]


@record_app.command("show")
def show_command(
    folder: Annotated[Path, typer.Argument(help="What `cutset record` wrote.", metavar="FOLDER")],
    variables: Annotated[
        Path | None, typer.Option(help=f"Variables by hand; else `{RULES_FILE}` in the folder.")
    ] = None,
    constants: Annotated[bool, typer.Option("--constants", help="Also say of all else why it stays.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the flows of a recording as templates, with what changes at each replay marked, and why.

    Flows of the same requests are shown once.

    Example: `cutset record show recording --constants`
    """
    recorded, templates = read_flows(folder, variables)
    if as_json:
        print_document(to_document(templates))
    else:
        print_lines(to_lines(templates, constants=constants))
    for line in loss_lines(recorded):
        notes().print(line)
