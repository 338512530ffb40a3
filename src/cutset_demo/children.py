"""Child processes that live exactly as long as their parent wants them to.

The parent sends one line of JSON to the child's stdin, the child answers with one line on stdout when it is ready,
and stdin stays open: its end tells the child to go, also when the parent was killed and could say nothing.
"""

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STOP_SECONDS = 8.0  # then the child is killed; longer than it gives its own requests and servers to end
LOG_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path


def start_child(name: str, module: str, log_folder: Path, settings: Mapping[str, str] | None = None) -> Child:
    """`settings` are added to the environment."""
    log = log_folder / f"{name}.log"
    # The shop's telemetry is set by its configuration; a user's OTEL_* settings are for programs of their own. So is
    # what Cutset reads, above all the key: who cannot sign plans cannot lose it.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "CUTSET_"))}
    environment |= settings or {}
    with log.open("wb") as log_file:
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            env=environment,
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
    return Child(name, process, log)


def configure(child: Child, configuration: Mapping[str, object]) -> None:
    assert child.process.stdin is not None
    with suppress(BrokenPipeError):  # `wait_until_ready` tells why the child is gone
        child.process.stdin.write(json.dumps(configuration).encode() + b"\n")
        child.process.stdin.flush()


def wait_until_ready(child: Child, deadline: float) -> None:
    assert child.process.stdout is not None
    readable, _, _ = select.select([child.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    if not readable:
        raise RuntimeError(f"{child.name} did not become ready in time\n{log_tail(child.log)}")
    if not child.process.stdout.readline():
        raise RuntimeError(f"{child.name} ended with status {child.process.wait()}\n{log_tail(child.log)}")


def stop_children(children: list[Child]) -> None:
    """All at once; they end in parallel."""
    for child in children:
        assert child.process.stdin is not None
        with suppress(BrokenPipeError):
            child.process.stdin.close()
    for child in children:
        try:
            child.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()
        assert child.process.stdout is not None
        child.process.stdout.close()


def log_tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join([f"the end of {log}:", *(f"  {line}" for line in lines)])


def read_configuration() -> dict[str, Any]:
    """In the child."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit("the parent went away before it said what to run")
    configuration: dict[str, Any] = json.loads(line)
    return configuration


def report_ready() -> None:
    """In the child."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def when_told_to_go(callback: Callable[[], object]) -> None:
    """In the child. A child that does not manage to go by itself is ended."""

    def wait_for_end_of_input() -> None:
        sys.stdin.buffer.read()
        callback()
        time.sleep(STOP_SECONDS / 2)
        os._exit(1)

    threading.Thread(target=wait_for_end_of_input, daemon=True).start()
