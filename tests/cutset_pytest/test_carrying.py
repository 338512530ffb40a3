import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module

import aiohttp
import grpc
import httpx
import pytest
import urllib3

from cutset_pytest.carrying import carried, hooked_clients

HEADERS = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "tracestate": "cutset=plan", "baggage": "cutset=plan"}
HOOKED = [
    (threading.Thread, "start"),
    (httpx.HTTPTransport, "handle_request"),
    (httpx.AsyncHTTPTransport, "handle_async_request"),
    (urllib3.HTTPConnectionPool, "_make_request"),
    (aiohttp.ClientSession, "_request"),
    (import_module("grpc._channel")._UnaryUnaryMultiCallable, "__call__"),
    (import_module("grpc.aio._channel").UnaryUnaryMultiCallable, "__call__"),
]


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.server.seen.append({name: self.headers[name] for name in HEADERS if self.headers[name]})
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def get(server: ThreadingHTTPServer) -> None:
    httpx.get(f"http://127.0.0.1:{server.server_port}/", trust_env=False)


def test_each_request_of_a_body_is_a_child_of_the_same_span_and_is_counted(server):
    counted: list[int] = []
    with hooked_clients(), carried(HEADERS, lambda: counted.append(1)):
        get(server)
        get(server)

    assert server.seen == [HEADERS, HEADERS]
    assert len(counted) == 2


def test_outside_of_a_body_nothing_is_added(server):
    with hooked_clients():
        with carried(HEADERS, lambda: None):
            pass
        get(server)
    get(server)

    assert server.seen == [{}, {}]


def test_threads_that_a_body_starts_belong_to_it_and_others_do_not(server):
    started, go_on = threading.Event(), threading.Event()

    def somebody_else() -> None:
        started.set()
        go_on.wait()
        get(server)

    other = threading.Thread(target=somebody_else)
    other.start()
    started.wait()
    with hooked_clients(), carried(HEADERS, lambda: None):
        own = threading.Thread(target=get, args=(server,))
        own.start()
        own.join()
        go_on.set()
        other.join()

    assert server.seen == [HEADERS, {}]


def test_all_that_is_hooked_is_as_it_was_afterwards(server):
    before = [vars(owner)[name] for owner, name in HOOKED]
    for _ in range(2):
        with hooked_clients():
            assert all(hasattr(vars(owner)[name], "_cutset_hook") for owner, name in HOOKED)
        assert [vars(owner)[name] for owner, name in HOOKED] == before


def test_what_others_put_around_a_hook_meanwhile_stays(monkeypatch):
    with hooked_clients():
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda *_: httpx.Response(418))
    assert httpx.get("http://127.0.0.1:1/", trust_env=False).status_code == 418


def test_metadata_of_grpc_carries_the_plan():
    seen: list[dict[str, object]] = []

    class Handler(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            seen.append(dict(details.invocation_metadata))
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"")

    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with hooked_clients(), grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.enable_http_proxy", 0)]) as channel:
        with carried(HEADERS, lambda: None):
            channel.unary_unary("/shop.Shop/Count")(b"")
        channel.unary_unary("/shop.Shop/Count")(b"")
    server.stop(None).wait()

    assert seen[0].items() >= HEADERS.items()
    assert "traceparent" not in seen[1]


def test_a_client_that_is_imported_meanwhile_carries_the_plan_too(server):
    code = f"""
from cutset_pytest.carrying import carried, hooked_clients
with hooked_clients(), carried({HEADERS!r}, lambda: None):
    import httpx
    httpx.get("http://127.0.0.1:{server.server_port}/", trust_env=False)
assert not hasattr(httpx.HTTPTransport.handle_request, "_cutset_hook")
"""
    subprocess.run([sys.executable, "-c", code], check=True)

    assert server.seen == [HEADERS]
