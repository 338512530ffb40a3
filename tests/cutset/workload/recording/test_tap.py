"""Envoy's own tap filter, from the wheel, in the local mesh's configuration."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec
from cutset.workload.recording.tap import BODY_BYTES, read_taps, tap_filter


class Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        for name, value in (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Type", "application/json")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps({"length": len(body)}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tapped(tmp_path: Path) -> Iterator[str]:
    """The URL of a service behind an Envoy that taps into `tmp_path / "taps"`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service = MeshService("shop", "http", (f"127.0.0.1:{server.server_port}",))
    (tmp_path / "taps").mkdir()
    spec = MeshSpec((service,), first_filters={"shop": tap_filter("shop", tmp_path / "taps")})
    try:
        with run_mesh(spec, key=b"", work_dir=tmp_path) as mesh:
            yield f"http://{mesh.addresses['shop']}"
    finally:
        server.shutdown()
        server.server_close()


def post(url: str, body: bytes) -> None:
    request = urllib.request.Request(
        url, data=body, headers={"Content-Type": "text/plain", "traceparent": TRACE_PARENT}
    )
    with urllib.request.urlopen(request) as answer:
        answer.read()


TRACE_PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


def test_what_envoy_taps_becomes_exchanges(tapped: str, tmp_path: Path) -> None:
    post(f"{tapped}/orders?draft=1", b"hello")
    post(f"{tapped}/long", b"x" * (BODY_BYTES + 1))
    for _ in range(100):
        if len(read_taps(tmp_path / "taps").exchanges) == 2:
            break
        time.sleep(0.05)
    taps = read_taps(tmp_path / "taps")
    short, long = taps.exchanges
    assert taps.skipped == 0
    assert (short.service, short.method, short.path, short.status) == ("shop", "POST", "/orders?draft=1", 201)
    assert (short.request_body, short.response_body) == (b"hello", b'{"length": 5}')
    assert [value for name, value in short.response_headers if name == "set-cookie"] == ["a=1", "b=2"]
    assert not any(name.startswith(":") for name, _ in (*short.request_headers, *short.response_headers))
    assert short.trace_id == "a" * 32
    assert abs(short.started_at - time.time()) < 600
    assert short.id != long.id
    assert len(long.request_body) == BODY_BYTES
    assert long.truncated
    assert not short.truncated


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"http_buffered_trace": {"request": {"headers": 1}}}'])
def test_files_that_are_no_whole_tap_are_skipped_and_counted(tmp_path: Path, content: str) -> None:
    (tmp_path / "shop_1.json").write_text(content)
    assert read_taps(tmp_path).skipped == 1
