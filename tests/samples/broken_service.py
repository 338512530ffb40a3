"""A service that answers 500 to everything, and tells of that as a mesh in front of it would.

For what surrounds a campaign: there is something to talk to, and nothing to find.
"""

import secrets
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.samples.otlp_payloads import json_payload


@contextmanager
def broken_service() -> Iterator[tuple[str, int]]:
    """Its URL, and the port on which it expects a collector to receive OTLP/HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        collector_port = free.getsockname()[1]

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.send_response(500)
            self.send_header("content-length", "0")
            self.end_headers()
            payload = json_payload(_span(self.headers["traceparent"]))
            url = f"http://127.0.0.1:{collector_port}/v1/traces"
            export = urllib.request.Request(url, payload, {"content-type": "application/json"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(export):
                pass

        do_GET = do_POST = answer  # noqa: N815 -- names that http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_: None  # nobody may listen any more
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", collector_port
        finally:
            server.shutdown()
            thread.join()


def _span(traceparent: str) -> dict[str, object]:
    _, trace_id, parent_id, _ = traceparent.split("-")
    attributes = {"cutset.service": "broken", "cutset.replica": "1", "cutset.api": "GET /", "http.status_code": "500"}
    return {
        "traceId": trace_id,
        "spanId": secrets.token_hex(8),
        "parentSpanId": parent_id,
        "name": "GET /",
        "kind": 2,
        "startTimeUnixNano": str(time.time_ns()),
        "endTimeUnixNano": str(time.time_ns()),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }
