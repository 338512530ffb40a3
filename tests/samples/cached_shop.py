"""A small shop with a cache: `web` asks `catalogue` over the mesh, Redis and a third party past it, with habits.

Its services (`cached_services`) run as processes of their own, with the agent inside and without any tracer, on a real
Redis.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from tests.samples.small_shop import free_port

from cutset.app.mesh import run_mesh_file
from cutset_agent.launch import agent_environment
from cutset_demo import datastores

KEY = b"a key of thirty-two bytes or more, for tests"
SERVICES = ("web", "catalogue")
MAX_SECONDS = 1.5


@dataclass(frozen=True)
class CachedShop:
    config_file: Path
    redis: str


@contextmanager
def open_cached_shop(
    folder: Path, pages: Sequence[str], *, agents: Sequence[str] = SERVICES, replicas: int = 1, **settings: object
) -> Iterator[CachedShop]:
    """With a cutset.yaml that explores these pages; `agents` are the services that have one, `web#2` one replica."""
    with ExitStack() as open_:
        address = f"127.0.0.1:{free_port()}"
        server = datastores._start_redis(address, folder)
        open_.callback(datastores._stop, [server])
        datastores._wait_until_listening(server, address)
        http, grpc, meshed = free_port(), free_port(), {name: free_port() for name in SERVICES}
        ports = {name: [free_port() for _ in range(replicas if name == "web" else 1)] for name in SERVICES}
        third = free_port()
        mesh_file, config_file = folder / "mesh.yaml", folder / "cutset.yaml"
        known = {"REDIS": address, "CATALOGUE": f"http://127.0.0.1:{meshed['catalogue']}"}
        known |= {"THIRD": f"http://127.0.0.1:{third}", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        started: list[subprocess.Popen[bytes]] = []
        for name, own in {**ports, "third": [third]}.items():
            for number, port in enumerate(own, start=1):
                has_agent = {name, f"{name}#{number}"} & set(agents)
                environ = {**os.environ, **known, "CUTSET_KEY": KEY.decode()}
                if has_agent:
                    environ = agent_environment(environ, service=name, collector=f"http://127.0.0.1:{http}")
                started.append(_start(open_, name, port, environ))
        services = {
            name: {
                "protocol": "http",
                "port": meshed[name],
                "retries": 0,
                "replicas": [f"127.0.0.1:{port}" for port in ports[name]],
            }
            for name in SERVICES
        }
        mesh_file.write_text(yaml.safe_dump({"entry": "web", "collector": f"127.0.0.1:{grpc}", "services": services}))
        others = {f"{name}_port": None for name in ("jaeger_compact", "jaeger_binary", "jaeger_http", "zipkin")}
        config = {
            "target": {"url": f"http://127.0.0.1:{meshed['web']}"},
            "collector": {"grpc_port": grpc, "http_port": http, "export_interval": 0.5, **others},
            "requests": [{"path": f"/{page}", "expect": {"max_seconds": MAX_SECONDS}} for page in pages],
            "stores": {"sessions": address, "bank": f"127.0.0.1:{third}"},
            **settings,
        }
        config_file.write_text(yaml.safe_dump(config))
        open_.enter_context(run_mesh_file(mesh_file, key=KEY))
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        yield CachedShop(config_file, address)


def _start(open_: ExitStack, name: str, port: int, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.samples.cached_services", name, str(port)]
    process = open_.enter_context(subprocess.Popen(command, env=environ, stdout=subprocess.PIPE))
    open_.callback(process.terminate)
    return process
