"""What `cutset record` does: requests and answers with their payloads, from the agent, a mesh or a browser."""

import asyncio
import os
import secrets
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cutset.app.ticks import ticks
from cutset.config.workload_command import find_program
from cutset.errors import UsageError
from cutset.model.exchange import Exchange
from cutset.process.keeper import kept
from cutset.workload.recording.folder import MAX_BYTES, open_recording
from cutset.workload.recording.har import Har, read_har
from cutset.workload.recording.masking import masker
from cutset.workload.recording.recorder import receive_exchanges
from cutset.workload.recording.tap import Taps, read_taps
from cutset_agent.launch import agent_environment

STOP_SECONDS = 10
LAST_WORDS_SECONDS = 0.5  # a program that SIGTERM kills at once does not send what it has left


@dataclass(frozen=True, slots=True)
class RecordSettings:
    out: Path  # a folder to record into, or to go on with
    mask: Sequence[str] = ()  # further fields, headers or cookies that are secret
    keep: Sequence[str] = ()  # those that are not, whatever their names are
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class RecordingAt:
    url: str


@dataclass(frozen=True, slots=True)
class ExchangesRecorded:
    number: int  # so far


@dataclass(frozen=True, slots=True)
class RecordingEnded:
    exchanges: int
    full: bool  # what came after was refused
    refused: int  # batches
    problem: str  # why the last of them was
    code: int  # of the command; 0 if there was none, or if it was asked to end


RecordEvent = RecordingAt | ExchangesRecorded | RecordingEnded


def record_har(settings: RecordSettings, path: Path, host: str = "") -> Har:
    """The entries of one host, by default the first's."""
    har = read_har(path, host=host)
    _append(settings, har.exchanges)
    return har


def record_taps(settings: RecordSettings, folder: Path) -> Taps:
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is no folder", hint="Name the folder that Envoy's tap filter writes to")
    taps = read_taps(folder)
    _append(settings, taps.exchanges)
    return taps


async def record(
    settings: RecordSettings,
    ended: asyncio.Event,
    *,
    command: Sequence[str] = (),
    service: str = "",
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncGenerator[RecordEvent]:
    """Until the event is set, the command ends or, without one, until the recording is full.

    The command is a Python service, run with the agent in it; `service` is the name that it gets.
    """
    mask = masker(also=settings.mask, not_these=settings.keep)
    with open_recording(settings.out, max_bytes=settings.max_bytes) as recording:
        async with receive_exchanges(recording, mask, host=host, port=port) as recorder:
            yield RecordingAt(recorder.url)
            code = 0
            if command:
                # Ended before the receiver: what it says last is recorded too.
                async with _running(command, service, recorder.url) as process:
                    async for _ in ticks(ended, lambda: process.returncode is not None):
                        yield ExchangesRecorded(recording.exchanges)
                    await asyncio.sleep(LAST_WORDS_SECONDS)
                code = 0 if ended.is_set() else process.returncode or 0
            else:
                async for _ in ticks(ended, lambda: recording.full):
                    yield ExchangesRecorded(recording.exchanges)
        yield RecordingEnded(recording.exchanges, recording.full, recorder.refused, recorder.problem, code)


def _append(settings: RecordSettings, exchanges: Iterable[Exchange]) -> None:
    mask = masker(also=settings.mask, not_these=settings.keep)
    with open_recording(settings.out, max_bytes=settings.max_bytes) as recording:
        recording.append(list(map(mask, exchanges)))


@asynccontextmanager
async def _running(command: Sequence[str], service: str, url: str) -> AsyncIterator[Process]:
    """The command with the agent in it, kept: it ends with us, however we end."""
    program = find_program(command[0], os.environ, Path.cwd())
    # The agent does nothing without a key; while it only records, any will do.
    environ = agent_environment({"CUTSET_KEY": secrets.token_hex(32), **os.environ}, service=service, record=url)
    process = await asyncio.create_subprocess_exec(
        *kept(program, *command[1:]), stdin=asyncio.subprocess.PIPE, env=environ, start_new_session=True
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
