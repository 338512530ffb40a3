"""`cutset explore` on services that know one tracer and nothing else, and merely copy its headers: no spans, no SDK."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from tests.end_to_end.test_mesh import KEY, free_port

from cutset.app.mesh import run_mesh_file

HOST = "127.0.0.1"
TRACERS = {"jaeger": ("uber-trace-id", "uberctx-"), "b3": ("x-b3-",)}
NEEDED, OPTIONAL = True, False
CALLS = {  # of each service: whom it calls, and whether it can do without
    "front": (("middle", NEEDED), ("extra", OPTIONAL)),
    "middle": (("last", NEEDED),),
    "last": (),
    "extra": (),
}


def handler(copied: tuple[str, ...], calls: Sequence[tuple[str, bool]], ports: dict[str, int]) -> type:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write per answer, or Nagle's algorithm costs 40 ms

        def do_GET(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name.lower().startswith(copied)}
            parts = {callee: self.call(callee, headers) for callee, _ in calls}
            self.send_response(200 if all(parts[callee] < 500 for callee, needed in calls if needed) else 500)
            body = json.dumps({"parts": [callee for callee, status in parts.items() if status < 500]}).encode()
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def call(self, callee: str, headers: dict[str, str]) -> int:
            connection = http.client.HTTPConnection(HOST, ports[callee])
            connection.request("GET", f"/{callee}", headers=headers)
            status = connection.getresponse().status
            connection.close()
            return status

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def running(copied: tuple[str, ...], folder: Path) -> Iterator[Path]:
    """The services behind a mesh; yields their cutset.yaml."""
    ports = {name: free_port() for name in CALLS}
    grpc_port = free_port()
    with ExitStack() as stack:
        services = {}
        for name, calls in CALLS.items():
            server = ThreadingHTTPServer((HOST, 0), handler(copied, calls, ports))
            stack.callback(server.server_close)
            Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            replicas = [f"{HOST}:{server.server_port}"]
            services[name] = {"protocol": "http", "port": ports[name], "replicas": replicas}
        file = folder / "cutset.yaml"
        config = {
            "collector": {"grpc_port": grpc_port, "http_port": 0, "export_interval": 0.5},
            "requests": [{"path": "/page"}],
            "mesh": {"entry": "front", "collector": f"{HOST}:{grpc_port}", "services": services},
        }
        file.write_text(yaml.safe_dump(config))
        stack.enter_context(run_mesh_file(file, key=KEY.encode(), tap=None, refused=print))
        yield file


@pytest.mark.parametrize(("tracer", "code"), [("jaeger", 1), ("b3", 3)])
def test_each_call_is_found_that_a_plan_reaches_and_told_that_none_does(tracer: str, code: int, tmp_path: Path) -> None:
    with running(TRACERS[tracer], tmp_path) as file:
        command = [sys.executable, "-m", "cutset", "explore", "-c", str(file), "--json"]
        environment = os.environ | {"CUTSET_KEY": KEY}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    assert done.returncode == code, done.stdout + done.stderr
    (request,) = json.loads(done.stdout)["requests"]
    calls = ["extra/GET /extra", "last/GET /last", "middle/GET /middle"]
    if tracer == "b3":  # which has nothing that could carry a plan
        assert (request["complete_up_to"], request["experiments"]) == (-1, 0)
        told = {
            (each["caller"], each["call"]) for each in request["not_coverable"] if each["why"] == "without the plan"
        }
        assert told == {("front", calls[0]), ("middle", calls[1]), ("front", calls[2])}
    else:
        assert (request["calls"], request["complete_up_to"]) == (calls, 3)
        assert [each["cut"] for each in request["findings"]] == [[f"{call}:abort(503)"] for call in calls[1:]]
        assert [each["cut"] for each in request["degraded"]] == [[f"{calls[0]}:abort(503)"]]
