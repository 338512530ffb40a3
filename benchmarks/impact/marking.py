"""Marking live requests at a real edge: how soon it ends, whom a hanging Cutset keeps waiting, what others pay.

`python -m benchmarks.impact.marking [--quick]`. All on this machine's loopback; requests are bounded in number.

    halt_ms            from the halt until the last marked request reached the service: the worst of several times
    kill_ms            the same, from SIGKILL of the process that marks. Below 0: the last came before the signal
    hang_asked         requests that the edge would have asked about while that process was stopped (SIGSTOP)
    hang_waiting       how many of these waited for an answer in vain, for 50 ms at most
    hang_failed        requests that were not answered well meanwhile
    marking_overhead_p50          median latency of unmarked requests at an edge that marks 5 % (and 5 % control), over
                                  the same edge without that filter: three edges of one Envoy, asked in turns
    marking_overhead_users_p50    the same where users are told apart by a header
    marking_overhead_control_p50  a second edge without the filter over the first: how far these can be trusted
"""

import argparse
import asyncio
import json
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import aiohttp
from tests.samples.marked_edge import ENVIRONMENT, HOST, KEY, Edge, marker_process

from cutset.inject.local.envoy import bootstrap
from cutset.inject.local.marking_switch import is_heard, set_share
from cutset.inject.local.mesh import run_mesh
from cutset.model.impact import UserKey
from cutset.model.mesh import Json, MeshService, MeshSpec

SENDERS = 4
EVERYBODY = 0.5  # a share: as many again are control
LIVE_SHARE = 0.05
SECONDS_BEFORE, SECONDS_AFTER = 0.5, 1.0
HANG_SECONDS, HANG_RATE = 5.0, 100  # requests per second
SEED = 15
REQUEST = b"GET /cart HTTP/1.1\r\nhost: shop\r\nx-user: %d\r\naccept: */*\r\n\r\n"
PLAIN, AGAIN = "edge-plain", "edge-plain-again"


def measure(*, quick: bool) -> dict[str, object]:
    rounds, requests = (2, 1_000) if quick else (10, 8_000)
    with tempfile.TemporaryDirectory(prefix="cutset-marking-") as folder:
        figures = asyncio.run(_ends(Path(folder), rounds))
        figures |= asyncio.run(_hang(Path(folder)))
        figures |= asyncio.run(_overhead(Path(folder, "requests"), UserKey(), requests))
        users = asyncio.run(_overhead(Path(folder, "users"), UserKey(header="x-user"), requests))
    return figures | {"marking_overhead_users_p50": users["marking_overhead_p50"]}


async def _ends(folder: Path, rounds: int) -> dict[str, object]:
    halts, kills = [], []
    async with _open_edge(folder / "ends") as edge:
        for number in range(rounds):
            halted = folder / f"halted-{number}"
            async with _marked(edge, halted):
                halts.append(await _last_mark_after(edge, halted.touch))
            async with _marked(edge, folder / "never") as process:
                kills.append(await _last_mark_after(edge, process.kill))
    return {
        "halt_ms": max(halts),
        "kill_ms": max(kills),
        "halt_ms_median": statistics.median(halts),
        "kill_ms_median": statistics.median(kills),
        "ends": rounds,
    }


@asynccontextmanager
async def _open_edge(folder: Path) -> AsyncIterator[Edge]:
    with _backend() as backend:
        spec = MeshSpec((MeshService("web", "http", (backend,)),), entry="web", environment=ENVIRONMENT)
        with run_mesh(spec, key=KEY, work_dir=folder) as mesh:
            async with aiohttp.ClientSession(trust_env=False) as session:
                yield Edge(mesh, session)


