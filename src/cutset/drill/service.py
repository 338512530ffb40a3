"""Starts the service under test afresh, with the agent in it, and ends it with everything that it started."""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import aiohttp

from cutset.drill.settings import PORT, ServiceUnderTest
from cutset.errors import TargetError
from cutset.process.keeper import kept
from cutset.process.supervise import ended
from cutset_agent.launch import agent_environment as with_agent

HOST = "127.0.0.1"
POLL_SECONDS = 0.05
LOG_LINES = 15  # of a service that did not start: its last words


@dataclass(frozen=True, slots=True)
class RunningService:
    url: str
    log: Path
    process: asyncio.subprocess.Process

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        return "\n".join(f"  {line}" for line in lines)


@asynccontextmanager
async def running(service: ServiceUnderTest, agent: Mapping[str, str], log: Path) -> AsyncIterator[RunningService]:
    """Until the block ends. `agent` is what the agent in it reads from its environment."""
    port = _free_port()
    filled = _fill(service, port)
    with _for_owner(log) as output:
        process = await asyncio.create_subprocess_exec(
            *kept(*filled.command),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=filled.folder,
            # It serves nobody but us: whatever a fault reaches in it is part of the test.
            env={**with_agent({**os.environ, **filled.env}, uncontained=True), **agent},
            start_new_session=True,  # Ctrl-C in a terminal is for us alone: we decide what it means
        )
    started = RunningService(f"http://{HOST}:{port}", log, process)
    try:
        await _until_ready(filled, started, port)
        yield started
    finally:
        assert process.stdin is not None
        process.stdin.close()  # which asks the keeper to end everything
        await ended(process)  # the next start must not meet this one


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _fill(service: ServiceUnderTest, port: int) -> ServiceUnderTest:
    def fill(text: str) -> str:
        return text.replace(PORT, str(port))

    return replace(
        service,
        command=tuple(map(fill, service.command)),
        ready_url=fill(service.ready_url),
        env={name: fill(value) for name, value in service.env.items()},
    )


async def _until_ready(service: ServiceUnderTest, started: RunningService, port: int) -> None:
    deadline = time.monotonic() + service.start_seconds
    problem = "it was not asked"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as client:
        while time.monotonic() < deadline:
            if not started.alive:
                problem = f"it ended with status {started.process.returncode}"
                break
            problem = await _not_ready(service, started, port, client)
            if not problem:
                return
            await asyncio.sleep(POLL_SECONDS)
        else:
            problem = f"after {service.start_seconds:g} s {problem}"
    raise TargetError(
        f"The service `{' '.join(service.command)}` did not become ready: {problem}\n{started.last_words()}",
        hint=f"Its output is in `{started.log}`; `drill.ready_url` and `drill.ready_line` say when it is ready",
    )


async def _not_ready(
    service: ServiceUnderTest, started: RunningService, port: int, client: aiohttp.ClientSession
) -> str:
    """Why it is not ready yet, if so."""
    if service.ready_line and service.ready_line not in started.log.read_text(errors="replace"):
        return f"its output has no line with `{service.ready_line}`"
    if service.ready_url:
        try:
            async with client.get(service.ready_url) as response:
                return f"`{service.ready_url}` answers {response.status}" if response.status >= 500 else ""
        except (aiohttp.ClientError, TimeoutError) as error:
            return f"`{service.ready_url}` does not answer: {error}"
    if service.ready_line:
        return ""
    try:
        _, writer = await asyncio.open_connection(HOST, port)
        writer.close()
    except OSError:
        return f"nothing listens on port {port}"
    return ""


def _for_owner(log: Path) -> BinaryIO:
    """Services log what they should not."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    log.touch(mode=0o600)
    return log.open("wb")
