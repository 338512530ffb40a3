import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cutset.errors import CutsetError, UsageError
from cutset.model.wording import count
from cutset.traces.collector import CollectorStats, collect

REFRESH_SECONDS = 0.5  # of the live counter: often enough to see that traces arrive
MEGABYTE = 1_000_000  # bytes, as disks are sold


def collect_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to append to, one OTLP/JSON payload a line")],
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    http_port: Annotated[int, typer.Option(min=0, max=65535, help="Port for OTLP/HTTP; 0 takes any free one")] = 4318,
    grpc_port: Annotated[int, typer.Option(min=0, max=65535, help="Port for OTLP/gRPC; 0 takes any free one")] = 4317,
    max_megabytes: Annotated[int, typer.Option(min=1, help="Stop before the file grows beyond this")] = 1000,
) -> None:
    """Receive OpenTelemetry traces and append them to a file until Ctrl-C.

    A payload is acknowledged only after it was written.

    Example: `cutset collect --out spans.jsonl`, then start the services with
    `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318` in their environment.
    """
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    started = time.monotonic()
    with _SpanFile(out, max_megabytes * MEGABYTE) as span_file:
        stats = asyncio.run(_receive(span_file, console, host=host, http_port=http_port, grpc_port=grpc_port))
    refused = f"; refused {count(stats.refused, 'payload')}" if stats.refused else ""
    console.print(f"Received {_amount(stats)} in {time.monotonic() - started:.1f}s{refused}")
    if span_file.problem is not None:
        raise span_file.problem
    if span_file.full:
        console.print(f"warning: `{out}` would have exceeded {max_megabytes:,} MB; raise it with `--max-megabytes`")


class _SpanFile:
    """Appends whole lines or nothing, and knows when there is nothing more to append."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            problem = f"Cannot write to `{path}`: {error.strerror}"
            raise UsageError(problem, hint="Choose another file with `--out`") from None
        self.ended = asyncio.Event()  # by Ctrl-C, or because the file takes no more
        self.full = False
        self.problem: CutsetError | None = None
        self._path = path
        self._max_bytes = max_bytes

    def __enter__(self) -> "_SpanFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, line: str) -> None:
        size = os.fstat(self._file.fileno()).st_size
        # A file that was not ended properly goes on in a new line.
        torn = size > 0 and os.pread(self._file.fileno(), 1, size - 1) != b"\n"
        content = b"\n" * torn + line.encode() + b"\n"
        if size + len(content) > self._max_bytes:
            self.full = True
            self.ended.set()
            raise CutsetError(f"`{self._path}` is full")
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(size)  # half a line would make the file unreadable
            self.problem = CutsetError(
                f"Cannot write to `{self._path}`: {error.strerror}",
                hint="All spans that were acknowledged are in the file: make room and start again to append to it",
            )
            self.ended.set()
            raise self.problem from None


async def _receive(
    span_file: _SpanFile, console: Console, *, host: str, http_port: int, grpc_port: int
) -> CollectorStats:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, span_file.ended.set)
    async with collect(host=host, http_port=http_port, grpc_port=grpc_port, record=span_file.append) as collector:
        console.print(f"Receiving OTLP on {collector.http_url} and, with gRPC, on {collector.grpc_address}")
        if console.is_terminal:
            await _count_until(span_file.ended, collector.stats, console)
        else:
            await span_file.ended.wait()
    return collector.stats


async def _count_until(ended: asyncio.Event, stats: CollectorStats, console: Console) -> None:
    with console.status("") as status:
        while not ended.is_set():
            status.update(f"Received {_amount(stats)}; stop with Ctrl-C")
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), REFRESH_SECONDS)


def _amount(stats: CollectorStats) -> str:
    return f"{count(stats.traces, 'trace')} ({count(stats.spans, 'span')})"
