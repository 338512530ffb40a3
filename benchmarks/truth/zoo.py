"""Contained means contained: faults reach the request that carries them, no other, and end with it.

A zoo of everything in which requests meet (`zoo_service`: lazy workers, pools, batchers, shared connections, HTTP/2
through a real mesh, consumers of NATS, work after the answer) serves marked and unmarked requests at once.

    zoo_requests          sent, a quarter of them with a plan
    zoo_unmarked_failed   requests without a plan that failed, at once or in what was left to be done after their answer
    zoo_outlived          faults that fired later than the grace after their request was answered; in the mesh: later
                          than their plan lived
"""

import asyncio
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from benchmarks.drill import data_stores, free_port
from benchmarks.truth.topic import run_alone
from benchmarks.truth.zoo_service import LATE_SECONDS

from cutset.drill.service import running
from cutset.drill.settings import ServiceUnderTest
from cutset.inject.local.mesh import run_mesh
from cutset.inject.plan import signed_headers
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.span import Span
from cutset.traces.collector import collect
from cutset_agent.reach import GRACE_SECONDS
from cutset_agent.wire import WireFault, WireTarget, fault_code

REQUESTS, QUICK_REQUESTS = 100_000, 6_000
DAWNS, QUICK_DAWNS = 60, 8  # a marked request alone, and others right behind it
BEHIND = 15
IN_FLIGHT = 48
MARKED = 0.25
PLAN_SECONDS = 2.0
ANSWER_SECONDS = 60
SETTLE_SECONDS = 1.0
SEED = 17
FOLDER = Path(__file__).parents[2]

Fault = tuple[WireTarget, WireFault]


def _inside(endpoint: str, *names: str) -> list[Fault]:
    return [(WireTarget("zoo", endpoint), WireFault("L", fault_code(name))) for name in names]


CACHE = [
    *_inside("cache/redis/get", "connection-refused", "connection-lost", "timeout", "lost-answer", "pool-exhausted"),
    (WireTarget("zoo", "cache/redis/get"), WireFault("D", 40)),
]
DATABASE = _inside("db/psycopg/execute", "deadlock", "connection-lost", "lost-answer", "server-shutdown")
BROKER = _inside("mq/nats/publish", "connection-lost", "connection-reset", "broker-unavailable", "lost-message")
CONSUMER = [*_inside("mq/nats/handle", "serialization"), *_inside("mq/nats/request", "timeout", "no-responders")]
QUOTES = [
    *_inside("rpc/grpc/GetQuote", "unavailable", "cancelled"),
    (WireTarget("quotes", "GetQuote"), WireFault("G", 14)),
    (WireTarget("quotes", "GetQuote"), WireFault("D", 40)),
]
ANIMALS: dict[str, list[Fault]] = {
    **dict.fromkeys(("own", "lazy-task", "lazy-thread", "batch", "pool", "blocking"), CACHE),
    **dict.fromkeys(("stream", "background", "forget", "wsgi-own", "wsgi-lazy", "wsgi-pool"), CACHE),
    "fan-out": [*CACHE, *DATABASE],
    "publish": BROKER,
    "consumer": [*CACHE, *CONSUMER],
    "puller": [*CACHE, *CONSUMER],
    "database": DATABASE,
    "mesh": QUOTES,
    "lazy-mesh": QUOTES,
    "traced-mesh": QUOTES,
}

LAZY = (  # whoever is first starts them
    *("lazy-task", "lazy-thread", "batch", "lazy-mesh", "traced-mesh", "consumer", "puller", "wsgi-lazy"),
)


@dataclass(slots=True)
class Visit:
    """What is known of all requests."""

    url: str
    wsgi_url: str
    # Different users have different connections: a server that closes one after an unhandled error, as uvicorn does,
    # may fail the next request on it.
    clients: dict[bool, aiohttp.ClientSession]  # by whether requests are marked
    key: bytes
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    answered: dict[str, float] = field(default_factory=dict)  # Unix seconds, by trace of a marked request
    expiry: dict[str, float] = field(default_factory=dict)
    requests: int = 0
    failures: list[str] = field(default_factory=list)  # of requests without a plan
    fired: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    outlived: list[str] = field(default_factory=list)

    async def send(self, animal: str, *, marked: bool) -> None:
        self.requests += 1
        trace_id = secrets.token_hex(16)
        headers = self._plan(animal, trace_id) if marked else {"traceparent": f"00-{trace_id}-{'1' * 16}-01"}
        headers["x-zoo"] = "marked" if marked else "unmarked"
        try:
            url = self.wsgi_url if animal.startswith("wsgi") else self.url
            async with self.clients[marked].get(f"{url}/{animal}", headers=headers) as response:
                body = await response.text()
            problem = "" if response.status == 200 and "failed" not in body else f"{response.status} {body}"
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = repr(error)
        if marked:
            self.answered[trace_id] = time.time()
        elif problem:
            self.failures.append(f"{animal}: {problem[:200]}")
            print(f"  failed without a plan: {self.failures[-1]}", file=sys.stderr)

    def _plan(self, animal: str, trace_id: str) -> dict[str, str]:
        fault = self.chance.choice(ANIMALS[animal])
        self.expiry[trace_id] = expires = time.time() + PLAN_SECONDS
        identity = {"trace_id": trace_id, "span_id": secrets.token_hex(8)}
        return signed_headers([fault], **identity, key=self.key, environment="local", expires=expires)

    def receive(self, spans: Sequence[Span]) -> None:
        for span in spans:
            facts = span.attributes
            if span.trace_id not in self.expiry or not (facts.get("cutset.fault") or facts.get("cutset.not_fired")):
                continue
            at, limit = span.start_ns / 1e9, self.answered.get(span.trace_id, time.time()) + GRACE_SECONDS
            if "cutset.endpoint" not in facts:  # of the mesh, where flags tell whether it fired
                limit = self.expiry[span.trace_id]
                if not {"FI", "DI"} & set(str(facts.get("response_flags", "")).split(",")):
                    continue
            elif "cutset.fault" not in facts:
                self.refused[str(facts["cutset.not_fired"])] += 1
                continue
            place = str(facts.get("cutset.endpoint", "mesh"))
            self.fired[f"{facts['cutset.fault']} at {place}"] += 1
            if at > limit:
                self.outlived.append(f"{facts['cutset.fault']} at {place}: {at - limit:.3f} s late")


