"""Does each guard end injection when it should, and only then? A small system of two services behind a real mesh is
explored; once the first experiment is over, something goes wrong for real, and the campaign must end by the guard that
is there for it. Its twin, with the same guards and nothing wrong, must come to its own end. And what does a guarded
injection cost?

    python -m benchmarks.impact.guards [--quick]
"""

import asyncio
import http.client
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import yaml
from benchmarks.truth.topic import run_alone

from cutset.app.demo import free_ports
from cutset.app.explore import explore
from cutset.app.guarding import guarded
from cutset.app.mesh import run_mesh_file
from cutset.config.explore import load_config
from cutset.errors import HaltedError
from cutset.guards.settings import GuardSettings
from cutset.model.event import ExperimentFinished
from cutset.model.run import Loop
from cutset.store.audit import audit_entries

HOST = "127.0.0.1"
KEY = b"a key for benchmarks, of 32 bytes or more"
HANDED_ON = ("traceparent", "tracestate", "baggage")
APIS = "abcdefghijkl"  # of the second service, each of which the first one needs: as many cuts
TWIN_EXPERIMENTS = 6  # some seconds, in which guards look several times
PERMITS = 20_000
PARALLEL = 5


@dataclass
class System:
    """What may go wrong."""

    folder: Path
    status: int = 200  # of the page, without any fault
    seconds: float = 0.05  # that it takes
    health: int = 200  # the status of a page for guards
    health_seconds: float = 0.0
    prometheus: str = '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"0.01"]}]}}'
    observed: bool = True  # whether spans get through
    guards_url: str = ""
    stop_prometheus: Callable[[], None] = field(default=lambda: None)


@dataclass(frozen=True)
class Case:
    name: str
    guard: str  # by which it must end
    guards: Callable[[System], dict[str, Any]]  # the section of the configuration
    wrongly: Callable[[System], None] = lambda _: None  # when the first experiment is over


def _prometheus(**limits: object) -> Callable[[System], dict[str, Any]]:
    query = {"query": "sum(rate(errors[1m]))", "above": 0.5}
    return lambda system: {"prometheus": [{"url": system.guards_url, **query}], **limits}


def _set(**values: object) -> Callable[[System], None]:
    def change(system: System) -> None:
        for name, value in values.items():
            setattr(system, name, value)

    return change


def _vector(value: str) -> str:
    return f'{{"status":"success","data":{{"resultType":"vector","result":[{{"metric":{{}},"value":[1,"{value}"]}}]}}}}'


def _halt(system: System) -> None:
    command = [
        sys.executable,
        "-m",
        "cutset",
        "halt",
        "--reason",
        "a benchmark",
        "-c",
        str(system.folder / "cutset.yaml"),
    ]
    subprocess.run([*command, "--store", str(system.folder / "store")], check=True, stdout=subprocess.DEVNULL)


def _lose_store(system: System) -> None:
    shutil.move(system.folder / "store", system.folder / "moved")


def _hours(*, now: bool) -> dict[str, Any]:
    day = datetime.now(UTC) + timedelta(days=0 if now else 2)
    return {"hours": f"{day:%a} 00:00-24:00", "timezone": "UTC"}