@asynccontextmanager
async def _marked(edge: Edge, halted: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Every request is asked about, and marked: without a fault, so that all of them get to the service."""
    async with marker_process(edge.mesh.marking, halted, with_fault=False) as process:
        await set_share(edge.mesh.admin_url, EVERYBODY)
        await edge.is_heard()
        try:
            yield process
        finally:
            await set_share(edge.mesh.admin_url, 0)


async def _last_mark_after(edge: Edge, end: Callable[[], object]) -> float:
    """Milliseconds. The service tells the moment, by the clock that all processes of a machine share."""
    stopping = asyncio.Event()

    async def keep_sending() -> None:
        reader, writer = await asyncio.open_connection(HOST, edge.mesh.spec.edge_port)
        while not stopping.is_set():
            writer.write(REQUEST % 1)
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(6)
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(SENDERS):
            group.create_task(keep_sending())
        await asyncio.sleep(SECONDS_BEFORE)
        ended = time.monotonic()
        end()
        await asyncio.sleep(SECONDS_AFTER)
        stopping.set()
    async with edge.session.get(f"{edge.mesh.entry_url}/last") as answer:
        last_marked, last = map(float, (await answer.text()).split())
    if not ended - SECONDS_BEFORE < last_marked < last or last <= ended:
        raise SystemExit("nothing was marked, or nothing was sent afterwards")
    return round((last_marked - ended) * 1000, 2)


async def _hang(folder: Path) -> dict[str, object]:
    statuses: list[int] = []
    async with _open_edge(folder / "hang") as edge, _marked(edge, folder / "never") as process:
        asked, waited = await edge.asked(), await edge.timeouts()
        process.send_signal(signal.SIGSTOP)

        async def one() -> None:
            async with edge.session.get(edge.mesh.edge_url) as answer:
                statuses.append(answer.status)

        async with asyncio.TaskGroup() as group:
            for _ in range(round(HANG_SECONDS * HANG_RATE)):
                group.create_task(one())
                await asyncio.sleep(1 / HANG_RATE)
        figures = {
            "hang_asked": await edge.asked() - asked,
            "hang_waiting": await edge.timeouts() - waited,
            "hang_failed": sum(status != 200 for status in statuses),
        }
        process.send_signal(signal.SIGCONT)
    return figures


async def _overhead(folder: Path, users: UserKey, requests: int) -> dict[str, object]:
    with _backend() as backend:
        service = MeshService("web", "http", (backend,))
        spec = MeshSpec((service,), entry="web", environment=ENVIRONMENT, users=users)
        ports = dict(zip((PLAIN, AGAIN), _free_ports(2), strict=True))

        def with_plain_edges(wanted: MeshSpec, inbound_ports: dict[tuple[str, str], int], key: bytes = b"") -> Json:
            built = bootstrap(wanted, inbound_ports, key)
            plain = bootstrap(replace(wanted, users=UserKey()), inbound_ports, key)
            for name, port in ports.items():
                built["static_resources"]["listeners"].append(_plain_edge(plain, name, port))
            return built

        with (
            patch("cutset.inject.local.mesh.bootstrap", with_plain_edges),
            run_mesh(spec, key=KEY, work_dir=folder) as mesh,
        ):
            async with marker_process(mesh.marking, folder / "never", with_fault=False):
                await set_share(mesh.admin_url, LIVE_SHARE)
                while not await is_heard(mesh.admin_url):  # noqa: ASYNC110 -- Envoy tells who asks
                    await asyncio.sleep(0.02)
                ports["edge"] = mesh.spec.edge_port
                medians, marked = await asyncio.to_thread(_medians, ports, requests)
    if not marked["edge"] or marked[PLAIN] or marked[AGAIN]:
        raise SystemExit(f"expected marks at the edge and nowhere else, found {marked}")
    return {
        "marking_overhead_p50": round(medians["edge"] / medians[PLAIN], 3),
        "marking_overhead_control_p50": round(medians[AGAIN] / medians[PLAIN], 3),
        "marking_overhead_requests": requests,
        "marking_overhead_marked": marked["edge"],
        "unmarked_p50_us": round(medians[PLAIN] * 1e6),
    }


def _plain_edge(built: Json, name: str, port: int) -> Json:
    """The edge of the same mesh, without what marks."""
    (edge,) = [deepcopy(each) for each in built["static_resources"]["listeners"] if each["name"] == "edge"]
    edge["name"] = name
    edge["address"]["socket_address"]["port_value"] = port
    manager = edge["filter_chains"][0]["filters"][0]["typed_config"]
    manager["http_filters"] = [each for each in manager["http_filters"] if each["name"] != "cutset.mark"]
    (host,) = manager["route_config"]["virtual_hosts"]
    host["routes"] = host["routes"][1:]
    manager["stat_prefix"] = name
    return edge


def _medians(ports: dict[str, int], requests: int) -> tuple[dict[str, float], dict[str, int]]:
    """Of unmarked requests, one at a time and in changing order, so that whatever disturbs disturbs all alike."""
    lines = {name: socket.create_connection((HOST, port)) for name, port in ports.items()}
    for line in lines.values():
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times: dict[str, list[float]] = {name: [] for name in ports}
    marked = dict.fromkeys(ports, 0)
    order, chance = list(lines.items()), random.Random(SEED)
    for turn in range(requests):
        chance.shuffle(order)
        for name, line in order:
            begin = time.perf_counter()
            line.sendall(REQUEST % turn)
            answer = line.recv(65536)
            seconds = time.perf_counter() - begin
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"a request to {name} was not answered with 200")
            if answer.endswith(b"marked"):
                marked[name] += 1
            elif turn >= requests // 10:  # the first tenth warms up
                times[name].append(seconds)
    for line in lines.values():
        line.close()
    return {name: statistics.median(values) for name, values in times.items()}, marked


BACKEND = """
import asyncio, time
last_marked = last = 0.0
class Service(asyncio.Protocol):
    def connection_made(self, transport): self.transport = transport
    def data_received(self, data):
        global last_marked, last
        said = b"as is."
        if data.startswith(b"GET /last "):
            said = b"%f %f" % (last_marked, last)
        else:
            last = time.monotonic()
            if b"cutset=" in data:
                last_marked, said = last, b"marked"
        self.transport.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(said) + said)
async def main():
    server = await asyncio.get_running_loop().create_server(Service, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def _backend() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", BACKEND], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"{HOST}:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the size, or less")
    print(json.dumps(measure(quick=parser.parse_args().quick)))
