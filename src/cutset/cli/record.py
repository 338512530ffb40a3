"""`cutset record`: requests and answers with their payloads, from the agent, from a mesh or from a browser."""

import asyncio
import os
import secrets
import signal
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer.core import TyperGroup

from cutset.cli.options import JsonOption
from cutset.cli.templates import print_templates, templates_as_json
from cutset.config.workload_command import find_program
from cutset.errors import UsageError
from cutset.model.exchange import Exchange
from cutset.model.expect import split_address
from cutset.model.wording import count
from cutset.process.keeper import kept
from cutset.workload.recording.folder import Recorded, Recording, open_recording, read_recording
from cutset.workload.recording.har import read_har
from cutset.workload.recording.masking import masker
from cutset.workload.recording.recorder import receive_exchanges
from cutset.workload.recording.tap import read_taps
from cutset.workload.templates.rules import RULES_FILE, rules_for
from cutset.workload.templates.template import entry_exchanges, templates_of, unsendable
from cutset_agent.launch import agent_environment

MEGABYTE = 1_000_000  # bytes, as disks are sold
REFRESH_SECONDS = 0.2
STOP_SECONDS = 10
LAST_WORDS_SECONDS = 0.5  # a program that SIGTERM kills at once does not send what it has left


class _StartByDefault(TyperGroup):
    """`cutset record -- python app.py` is `cutset record start -- python app.py`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["start", *args]
        return super().parse_args(ctx, args)


@dataclass(frozen=True, slots=True)
class Command:
    words: Sequence[str]
    service: str  # the name that it gets; empty: its own


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
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if sum((bool(command), har is not None, tap is not None)) > 1:
        raise UsageError("Expected one of a command, `--har` and `--tap`", hint="Record into one folder one by one")
    masked = masker(also=mask or (), not_these=keep or ())
    with open_recording(out, max_bytes=max_megabytes * MEGABYTE) as recording:
        code = 0
        if har is not None:
            _import_har(recording, masked, har, host, console)
        elif tap is not None:
            _import_taps(recording, masked, tap, console)
        else:
            code = asyncio.run(_record(recording, masked, listen, Command(command or [], service), console))
        console.print(f"Recorded {count(recording.exchanges, 'exchange')} into `{out}`")
    if recording.full:
        console.print(
            f"warning: it is full at {max_megabytes:,} MB, and what came after was refused: `--max-megabytes`"
        )
    raise typer.Exit(code)


def _import_har(
    recording: Recording, mask: Callable[[Exchange], Exchange], path: Path, host: str, console: Console
) -> None:
    har = read_har(path, host=host)
    recording.append([mask(exchange) for exchange in har.exchanges])
    if har.elsewhere:
        hosts = ", ".join(f"{name} ({number})" for name, number in har.elsewhere.most_common(5))
        console.print(f"Left out {count(har.elsewhere.total(), 'entry')} of hosts other than `{har.host}`: {hosts}")
    if har.unanswered:
        console.print(f"Left out {count(har.unanswered, 'entry')} without an answer")


def _import_taps(recording: Recording, mask: Callable[[Exchange], Exchange], folder: Path, console: Console) -> None:
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is no folder", hint="Name the folder that Envoy's tap filter writes to")
    taps = read_taps(folder)
    recording.append([mask(exchange) for exchange in taps.exchanges])
    if taps.skipped:
        console.print(
            f"Left out {count(taps.skipped, 'file')} that {'is' if taps.skipped == 1 else 'are'} no whole tap"
        )
    console.print(f"`{folder}` still holds the requests with their secrets: delete it when you need it no more")


def _address(text: str) -> tuple[str, int]:
    try:
        return split_address(text)
    except ValueError as error:
        raise UsageError(f"--listen: {error}") from None


async def _record(
    recording: Recording, mask: Callable[[Exchange], Exchange], listen: str, command: Command, console: Console
) -> int:
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, interrupted.set)
    host, port = _address(listen)
    code = 0
    async with receive_exchanges(recording, mask, host=host, port=port) as recorder:
        if command.words:
            # Ended before the receiver: what it says last is recorded too.
            async with _running(command, recorder.url) as process:
                await _wait(interrupted, recording, process, console)
                await asyncio.sleep(LAST_WORDS_SECONDS)
            code = 0 if interrupted.is_set() else process.returncode or 0
            if not recording.exchanges:
                console.print("warning: no exchange came: the agent knows Python services with ASGI, WSGI or gRPC")
        else:
            console.print(f"Receiving exchanges: start services with CUTSET_RECORD={recorder.url}; stop with Ctrl-C")
            await _wait(interrupted, recording, None, console)
    if recorder.refused:
        console.print(f"warning: refused {count(recorder.refused, 'batch')}, at last because: {recorder.problem}")
    return code


async def _wait(interrupted: asyncio.Event, recording: Recording, process: Process | None, console: Console) -> None:
    """Until Ctrl-C, the end of the command, or without one until the recording is full."""
    with console.status("") if process is None and console.is_terminal else nullcontext() as status:
        while not interrupted.is_set() and (not recording.full if process is None else process.returncode is None):
            if status:
                status.update(f"Recorded {count(recording.exchanges, 'exchange')}; stop with Ctrl-C")
            with suppress(TimeoutError):
                await asyncio.wait_for(interrupted.wait(), REFRESH_SECONDS)


@asynccontextmanager
async def _running(command: Command, url: str) -> AsyncIterator[Process]:
    """The command with the agent in it, kept: it ends with us, however we end."""
    program = find_program(command.words[0], os.environ, Path.cwd())
    # The agent does nothing without a key; while it only records, any will do.
    environ = agent_environment(
        {"CUTSET_KEY": secrets.token_hex(32), **os.environ}, service=command.service, record=url
    )
    process = await asyncio.create_subprocess_exec(
        *kept(program, *command.words[1:]), stdin=asyncio.subprocess.PIPE, env=environ, start_new_session=True
    )
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


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
    recorded = read_recording(folder)
    templates = templates_of(entry_exchanges(recorded.exchanges), rules_for(folder, variables))
    if as_json:
        print(templates_as_json(templates))
    else:
        print_templates(templates, constants=constants)
    report_losses(recorded, Console(stderr=True, highlight=False, markup=False, soft_wrap=True))


def report_losses(recorded: Recorded, console: Console) -> None:
    """What of the recording is not shown or sent, and why."""
    entries = entry_exchanges(recorded.exchanges)
    reasons = Counter(filter(None, map(unsendable, entries)))
    if len(entries) < len(recorded.exchanges):
        console.print(f"{count(len(recorded.exchanges) - len(entries), 'exchange')} between services left out")
    for reason, number in reasons.items():
        console.print(f"{count(number, 'exchange')} left out: {reason}")
    if recorded.damaged:
        console.print(f"warning: {count(recorded.damaged, 'part')} of the recording could not be read")
    if recorded.torn:
        console.print(f"{count(recorded.torn, 'batch')} was being written when the recorder died, and is not there")
