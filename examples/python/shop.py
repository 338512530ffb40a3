"""A page and three small services behind it, started where cutset.yaml says: `python shop.py cutset.yaml`.

They call each other through the mesh. All that they do for Cutset is to hand on the trace context, as every
OpenTelemetry SDK does by itself.
"""

import contextlib
import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

CONTEXT = ("traceparent", "tracestate", "baggage")
SERVICES = yaml.safe_load(Path(sys.argv[1]).read_text())["mesh"]["services"]


def page(call):
    """The cart is needed; there are two lists of prices; without advertisements the page is as good."""
    cart = call("cart", "/items")
    try:
        prices = call("prices", "/today")
    except OSError:
        prices = call("prices", "/yesterday")
    with contextlib.suppress(OSError):
        call("ads", "/banner")
    return {"cart": cart, "prices": prices}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            answer, status = (page(self.call) if self.server.name == "web" else {}), 200
        except OSError as error:
            answer, status = {"error": str(error)}, 500
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def call(self, service, path):
        headers = {name: self.headers[name] for name in CONTEXT if self.headers[name]}
        url = f"http://127.0.0.1:{SERVICES[service]['port']}{path}"
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=2) as answer:
            return json.load(answer)

    def log_message(self, *_):
        pass


servers = []
for name, service in SERVICES.items():
    for address in service["replicas"]:
        host, _, port = address.rpartition(":")
        servers.append(ThreadingHTTPServer((host, int(port)), Handler))
        servers[-1].name = name
        threading.Thread(target=servers[-1].serve_forever).start()
print("ready", flush=True)
