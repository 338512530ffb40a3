"""Contained means contained, at the mesh's edge: no plan from outside, none of another trace, no work for junk.

    edge_mutations             requests from outside, each the bytes around one valid plan, changed at random; behind
                               the real edge a service hands on what OpenTelemetry's SDKs make of it, in Python and in
                               Node with several propagators, to a sidecar that would execute the plan
    edge_passed                of these: those whose plan was executed. On the way past the edge many are, which is told
    replays_with_other_trace   requests with a valid, living plan whose trace ids are not that of the plan
    replays_fired              of these: those whose plan was executed, or read by an agent
    flood_slowdown             median latency of unmarked requests beside four attackers that send 8 KiB of junk plans,
                               over that beside four who send as much that looks like no plan; at the edge or at a
                               sidecar, whichever is worse

Node's packages are installed into a folder of their own; where that is not possible, the result says so in `edge_note`.
"""

import json
import logging
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

import httpx
from benchmarks.truth.topic import run_alone
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from tests.samples.edge_mutations import Headers, RawClient, mutants

from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset.model.mesh import MeshService, MeshSpec
from cutset_agent import carriers

MUTATIONS, QUICK_MUTATIONS = 10_000, 1_000
REPLAYS, QUICK_REPLAYS = 2_000, 200
CHUNK = 1_000  # mutations of one plan, which must not expire meanwhile
PLAN_SECONDS = 110
FLOOD_ROUNDS, QUICK_FLOOD_ROUNDS = 10, 3
ROUND_SECONDS = 1.5
KEY = secrets.token_hex(32).encode()
SEED = 12
NODE_PACKAGES = ("api@1.9.1", "core@2.12.1", "propagator-jaeger@2.12.0", "propagator-ot-trace@0.29.0")
Decided = dict[frozenset[tuple[str, str]], bool]  # by headers: whether their plan is executed; much comes out alike
PYTHON_SDK = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])


class _EchoServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Attackers may leave before they are answered."""


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 17  # one write per answer, or Nagle costs 40 ms

    def do_GET(self) -> None:
        received = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        body = json.dumps(_joined(received)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _joined(headers: Headers) -> dict[str, str]:
    """As servers hand them to SDKs."""
    joined: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        joined[key] = f"{joined[key]},{text}" if key in joined else text
    return joined


@contextmanager
def system() -> Iterator[Mesh]:
    server = _EchoServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    service = MeshService("web", "http", (f"127.0.0.1:{server.server_port}",))
    with tempfile.TemporaryDirectory() as folder:
        spec = MeshSpec((service,), entry="web", environment="bench")
        with run_mesh(spec, key=KEY, work_dir=Path(folder)) as mesh:
            yield mesh
    server.shutdown()
    server.server_close()


def plan_of(trace_id: str, *carried_by: str) -> dict[str, str]:
    return plan_headers(
        frozenset({Fault.parse("web/*:abort(503)")}),
        trace_id=trace_id,
        span_id=secrets.token_hex(8),
        key=KEY,
        environment="bench",
        expires=time.time() + PLAN_SECONDS,
        carriers=carried_by or ("baggage",),
    )


class NodeService:
    """OpenTelemetry's SDK in a process of Node."""

    def __init__(self, folder: Path) -> None:
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
        subprocess.run([*command, *(f"@opentelemetry/{name}" for name in NODE_PACKAGES)], check=True, timeout=120)
        environment = {"PATH": os.environ["PATH"], "NODE_PATH": str(folder / "node_modules")}
        program = ["node", str(Path(__file__).with_name("edge_hop.js"))]
        self._process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
        )

    def hand_on(self, received: Mapping[str, str]) -> list[dict[str, str]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(received) + "\n")
        self._process.stdin.flush()
        sent: list[dict[str, str]] = json.loads(self._process.stdout.readline())
        return sent

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