async def crowd(visit: Visit, requests: int) -> None:
    """All animals at once, by many clients."""
    left = iter(range(requests))
    animals = sorted(ANIMALS)

    async def go() -> None:
        for number in left:
            await visit.send(visit.chance.choice(animals), marked=visit.chance.random() < MARKED)
            if number % 10_000 == 0:
                print(f"  {number} requests, {len(visit.failures)} failed unmarked", file=sys.stderr)

    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(go())


async def dawn(visit: Visit, animal: str) -> None:
    """Nobody is there; a marked request comes, starts what all will use, and all the others come right behind it."""
    await asyncio.sleep(GRACE_SECONDS + 0.1)
    async with asyncio.TaskGroup() as group:
        group.create_task(visit.send(animal, marked=True))
        for _ in range(BEHIND):
            await asyncio.sleep(visit.chance.random() * 0.004)
            group.create_task(visit.send(animal, marked=False))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Visit]:
    key = secrets.token_hex(32).encode()
    quotes_port, wsgi_port = free_port(), free_port()
    with data_stores(folder) as stores:
        async with collect() as collector:
            quotes = MeshService("quotes", "grpc", (f"127.0.0.1:{quotes_port}",))
            spec = MeshSpec((quotes,), collector=collector.grpc_address)
            with run_mesh(spec, key=key, work_dir=folder / "mesh") as mesh:
                places = {
                    "redis": f"redis://{stores['redis']}/0",
                    "nats": f"nats://{stores['nats']}",
                    "postgres": f"postgresql://postgres@{stores['postgres']}/postgres",
                    "quotes": mesh.addresses["quotes"],
                    "quotes_port": str(quotes_port),
                    "wsgi_port": str(wsgi_port),
                }
                zoo = served(places, key, collector.http_url, folder / "zoo.log")
                async with zoo as url, client() as user, client() as tester:
                    visit = Visit(url, f"http://127.0.0.1:{wsgi_port}", {False: user, True: tester}, key)
                    collector.subscribe(visit.receive)
                    yield visit
                    await asyncio.sleep(LATE_SECONDS + SETTLE_SECONDS)
                    async with user.get(f"{url}/counts") as response:
                        late = await response.json()
                    visit.failures += ["after the answer"] * late.get("late of unmarked", 0)
                    visit.outlived += ["after the answer"] * late.get("late of marked", 0)


@asynccontextmanager
async def served(places: dict[str, str], key: bytes, collector: str, log: Path) -> AsyncIterator[str]:
    arguments = ", ".join(f'"{name}": "{place}"' for name, place in {"port": "{port}", **places}.items())
    service = ServiceUnderTest(
        (sys.executable, "-m", "benchmarks.truth.zoo_service", f"{{{arguments}}}"),
        ready_url="http://127.0.0.1:{port}/counts",
        folder=FOLDER,
    )
    # Not as a drill's own service: others use this one.
    agent = {"CUTSET_KEY": key.decode(), "CUTSET_SERVICE": "zoo", "CUTSET_COLLECTOR": collector}
    contained = {"CUTSET_UNCONTAINED": "0", "CUTSET_ENVIRONMENT": "local"}
    async with running(service, {**agent, **contained}, log) as started:
        yield started.url


def client() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    return aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0))


async def visited(requests: int, dawns: int) -> Visit:
    with tempfile.TemporaryDirectory(prefix="cutset-zoo-") as folder:
        async with opened(Path(folder)) as visit:
            for number in range(dawns):
                await dawn(visit, (*LAZY, *ANIMALS)[number % (len(LAZY) + len(ANIMALS))])
            await crowd(visit, requests - visit.requests)
        return visit


def measure(*, quick: bool) -> dict[str, object]:
    visit = asyncio.run(visited(QUICK_REQUESTS if quick else REQUESTS, QUICK_DAWNS if quick else DAWNS))
    for title, found in (("fired", visit.fired), ("refused", visit.refused)):
        print(f"{title}: {dict(found.most_common())}", file=sys.stderr)
    for title, problems in (("unmarked failed", visit.failures), ("outlived", visit.outlived)):
        print(f"{title}: {Counter(problems).most_common(10)}", file=sys.stderr)
    return {
        "zoo_requests": visit.requests,
        "zoo_unmarked_failed": len(visit.failures),
        "zoo_outlived": len(visit.outlived),
    }


if __name__ == "__main__":
    run_alone(measure, __doc__)
