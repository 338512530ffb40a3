"""`cutset mesh up` in front of a service of one's own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset_demo.ports import free_port


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


KEY = "a key for tests that nobody guesses"


@pytest.mark.parametrize(("key", "faulted"), [(KEY, 503), ("", 200)])
def test_a_mesh_of_one_service_obeys_signed_plans_and_none_without_a_key(
    service: str, tmp_path: Path, key: str, faulted: int
) -> None:
    port = free_port()
    text = f"entry: hello\nservices:\n  hello: {{protocol: http, port: {port}, replicas: ['{service}']}}\n"
    (tmp_path / "mesh.yaml").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "cutset", "mesh", "up", "mesh.yaml"],
        cwd=tmp_path,
        env=os.environ | {"CUTSET_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    assert lines[0] == f"hello  127.0.0.1:{port}  http, 1 replica\n"
    assert lines[-1] == "Press Ctrl-C to stop\n"
    plan = plan_headers(
        frozenset({Fault.parse("hello/GET /:abort(503)")}),
        trace_id="1" * 32,
        span_id="2" * 16,
        key=KEY.encode(),
        environment="local",
        expires=int(time.time()) + 60,
    )

    assert httpx.get(f"http://127.0.0.1:{port}/").text == "hello"
    assert httpx.get(f"http://127.0.0.1:{port}/", headers=plan).status_code == faulted

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert ("CUTSET_KEY is not set" in errors) == (not key)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/")
