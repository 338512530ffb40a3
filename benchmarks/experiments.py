"""Experiments on the boutique: how many a second, how well they are kept apart, and what they cost everybody else.

`make bench-experiments` prints one line per measurement and ends with one JSON line:

    cuts_per_second      distinct cuts decided per second, each with its trace, evidence, repeats and re-checks, on the
                         request with the fewest calls, so that Cutset and the mesh are measured and not the shop
    cuts_per_second_by_request  the same for each request class of the shop
    mixed_requests       requests with random plans sent in parallel to all request classes of the shop
    wrong_outcomes       how many of them ended otherwise than the shop's answer key says
    unmarked_requests    requests of ordinary users through the edge meanwhile
    unmarked_failures    how many of them failed
    unmarked_p50_ratio   median latency of one hop with the filter over the same hop without, interleaved
    unmarked_p50_control a second hop without the filter over the first: how far the ratio can be trusted
    discovery_seconds    audit and complete search of `GET /`, cuts of up to 3 APIs
"""

import asyncio
import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import yaml
from benchmarks.hop_latency import interleaved_medians

import cutset_demo
from cutset.app.demo import run_boutique
from cutset.app.explore import explore, open_laboratory
from cutset.config.explore import Config, load_config
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.inject.local.mesh import run_mesh
from cutset.inject.plan import plan_headers
from cutset.lineage.path import Level
from cutset.model.fault import BASELINE, cut_of
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.outcome import Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.workload.send import open_client, send

CUTS = 300  # per request class
SHORTEST = "POST /cart"
MIXED_REQUESTS = 3_000
IN_FLIGHT = 48
REPLICAS = 2
SEED = 20_240_601
KEY = secrets.token_hex(32).encode()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cutset-bench-") as folder:
        store = Path(folder)
        results: dict[str, object] = {}
        with run_boutique(REPLICAS, KEY, store) as boutique:
            config = load_config(boutique.config_file)
            config = replace(config, points=Level.REPLICA, limits=replace(config.limits, parallel=IN_FLIGHT))
            results |= asyncio.run(measure_experiments(config))
            results |= asyncio.run(measure_isolation(config, boutique.mesh.edge_url))
            results |= measure_discovery(replace(config, points=Level.API), store)
        results |= measure_hop(store)
    print(json.dumps(results))


async def measure_experiments(config: Config) -> dict[str, object]:
    """Each request class by itself: how long its experiments take is mostly how many calls the shop makes for it."""
    rates: dict[str, float] = {}
    undecided = 0
    async with open_laboratory(config, KEY) as laboratory:
        audited = {request.name: await laboratory.audit(request) for request in config.requests}
        everywhere = {point.of_api for each in audited.values() for point in each.calls}
        for request in config.requests:
            cuts = distinct_cuts(audited[request.name].calls, everywhere)
            verdicts, seconds = await decide_all(laboratory, request, cuts)
            rates[request.name] = round((len(cuts) - verdicts[Verdict.UNKNOWN]) / seconds, 1)
            undecided += verdicts[Verdict.UNKNOWN]
            counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
            print(f"{request.name}: {len(cuts)} distinct cuts in {seconds:.1f}s ({counts})", flush=True)
    return {
        "cuts_per_second": rates[SHORTEST],
        "cuts_per_second_by_request": rates,
        "unknown_outcomes": undecided,
    }


def distinct_cuts(called: Points, everywhere: set[Point]) -> list[Points]:
    """Sets of replicas of the whole shop, each with at least one that the request calls."""
    chance = random.Random(SEED)
    numbers = [str(number) for number in range(1, REPLICAS + 1)]
    points = sorted(replace(point, replica=number) for point in everywhere for number in numbers)
    reached = sorted(called)
    cuts: set[Points] = set()
    while len(cuts) < CUTS:
        cuts.add(frozenset([chance.choice(reached), *chance.sample(points, chance.randint(0, 6))]))
    return sorted(cuts, key=sorted)


async def decide_all(
    laboratory: MeshLaboratory, request: Request, cuts: list[Points]
) -> tuple[Counter[Verdict], float]:
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def decide(points: Points) -> Verdict:
        async with slots:
            return (await laboratory.run(request, cut_of(points))).verdict

    start = time.perf_counter()
    verdicts = await asyncio.gather(*map(decide, cuts))
    return Counter(verdicts), time.perf_counter() - start


