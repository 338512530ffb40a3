"""Runs in an environment that has `cutset-agent` and nothing else (`dist` sees to that): it must work there, for real.

    python dist_proof.py urllib|urllib3

A WSGI service calls another one; a request to it brings a signed plan, and the call fails, in that request alone. The
standard library's `urllib` has no hook, so one comes from another package, as users may bring them; `urllib3` has ours.
Python 3.9 and later, standard library and `cutset_agent` only.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from cutset_agent import wire
from cutset_agent.launch import agent_environment

KEY = "a key that nobody will ever guess"
SERVICE = "shop"
FAULT = "connection-refused"
TRACE = f"00-{'ab' * 16}-{'cd' * 8}-01"
SECONDS = 30

# As another package brings it.
HOOK = """
import urllib.error
from cutset_agent.calls import HookedCall
from cutset_agent.hooking import wrap

MODULE = "urllib.request"
FAULTS = {"connection-refused": lambda *_: urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))}

def describe(args, kwargs):
    return HookedCall("rpc/urllib/GET /price", kwargs.get("timeout"))

def install(module):
    wrap(module, "urlopen", describe, FAULTS)
"""


def main(library: str) -> dict[str, Any]:
    assert _loaded_while_off() == ["cutset_agent"], "the agent loads something although it is off"
    with tempfile.TemporaryDirectory() as folder, _listening() as upstream, _listening() as collector:
        _write_hook(Path(folder))
        with _service(library, folder, upstream, collector) as url:
            statuses = {
                "planned": _status(url, _headers(library, KEY)),
                "forged": _status(url, _headers(library, "another key that nobody will guess, either")),
                "plain": _status(url, {}),
            }
            fired = _fired(collector)
    assert statuses == {"planned": 503, "forged": 200, "plain": 200}, statuses
    assert fired == [FAULT], fired
    return {"dependencies": len(metadata.requires("cutset-agent") or ()), "statuses": statuses, "fired": fired}


def _loaded_while_off() -> list[str]:
    program = (
        "import sys; before = set(sys.modules); import cutset_agent; assert not cutset_agent.install();"
        "print(*sorted(set(sys.modules) - before))"
    )
    return subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def _write_hook(folder: Path) -> None:
    (folder / "urllib_hook.py").write_text(HOOK)
    package = folder / "urllib_hook-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: urllib-hook\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[cutset.faults]\nurllib = urllib_hook\n")


class _Server(ThreadingHTTPServer):
    posted: list[bytes]


@contextmanager
def _listening() -> Iterator[_Server]:
    """The service that is called, and what receives the agent's reports."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.posted.append(self.rfile.read(int(self.headers.get("content-length", 0))))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"12")

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    server.posted = []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _service(library: str, folder: str, upstream: _Server, collector: _Server) -> Iterator[str]:
    """The URL of a service in a process of its own, with the agent inside."""
    bare = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": folder, "CUTSET_KEY": KEY}
    environment = agent_environment(bare, service=SERVICE, collector=f"http://127.0.0.1:{collector.server_port}")
    command = [sys.executable, __file__, library, f"http://127.0.0.1:{upstream.server_port}/price"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/"
        finally:
            process.kill()


def serve(library: str, upstream: str) -> None:
    """What the service's process does."""

    def call() -> int:
        if library == "urllib":
            with urllib.request.urlopen(upstream, timeout=5) as response:  # noqa: S310 -- our own
                return int(response.read())
        import urllib3  # noqa: PLC0415 -- not there unless it is asked for

        return int(urllib3.PoolManager(retries=False).request("GET", upstream, timeout=5).data)

    def app(_environ: Any, start_response: Any) -> list[bytes]:
        try:
            call()
        except Exception as error:  # noqa: BLE001 -- each library has its own
            start_response("503 Service Unavailable" if "refused" in str(error) else "500 Internal Server Error", [])
        else:
            start_response("200 OK", [])
        return []

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


def _headers(library: str, key: str) -> dict[str, str]:
    target, fault = wire.WireTarget(SERVICE, f"rpc/{library}/GET /price"), wire.WireFault("L", wire.fault_code(FAULT))
    now, trace_id = time.time(), TRACE.split("-")[1]
    parts = wire.encode(
        [(target, fault)], key=key.encode(), environment="local", trace_id=trace_id, expires=now + SECONDS, now=now
    )
    return {"traceparent": TRACE, "tracestate": wire.to_tracestate(parts)}


def _status(url: str, headers: dict[str, str]) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def _fired(collector: _Server) -> list[str]:
    """The faults in the agent's reports, for which it takes its time."""
    deadline = time.monotonic() + SECONDS
    while not collector.posted and time.monotonic() < deadline:
        time.sleep(0.01)
    return [
        attribute["value"]["stringValue"]
        for body in collector.posted
        for resource in json.loads(body)["resourceSpans"]
        for span in resource["scopeSpans"][0]["spans"]
        for attribute in span["attributes"]
        if attribute["key"] == "cutset.fault"
    ]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        serve(*sys.argv[1:])
    else:
        print(json.dumps(main(sys.argv[1])))
