"""What the workloads share: a port, a server process, the state for the oracle, an end that does not hang."""
from __future__ import annotations

import glob
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

SERVERS: list[subprocess.Popen] = []


def report(**state: object) -> None:
    """Leave the outcome that a user would see where the oracle finds it."""
    Path("state.json.new").write_text(json.dumps(state, indent=1, default=str))
    os.replace("state.json.new", "state.json")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int, seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")


def start(*command: str, output: str = os.devnull) -> subprocess.Popen:
    with open(output, "ab") as out:
        SERVERS.append(subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL))
    return SERVERS[-1]


def start_redis() -> int:
    """A Redis of its own, from the wheel that brings one; its port."""
    found = glob.glob(f"{os.environ['RC_SERVERS']}/lib/python*/site-packages/*/bin/redis-server")
    port = free_port()
    start(found[0], "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    wait_for_port(port)
    return port


def finish(code: int = 0) -> None:
    """End at once, with the servers, whatever threads are still there."""
    sys.stdout.flush()
    sys.stderr.flush()
    for server in SERVERS:
        server.kill()
    os._exit(code)
