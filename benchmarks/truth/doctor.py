"""Does the doctor name what is wrong? A little system of two services behind a real mesh is set up wrongly in every way
in which newcomers did it, and `cutset doctor` must say which way it was. And how long does it take where all is well?
On the demo's shop, as a user waits for it.

    python -m benchmarks.truth.doctor [--quick]
"""

import asyncio
import http.client
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from benchmarks.truth.topic import run_alone

from cutset.app.demo import run_boutique
from cutset.app.doctor import examine
from cutset.app.mesh import run_mesh_file
from cutset.config.explore import load_config
from cutset.config.key import signing_key
from cutset.model.checkup import Checkup, LineState

HOST = "127.0.0.1"
KEY = "a key for benchmarks, of 32 bytes or more"
HANDED_ON = ("traceparent", "tracestate", "baggage")
EXPORT_SECONDS = 0.5
SLOW_SECONDS = 1.8  # more than that and what is tolerated, less than what is waited for
RUNS, QUICK_RUNS = 5, 2


@dataclass
class System:
    """What a case may change before the doctor comes."""

    folder: Path
    handed_on: tuple[str, ...] = HANDED_ON  # by the service that users call
    status: int = 200
    mesh: dict[str, Any] = field(default_factory=dict)  # mesh.yaml
    config: dict[str, Any] = field(default_factory=dict)  # cutset.yaml
    mesh_key: str = KEY
    key: str = KEY
    slow_export: float = 0.0
    clock: float = 0.0  # seconds by which ours is ahead
    disturb: Callable[["System"], None] = lambda _: None  # when all runs
    beside: Mapping[str, Any] | None = None  # another mesh.yaml, from which nothing runs
    running: ExitStack = field(default_factory=ExitStack)
    servers: dict[str, ThreadingHTTPServer] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    name: str
    line: str  # of the doctor's
    words: str
    wrongly: Callable[[System], None]


def measure(*, quick: bool) -> dict[str, object]:
    named = [case.name for case in CASES if is_named(case)]
    for case in CASES:
        if case.name not in named:
            print(f"not named: {case.name}", file=sys.stderr)
    return {
        "doctor_seconds": round(_seconds_on_the_demo(QUICK_RUNS if quick else RUNS), 2),
        "doctor_cases": len(CASES),
        "doctor_named": len(named),
    }


def is_named(case: Case) -> bool:
    found = diagnosis(case.wrongly)
    lines = [line for line in found.checks if line.state is not LineState.WELL]
    named = any(line.name == case.line and case.words in line.text and line.remedy for line in lines)
    print(f"{case.name}: {'; '.join(f'{line.name}: {line.text}' for line in lines)}", file=sys.stderr)
    return named


def diagnosis(wrongly: Callable[[System], None]) -> Checkup:
    with tempfile.TemporaryDirectory(prefix="cutset-doctor-") as name:
        system = System(Path(name))
        ports = dict(zip(("front", "back", "edge", "http", "grpc", "relay"), _free_ports(6), strict=True))
        with system.running:
            for service in ("front", "back"):
                system.servers[service] = system.running.enter_context(_serving(system, service, ports["back"]))
            system.mesh |= {
                "entry": "front",
                "edge_port": ports["edge"],
                "collector": f"{HOST}:{ports['grpc']}",
                "services": {
                    service: {"protocol": "http", "port": ports[service], "replicas": [_address(server)]}
                    for service, server in system.servers.items()
                },
            }
            system.config |= {
                "target": {"url": f"http://{HOST}:{ports['front']}"},
                "collector": {
                    "http_port": ports["http"],
                    "grpc_port": ports["grpc"],
                    "export_interval": EXPORT_SECONDS,
                },
                "requests": [{"path": "/"}],
            }
            wrongly(system)
            return _examined(system, ports["relay"])


def _examined(system: System, relay_port: int) -> Checkup:
    if system.slow_export:
        there = system.mesh["collector"]
        system.mesh["collector"] = f"{HOST}:{relay_port}"
        system.running.enter_context(_slow_way(relay_port, there, system.slow_export))
    (system.folder / "mesh.yaml").write_text(yaml.safe_dump(system.mesh))
    system.running.enter_context(run_mesh_file(system.folder / "mesh.yaml", key=system.mesh_key.encode()))
    folder = system.folder
    if system.beside is not None or system.slow_export:
        folder = system.folder / "elsewhere"
        folder.mkdir()
    if system.beside is not None:
        (folder / "mesh.yaml").write_text(yaml.safe_dump(dict(system.beside)))
    (folder / "cutset.yaml").write_text(yaml.safe_dump(system.config))
    system.disturb(system)
    key = partial(signing_key, {"CUTSET_KEY": system.key})
    real = time.time
    with mock.patch("time.time", side_effect=lambda: real() + system.clock):
        return asyncio.run(examine(load_config(folder / "cutset.yaml"), key=key))


# What was done wrongly


def _set(section: str, **values: object) -> Callable[[System], None]:
    return lambda system: system.config[section].update(values)


def _have(**values: object) -> Callable[[System], None]:
    def change(system: System) -> None:
        for name, value in values.items():
            setattr(system, name, value)

    return change


def _nothing_listening(system: System) -> None:
    (port,) = _free_ports(1)
    system.config["target"]["url"] = f"http://{HOST}:{port}"