LATELY = {"over": 5, "least_requests": 3}
CASES = (
    Case("page fails", "error-rate", lambda _: {"error_rate": 0.3, **LATELY}, _set(status=500)),
    Case("page is slow", "latency", lambda _: {"latency": 0.4, **LATELY}, _set(seconds=0.8)),
    Case("value too high", "prometheus", _prometheus(), _set(prometheus=_vector("0.75"))),
    Case("value not a number", "prometheus", _prometheus(patience=2), _set(prometheus=_vector("NaN"))),
    Case("no Prometheus", "prometheus", _prometheus(patience=2), lambda system: system.stop_prometheus()),
    Case("URL answers 503", "url", lambda system: {"urls": [{"url": f"{system.guards_url}/health"}]}, _set(health=503)),
    Case(
        "URL is slow",
        "url",
        lambda system: {"urls": [{"url": f"{system.guards_url}/health", "within": 0.5}]},
        _set(health_seconds=2.0),
    ),
    Case("too many marked", "budget", lambda _: {"max_marked": 4}),
    Case("too many failed", "budget", lambda _: {"max_failed": 4}),
    Case("out of hours", "hours", lambda _: _hours(now=False)),
    Case("no spans", "telemetry", lambda _: {"telemetry": 2}, _set(observed=False)),
    Case("halted by another process", "halt", lambda _: {}, _halt),
    Case("store lost", "audit", lambda _: {}, _lose_store),
)
# Of twins whose case is the setting itself.
ENOUGH = {"too many marked": {"max_marked": 10_000}, "too many failed": {"max_failed": 10_000}}


def guard_cases() -> dict[str, int]:
    trips = false_trips = 0
    with Pool(PARALLEL) as pool:  # they mostly wait
        for number, (ended, twin) in enumerate(pool.imap(_case_and_twin, range(len(CASES)))):
            case = CASES[number]
            tripped = _is_by(ended, case.guard)
            trips += tripped
            false_trips += bool(twin)
            print(f"{case.name}: {'tripped' if tripped else 'NOT TRIPPED'}: {ended}", file=sys.stderr)
            if twin:
                print(f"{case.name}: FALSE: {twin}", file=sys.stderr)
    return {"guard_cases": len(CASES), "guard_trips": trips, "false_trips": false_trips}


def _case_and_twin(number: int) -> tuple[str, str]:
    return _ended(CASES[number], twin=False), _ended(CASES[number], twin=True)


def _is_by(ended: str, guard: str) -> bool:
    return ("halted by" in ended) if guard == "halt" else f"The guard `{guard}` ended" in ended


def _ended(case: Case, *, twin: bool) -> str:
    """Why the campaign was halted; empty if it was not."""
    with tempfile.TemporaryDirectory(prefix="cutset-guards-") as name, ExitStack() as stack:
        system = System(Path(name))
        config_file = stack.enter_context(_running(system))
        guards = case.guards(system)
        if twin:
            guards = _hours(now=True) if case.guard == "hours" else ENOUGH.get(case.name, guards)
        content = yaml.safe_load(config_file.read_text())
        content["guards"] = guards
        content["limits"]["experiments"] = TWIN_EXPERIMENTS if twin else 0
        config_file.write_text(yaml.safe_dump(content))
        return asyncio.run(_explored(config_file, system, None if twin else case.wrongly))


async def _explored(config_file: Path, system: System, wrongly: Callable[[System], None] | None) -> str:
    store, begun = config_file.parent / "store", 0.0
    try:
        async for event in explore(load_config(config_file), key=KEY, store=store):
            if isinstance(event, ExperimentFinished) and wrongly and not begun:
                begun = time.time()
                await asyncio.to_thread(wrongly, system)
    except HaltedError as error:
        store = store if store.exists() else config_file.parent / "moved"
        after = sum(entry.at > begun for entry in audit_entries(store)) if begun else 0
        told = f", {time.time() - begun:.1f} s and {after} injections after it went wrong" if begun else ""
        return f"{error.message}{told}"
    return ""


# The system


