"""The other service that some of the small services call: towns, prices and a bank. It never fails by itself."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOWNS = {"10115": "Berlin", "20095": "Hamburg", "80331": "München"}
PRICES = {"4711": 1299, "4712": 4950}  # cents


def start_dependency() -> str:
    """Its address. It lives in a thread, as long as the process."""
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class _Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass  # a caller that went away is no error here


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written apart

    def do_GET(self) -> None:
        match self.path.split("/"):
            case ["", "postcodes", postcode] if postcode in TOWNS:
                self._answer(200, {"postcode": postcode, "town": TOWNS[postcode]})
            case ["", "prices", product] if product in PRICES:
                self._answer(200, {"product": product, "cents": PRICES[product], "currency": "EUR"})
            case _:
                self._answer(404, {"error": f"no {self.path}"})

    def do_POST(self) -> None:
        charge = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._answer(201, {"charge_id": charge["charge_id"], "approved": True})

    def _answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