def _replica_down(system: System) -> None:
    system.mesh["services"]["back"]["replicas"].append(f"{HOST}:{_free_ports(1)[0]}")


def _environment(system: System) -> None:
    system.mesh["environment"] = "blue"


def _unknown_environment(system: System) -> None:
    system.mesh["environment"] = "staging"
    _elsewhere(system)


def _elsewhere(system: System) -> None:
    """Without the file of the mesh, only what is sent can tell."""
    system.disturb = lambda system: (system.folder / "mesh.yaml.applied").unlink()


def _other_key(system: System) -> None:
    system.key = "another key for benchmarks, of 32 bytes or more"


def _other_collector(system: System) -> None:
    system.mesh["collector"] = f"{HOST}:{_free_ports(1)[0]}"


def _no_span(system: System) -> None:
    _other_collector(system)
    _elsewhere(system)


def _no_tracing(system: System) -> None:
    del system.mesh["collector"]


def _other_mesh_file(system: System) -> None:
    system.beside = system.mesh


def _busy_port(system: System) -> None:
    taken = system.running.enter_context(socket.create_server((HOST, 0)))
    system.config["collector"]["grpc_port"] = taken.getsockname()[1]
    system.mesh["collector"] = f"{HOST}:{taken.getsockname()[1]}"


def _timeout_of_the_mesh(system: System) -> None:
    system.mesh["services"]["back"]["timeout_seconds"] = 2


def _edge(system: System) -> None:
    system.config["target"]["url"] = f"http://{HOST}:{system.mesh['edge_port']}"


def _edge_elsewhere(system: System) -> None:
    _edge(system)
    _elsewhere(system)


def _past_the_mesh(system: System) -> None:
    system.config["target"] |= {"url": f"http://{_address(system.servers['front'])}"}


def _slow_export(system: System) -> None:
    system.slow_export = SLOW_SECONDS


CASES = (
    Case("nothing listens", "servers", "the entry at", _nothing_listening),
    Case("a replica is down", "servers", "back#2 at", _replica_down),
    Case("another key", "key", "has another key, or none", _other_key),
    Case("no key here", "key", "`CUTSET_KEY` is not set", _have(key="")),
    Case("a short key", "key", "needs 32", _have(key="short")),
    Case("no key in the mesh", "key", "started without a key", _have(mesh_key="")),
    Case("another environment", "environment", "the mesh runs as `blue`", _environment),
    Case("another environment, and no file of the mesh", "environment", "runs as `staging`", _unknown_environment),
    Case("our clock is ahead", "clock", "behind ours", _have(clock=900.0)),
    Case("our clock is behind", "clock", "ahead of ours", _have(clock=-900.0)),
    Case("another collector", "collector", "Cutset receives them on", _other_collector),
    Case("no span arrives", "spans", "no span of it arrived", _no_span),
    Case("the mesh has no collector", "collector", "exports no spans", _no_tracing),
    Case("slow export", "spans", "`collector.export_interval` says", _slow_export),
    Case("the trace is not handed on", "trace", "no call that front made is in the trace", _have(handed_on=())),
    Case("the plan is not handed on", "trace", "not the plan, to back/GET /", _have(handed_on=("traceparent",))),
    Case("another mesh file", "mesh", "no mesh runs from", _other_mesh_file),
    Case("a busy port", "collector", "the port is in use", _busy_port),
    Case("a timeout of the mesh", "timeouts", "back after 2 s", _timeout_of_the_mesh),
    Case("the edge", "entry", "the edge of the mesh, which drops all plans", _edge),
    Case("the edge, and no file of the mesh", "entry", "the edge of the mesh, which drops all plans", _edge_elsewhere),
    Case("past the mesh", "entry", "not in this mesh", _past_the_mesh),
    Case("answered with 500", "answers", "500", _have(status=500)),
)


# The little system


@contextmanager
def _serving(system: System, service: str, back: int) -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if service == "front":
                kept = {name: self.headers[name] for name in system.handed_on if self.headers[name]}
                connection = http.client.HTTPConnection(HOST, back)
                connection.request("GET", "/", headers=kept)
                connection.getresponse().read()
                connection.close()
            self.send_response(system.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _slow_way(port: int, there: str, seconds: float) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.truth.mortal_shop", f"{HOST}:{port}", there]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "RELAY_SECONDS": str(seconds)}) as relay:
        assert relay.stdout is not None
        relay.stdout.readline()
        try:
            yield
        finally:
            relay.kill()


def _address(server: ThreadingHTTPServer) -> str:
    return f"{HOST}:{server.server_port}"


def _free_ports(number: int) -> list[int]:
    with ExitStack() as held:
        found = [held.enter_context(socket.create_server((HOST, 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in found]


# Where all is well


def _seconds_on_the_demo(runs: int) -> float:
    """Of the whole command, the start of Python included."""
    key = secrets.token_hex(32)
    taken = []
    with ExitStack() as stack:
        store = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutset-doctor-")))
        boutique = stack.enter_context(run_boutique(2, key.encode(), store))
        command = [sys.executable, "-m", "cutset", "doctor", "-c", str(boutique.config_file)]
        for _ in range(runs):
            begin = time.monotonic()
            subprocess.run(command, check=True, env={**os.environ, "CUTSET_KEY": key}, stdout=sys.stderr)
            taken.append(time.monotonic() - begin)
    return statistics.median(taken)


if __name__ == "__main__":
    run_alone(measure, __doc__)