@contextmanager
def _running(system: System) -> Iterator[Path]:
    front, back, edge, http_port, grpc_port, relay_port = free_ports(6)
    with ExitStack() as stack:
        servers = {
            "front": stack.enter_context(_serving(_front(system, back))),
            "back": stack.enter_context(_serving(_Back)),
        }
        guards = stack.enter_context(_serving(_for_guards(system)))
        system.guards_url = f"http://{HOST}:{guards.server_port}"
        system.stop_prometheus = lambda: (guards.shutdown(), guards.server_close())
        stack.enter_context(_relaying(system, relay_port, grpc_port))
        services = {
            name: {"protocol": "http", "port": port, "replicas": [f"{HOST}:{servers[name].server_port}"]}
            for name, port in (("front", front), ("back", back))
        }
        mesh = {"entry": "front", "edge_port": edge, "collector": f"{HOST}:{relay_port}", "services": services}
        config = {
            "target": {"url": f"http://{HOST}:{front}", "health": [f"{HOST}:{servers['back'].server_port}"]},
            "collector": {"http_port": http_port, "grpc_port": grpc_port, "export_interval": 0.5},
            "limits": {"parallel": 1, "trace_timeout": 3, "max_size": 1},
            "requests": [{"path": "/"}],
        }
        for port in ("jaeger_compact_port", "jaeger_binary_port", "jaeger_http_port", "zipkin_port"):
            config["collector"][port] = None
        folder = system.folder / "mesh"  # not beside the configuration, which has another collector
        folder.mkdir()
        (folder / "mesh.yaml").write_text(yaml.safe_dump(mesh))
        (system.folder / "cutset.yaml").write_text(yaml.safe_dump(config))
        stack.enter_context(run_mesh_file(folder / "mesh.yaml", key=KEY))
        yield system.folder / "cutset.yaml"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def answer(self, status: int, body: bytes = b"{}") -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Back(_Handler):
    def do_GET(self) -> None:
        self.answer(200)


def _front(system: System, back: int) -> type[_Handler]:
    class Front(_Handler):
        def do_GET(self) -> None:
            headers = {name: self.headers[name] for name in HANDED_ON if name in self.headers}
            time.sleep(system.seconds)
            connection = http.client.HTTPConnection(HOST, back, timeout=10)
            for api in APIS:
                connection.request("GET", f"/{api}", headers=headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.answer(500)
                    break
            else:
                self.answer(system.status)
            connection.close()

    return Front


def _for_guards(system: System) -> type[_Handler]:
    class Guards(_Handler):
        def do_GET(self) -> None:
            self.close_connection = True
            if self.path == "/health":
                time.sleep(system.health_seconds)
                self.answer(system.health)
            else:
                self.answer(200, system.prometheus.encode())

    return Guards


@contextmanager
def _serving(handler: type[_Handler]) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer((HOST, 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _relaying(system: System, port: int, to: int) -> Iterator[None]:
    """Hands on what the mesh tells, while it may."""

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), socket.create_connection((HOST, to)) as there:
                back = threading.Thread(target=_hand_on, args=(there, self.request, lambda: True), daemon=True)
                back.start()
                _hand_on(self.request, there, lambda: system.observed)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    server = Server((HOST, port), Relay)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _hand_on(source: socket.socket, target: socket.socket, may: Callable[[], bool]) -> None:
    with suppress(OSError):
        while content := source.recv(65536):
            if may():
                target.sendall(content)


# What it costs


def gate_microseconds() -> float:
    """Of one injection: the look at the brake, the budgets and the line of the audit log."""

    async def measured(store: Path) -> float:
        settings = GuardSettings(error_rate=0.1, max_marked=10**9, max_failed=10**9, telemetry=600)
        async with guarded(store, settings, Loop.CAMPAIGN, "local") as gate:
            begin = time.perf_counter()
            for _ in range(PERMITS):
                gate.permit("payment/Charge:abort(503)", "0123456789abcdef" * 2)
            return (time.perf_counter() - begin) / PERMITS * 1e6

    with tempfile.TemporaryDirectory(prefix="cutset-guards-") as name:
        return round(asyncio.run(measured(Path(name))), 1)


def measure(*, quick: bool) -> dict[str, object]:  # noqa: ARG001 -- there is nothing to leave out
    return {**guard_cases(), "gate_microseconds": gate_microseconds()}


if __name__ == "__main__":
    run_alone(measure, __doc__)