async def measure_isolation(config: Config, edge_url: str) -> dict[str, float]:
    """Every request has a plan of its own; ordinary users' requests go on all the while."""
    chance = random.Random(SEED)
    key = answer_key()
    done = asyncio.Event()
    marked = [
        (request, random_cut(chance, key[request.name]))
        for request in chance.choices(config.requests, k=MIXED_REQUESTS)
    ]
    slots = asyncio.Semaphore(IN_FLIGHT)

    async with open_client(2 * IN_FLIGHT) as client:

        async def ask(request: Request, points: Points, url: str) -> int:
            def headers(cut: Points = frozenset()) -> dict[str, str]:
                return plan_headers(
                    cut_of(cut) if cut else BASELINE,
                    trace_id=secrets.token_hex(16),
                    span_id=secrets.token_hex(8),
                    key=KEY,
                    environment=config.target.environment,
                    expires=int(time.time()) + 60,
                )

            plan = partial(headers, points) if url == config.target.url else dict
            setup = headers if url == config.target.url else dict
            response = await send(client, request, base_url=url, plan=plan, setup_headers=setup, timeout=20)
            return response.status

        async def is_wrong(request: Request, points: Points) -> bool:
            async with slots:
                status = await ask(request, points, config.target.url)
            return (status < 400) == any(cut <= points for cut in key[request.name])

        async def ordinary_user(number: int) -> list[int]:
            users_chance = random.Random(number)
            statuses = []
            while not done.is_set():
                statuses.append(await ask(users_chance.choice(config.requests), frozenset(), edge_url))
            return statuses

        async with asyncio.TaskGroup() as group:
            users = [group.create_task(ordinary_user(number)) for number in range(6)]
            wrong = sum(await asyncio.gather(*(is_wrong(request, points) for request, points in marked)))
            done.set()
    statuses = [status for user in users for status in user.result()]
    failures = sum(status >= 400 or status == 0 for status in statuses)
    print(f"{len(marked)} mixed requests, {wrong} wrong; {len(statuses)} unmarked, {failures} failed", flush=True)
    return {
        "mixed_requests": len(marked),
        "wrong_outcomes": wrong,
        "unmarked_requests": len(statuses),
        "unmarked_failures": failures,
    }


def answer_key() -> dict[str, list[Points]]:
    """The shop's weaknesses at replica level."""
    known = yaml.safe_load((Path(cutset_demo.__file__).parent / "WEAKNESSES.yaml").read_text())["requests"]
    replicas = [str(number) for number in range(1, REPLICAS + 1)]
    return {
        name: [
            frozenset(replace(Point.parse(p), replica=r) for p, r in product(cut, replicas)) for cut in entry["cuts"]
        ]
        for name, entry in known.items()
    }


def random_cut(chance: random.Random, cuts: list[Points]) -> Points:
    """Half of them contain a whole cut; the others leave at least one of its points alone, and so must survive."""
    points = sorted(frozenset().union(*cuts))
    whole = chance.choice(cuts) if chance.random() < 0.5 else frozenset()
    chosen = whole | frozenset(chance.sample(points, chance.randint(0, min(6, len(points)))))
    # A provider of payments refuses retries: of a single replica of it a share of requests fails, by chance.
    return chosen | {each for each in points if any(p.of_api == each.of_api for p in chosen) and each.api == "Charge"}


async def drained(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass


def measure_discovery(config: Config, store: Path) -> dict[str, float]:
    config = replace(config, requests=tuple(request for request in config.requests if request.name == "GET /"))
    start = time.perf_counter()
    asyncio.run(drained(explore(config, key=KEY, store=store)))
    seconds = time.perf_counter() - start
    print(f"discovery of GET / in {seconds:.2f}s", flush=True)
    return {"discovery_seconds": round(seconds, 2)}


def measure_hop(folder: Path) -> dict[str, float]:
    """Three Envoys alike but for the filter, which only one of them has."""
    with answering_backend() as backend, ExitStack() as stack:
        spec = MeshSpec(services=(MeshService("echo", "http", (backend,)),))
        ports = {}
        for name in ("with", "without", "control"):
            mesh = run_mesh(replace(spec, filters=name == "with"), key=KEY, work_dir=folder / name)
            stack.enter_context(mesh)
            ports[name] = inbound_port(folder / name)
        medians = interleaved_medians({name: ("127.0.0.1", port) for name, port in ports.items()})
    ratio, control = medians["with"] / medians["without"], medians["control"] / medians["without"]
    print(
        f"one hop: {medians['without'] * 1e6:.0f} µs, with the filter ×{ratio:.3f}, control ×{control:.3f}", flush=True
    )
    return {"unmarked_p50_ratio": round(ratio, 3), "unmarked_p50_control": round(control, 3)}


def inbound_port(folder: Path) -> int:
    """Of the listener in front of the backend: there the filter is, or is not."""
    listeners = json.loads((folder / "envoy.json").read_text())["static_resources"]["listeners"]
    (port,) = [
        listener["address"]["socket_address"]["port_value"]
        for listener in listeners
        if listener["name"].startswith("inbound")
    ]
    return int(port)


BACKEND = """
import asyncio
class Echo(asyncio.Protocol):
    def connection_made(self, transport): self.transport = transport
    def data_received(self, data): self.transport.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok")
async def main():
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def answering_backend() -> Iterator[str]:
    """The fastest server that we can have from Python, in a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", BACKEND], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
