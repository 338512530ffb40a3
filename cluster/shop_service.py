"""A service of the small shop: says its name, its version, and what the services that it calls said.

python -m cluster.shop_service http|grpc PORT [URL…]   (URLs: http://HOST:PORT, grpc://HOST:PORT; with a `~` before
them: what it can do without)

It hands on the trace context and nothing else. `/fail`, or a header `x-fail`, makes a service that calls no other
really fail.
"""

import json
import os
import signal
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc

HANDED_ON = ("traceparent", "tracestate", "baggage", "x-request-id")
PATIENCE = 20  # seconds for a call
LAST_WORDS = 2  # seconds
SPARED = "~"


def main(protocol: str, port: int, urls: list[str]) -> None:
    name = os.environ.get("HOSTNAME", "?")
    # Callers go on to send for a moment after a pod was told to end: it ends when they know.
    signal.signal(signal.SIGTERM, lambda *_: threading.Timer(LAST_WORDS, os._exit, [0]).start())
    if protocol == "grpc":
        _serve_grpc(name, port)
    else:
        ThreadingHTTPServer(("0.0.0.0", port), _handler(name, urls)).serve_forever()


def _handler(name: str, urls: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write per answer, or Nagle's algorithm costs 40 ms

        def do_GET(self) -> None:
            if (self.path == "/fail" or self.headers["x-fail"]) and not urls:
                self._answer(500, {"service": name, "error": "really failed"})
                return
            context = {key: str(self.headers[key]) for key in HANDED_ON if self.headers[key]}
            called = [_called(url.removeprefix(SPARED), self.path, context) for url in urls]
            fine = all(
                each["status"] in (200, "OK") or url.startswith(SPARED) for url, each in zip(urls, called, strict=True)
            )
            version = os.environ.get("VERSION", "")
            body = {"service": name, "version": version, "saw": dict(self.headers.items()), "called": called}
            self._answer(200 if fine else 502, body)

        def _answer(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _called(url: str, path: str, context: dict[str, str]) -> dict[str, Any]:
    return _call_grpc(url, context) if url.startswith("grpc:") else _call(url + path, context)


def _call(url: str, context: dict[str, str]) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=context), timeout=PATIENCE) as reply:
            return {"status": reply.status, "body": json.load(reply)}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "fault": error.headers.get("x-cutset-fault"), "text": error.read().decode()[:200]}
    except OSError as error:
        return {"status": 0, "text": str(error)}


def _call_grpc(url: str, context: dict[str, str]) -> dict[str, Any]:
    with grpc.insecure_channel(url.removeprefix("grpc://")) as channel:
        try:
            say: Any = channel.unary_unary("/shop.Quote/Say")
            return {"status": "OK", "body": say(b"hello", timeout=PATIENCE, metadata=tuple(context.items())).decode()}
        except grpc.RpcError as error:
            return {"status": error.code().name, "text": error.details()}


def _serve_grpc(name: str, port: int) -> None:
    def say(request: bytes, _: grpc.ServicerContext) -> bytes:
        return f"{name} says {request.decode()}".encode()

    server = grpc.server(ThreadPoolExecutor(8))
    methods: Any = {"Say": grpc.unary_unary_rpc_method_handler(say)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.Quote", methods),))
    server.add_insecure_port(f"0.0.0.0:{port}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