@dataclass(frozen=True, slots=True)
class Bench:
    mesh: Mesh
    node: NodeService | None

    def handed_on(self, received: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """What services send on that got this."""
        sent: dict[str, str] = {}
        PYTHON_SDK.inject(sent, PYTHON_SDK.extract(received))
        yield sent
        if self.node is not None:
            yield from self.node.hand_on(received)


def measure_mutations(bench: Bench, number: int) -> int:
    random_source = random.Random(SEED)
    edge, sidecar = RawClient(bench.mesh.edge_url), RawClient(bench.mesh.entry_url)
    passed = would_pass = 0
    for begin in range(0, number, CHUNK):
        plan = plan_of(secrets.token_hex(16))
        own = {"traceparent": plan["traceparent"]}
        context = (b"traceparent", plan["traceparent"].encode())
        decided: Decided = {}
        value = plan["baggage"].removeprefix("cutset=")
        for headers in islice(mutants(value, random_source), min(CHUNK, number - begin)):
            status, answered, body = edge.get([context, *headers])
            let_in = {**json.loads(body), **own} if status == 200 else own
            passed += "x-cutset-fault" in answered or _fires(bench, sidecar, let_in, decided)
            would_pass += _fires(bench, sidecar, _joined(headers) | own, decided)
        told = f"{min(begin + CHUNK, number)} mutations, {passed} passed; without the edge {would_pass} would have"
        print(f"edge: {told}", file=sys.stderr)
    edge.close()
    sidecar.close()
    return passed


def _fires(bench: Bench, sidecar: RawClient, received: Mapping[str, str], decided: Decided) -> bool:
    """Whether a sidecar executes what some service sends on that got this."""
    return any(_executed(sidecar, sent, decided) for sent in list(bench.handed_on(received)))


def _executed(sidecar: RawClient, sent: Mapping[str, str], decided: Decided) -> bool:
    plain = frozenset(item for item in sent.items() if "\n" not in item[1] and "\r" not in item[1])
    if plain not in decided:
        headers = [(name.encode(), value.encode("utf-8", "replace")) for name, value in sorted(plain)]
        decided[plain] = "x-cutset-fault" in sidecar.get(headers)[1]
    return decided[plain]


def measure_replays(bench: Bench, number: int) -> int:
    """Somebody read a plan, in a log or a span, and uses it for a request of their own."""
    random_source = random.Random(SEED)
    fired = 0
    with httpx.Client() as client:
        for _ in range(number):
            trace_id = f"{random_source.getrandbits(128):032x}"
            read = plan_of(trace_id, "tracestate", "baggage", "jaeger", "datadog")
            plan = {name: value for name, value in read.items() if "cutset" in name + value}
            headers = plan | _other_trace(trace_id, random_source)
            fired += "x-cutset-fault" in client.get(bench.mesh.entry_url, headers=headers).headers
            fired += bool(carriers.read_plan(headers.items(), key=KEY, environment="bench", now=time.time()))
            assert carriers.read_plan(read.items(), key=KEY, environment="bench", now=time.time()), "its own trace"
    return fired


def _other_trace(trace_id: str, random_source: random.Random) -> dict[str, str]:
    """Every other way to name a trace, the nearest ones included."""
    near = f"{int(trace_id, 16) ^ 1 << random_source.randrange(64):032x}"
    far = f"{random_source.getrandbits(128):032x}"
    other = random_source.choice([near, near, far, trace_id[:16] + "0" * 16, trace_id[16:] + far[:16]])
    span = "00f067aa0ba902b7"
    ways = {
        "traceparent": f"00-{other}-{span}-01",
        "uber-trace-id": f"{other}:{span}:0:1",
        "b3": f"{other}-{span}-1",
        "x-b3-traceid": other[16:],
        "x-datadog-trace-id": str(int(other[16:], 16)),
    }
    return dict(random_source.sample(sorted(ways.items()), random_source.randrange(len(ways) + 1)))


def measure_flood(url: str, rounds: int) -> float:
    """Rounds of both kinds take turns, so that what else the machine does hits both alike."""
    medians: dict[str, list[float]] = {"junk": [], "other": []}
    user = RawClient(url)
    for number in range(2 * rounds):
        kind = "junk" if number % 2 else "other"
        with attacked(url, kind):
            end = time.monotonic() + ROUND_SECONDS
            seconds = []
            while time.monotonic() < end:
                begin = time.perf_counter()
                status, _, _ = user.get([])
                assert status == 200
                seconds.append(time.perf_counter() - begin)
        medians[kind].append(statistics.median(seconds))
    user.close()
    junk, other = (statistics.median(medians[kind]) for kind in ("junk", "other"))
    print(f"flood: {junk * 1000:.2f} ms beside junk plans, {other * 1000:.2f} ms beside other baggage", file=sys.stderr)
    return statistics.median(one / two for one, two in zip(medians["junk"], medians["other"], strict=True))


@contextmanager
def attacked(url: str, kind: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.truth.edge_attack", url, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as attackers:
        assert attackers.stdin is not None
        assert attackers.stdout is not None
        attackers.stdout.readline()
        yield
        attackers.stdin.close()
    assert attackers.returncode == 0


def measure(*, quick: bool) -> dict[str, object]:
    logging.disable(logging.WARNING)  # the SDK complains of each mutation
    mutations, replays = (QUICK_MUTATIONS, QUICK_REPLAYS) if quick else (MUTATIONS, REPLAYS)
    figures: dict[str, object] = {}
    with ExitStack() as stack:
        mesh = stack.enter_context(system())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            node = NodeService(folder)
            stack.callback(node.close)
        except (OSError, subprocess.SubprocessError) as error:
            node = None
            figures["edge_note"] = f"without Node, whose packages could not be had: {error}"
        bench = Bench(mesh, node)
        figures |= {"edge_mutations": mutations, "edge_passed": measure_mutations(bench, mutations)}
        figures |= {"replays_with_other_trace": replays, "replays_fired": measure_replays(bench, replays)}
        rounds = QUICK_FLOOD_ROUNDS if quick else FLOOD_ROUNDS
        slowdown = max(measure_flood(url, rounds) for url in (mesh.edge_url, mesh.entry_url))
    return figures | {"flood_slowdown": round(slowdown, 2)}


if __name__ == "__main__":
    run_alone(measure, __doc__)
