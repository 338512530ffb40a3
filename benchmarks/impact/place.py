"""A system of these benchmarks behind the real local mesh, with the files that a user of Cutset would have."""

import http.client
import json
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from benchmarks.impact.users import USER_HEADER, Users, users

from cutset.app.demo import free_ports
from cutset.app.mesh import run_mesh_file
from cutset.inject.local.mesh import Mesh
from cutset_demo.children import configure, start_child, stop_children, wait_until_ready

HOST = "127.0.0.1"
ENVIRONMENT = "bench"
START_SECONDS = 60
EXPORT_SECONDS = 0.1  # the mesh exports every 20 ms; the rest is for a busy machine


@dataclass(frozen=True, slots=True)
class Place:
    mesh: Mesh
    users: Users
    key: bytes = field(repr=False)
    config_file: Path
    store: Path
    control: str  # host:port where weather is made

    def weather(self, **services: Mapping[str, float]) -> None:
        """What happens to requests that nobody injected anything into; nothing: a fine day."""
        connection = http.client.HTTPConnection(self.control, timeout=START_SECONDS)
        try:
            connection.request("POST", "/", json.dumps(services))
            assert connection.getresponse().status == 200
        finally:
            connection.close()


@contextmanager
def run_place(
    services: str, *, entry: str, grpc: Sequence[str], requests: Sequence[str], sections: Mapping[str, Any]
) -> Iterator[Place]:
    """`services` is a function, `module:function`; `sections` of cutset.yaml beyond the target and its requests."""
    module, _, function = services.partition(":")
    names = list(getattr(import_module(module), function)())
    ports = iter(free_ports(len(names) + 3))
    listen = {name: f"{HOST}:{next(ports)}" for name in names}
    control, http_port, grpc_port = f"{HOST}:{next(ports)}", next(ports), next(ports)
    key = secrets.token_hex(32).encode()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutset-impact-")))
        mesh_file = folder / "mesh.yaml"
        content = {
            "entry": entry,
            "environment": ENVIRONMENT,
            "collector": f"{HOST}:{grpc_port}",
            "users": {"header": USER_HEADER},
            "services": {
                name: {"protocol": "grpc" if name in grpc else "http", "replicas": [address]}
                for name, address in listen.items()
            },
        }
        mesh_file.write_text(yaml.safe_dump(content, sort_keys=False))
        mesh = stack.enter_context(run_mesh_file(mesh_file, key=key))
        child = start_child("services", "benchmarks.impact.servers", folder)
        stack.callback(stop_children, [child])
        told = {"services": services, "listen": listen, "upstreams": dict(mesh.addresses)}
        configure(child, told | {"grpc": list(grpc), "control": control})
        wait_until_ready(child, time.monotonic() + START_SECONDS)
        config = {
            "target": {"url": mesh.entry_url, "environment": ENVIRONMENT, "health": list(listen.values())},
            "collector": {
                "host": HOST,
                "http_port": http_port,
                "grpc_port": grpc_port,
                "export_interval": EXPORT_SECONDS,
                **dict.fromkeys(("jaeger_compact_port", "jaeger_binary_port", "jaeger_http_port", "zipkin_port")),
            },
            "requests": [{"name": path, "path": path} for path in requests],
            **sections,
        }
        config_file = folder / "cutset.yaml"
        config_file.write_text(yaml.safe_dump(config, sort_keys=False))
        crowd = stack.enter_context(users(key))
        yield Place(mesh, crowd, key, config_file, folder / "store", control)
