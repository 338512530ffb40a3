"""A system with one request for each habit of real ones, as pods: what the conformance suite experiments on.

python -m tests.istio.habits PORT [STORE]     with the address of the store, it is the one that users call
"""

import itertools
import signal
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cluster.shops import ingress_gateway, namespace, route, strict, workload

NAMESPACE = "habits"
PORT = 8080
HANDED_ON = ("traceparent", "tracestate", "baggage")
LAST_WORDS = 1.0  # seconds
_turns = itertools.count()


def resources() -> list[dict[str, Any]]:
    command = ["python", "-m", "tests.istio.habits", str(PORT)]
    return [
        namespace(NAMESPACE),
        strict(NAMESPACE),
        *workload(NAMESPACE, "store", command, PORT),
        *workload(NAMESPACE, "web", [*command, f"http://store:{PORT}"], PORT),
        *ingress_gateway(NAMESPACE),
        *route(NAMESPACE, "web", PORT, gateway=NAMESPACE),
    ]


def answer(path: str, store: str, context: dict[str, str]) -> int:
    """The status that the user sees."""

    def call(api: str, headers: dict[str, str] = context) -> bool:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{store}/{api}", headers=headers), timeout=20):
                return True
        except (urllib.error.HTTPError, OSError):
            return False

    match path:
        case "/tolerant":
            fine = call("needed")
            call("optional")
        case "/redundant":
            fine = call("primary") or call("backup")
        case "/forgetful":
            fine = call("needed") and call("unreached", {})
        case "/varying":
            fine = call("needed") and (next(_turns) % 2 == 0 or call("sometimes"))
        case _:
            fine = False
    return 200 if fine else 502


def main(port: int, store: str = "") -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            context = {name: str(self.headers[name]) for name in HANDED_ON if self.headers[name]}
            self.send_response(answer(self.path, store, context) if store else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    # Callers go on to send for a moment after a pod was told to end.
    signal.signal(signal.SIGTERM, lambda *_: threading.Timer(LAST_WORDS, sys.exit).start())
    ThreadingHTTPServer(("0.0.0.0", port), Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
