"""A real HTTP server, and one that really fails."""

import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.samples.http_clients import ANSWER, BODY


@dataclass
class Shop:
    url: str = ""
    received: list = field(default_factory=list)  # method, path, headers, body


@pytest.fixture(scope="module")
def server():
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.server.shop.received.append((self.command, self.path, dict(self.headers), body))
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def shop(server):
    server.shop = Shop(f"http://127.0.0.1:{server.server_port}/orders/17")
    return server.shop


@pytest.fixture
def failing():
    """The URL of a server that really does what a fault stands for."""

    def answer(connection, fault):
        asked = b""
        while BODY not in asked:
            asked += connection.recv(65536)
        if fault == "truncated-body":
            head = f"HTTP/1.1 201 Created\r\nContent-Length: {len(ANSWER)}\r\n\r\n"
            connection.sendall(head.encode() + ANSWER[: len(ANSWER) // 2])
        if fault == "connection-reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if fault != "no-answer":
            connection.close()

    def serve(fault):
        def accept_one():
            kept.append(listener.accept()[0])
            answer(kept[-1], fault)

        kept.append(listener := socket.create_server(("127.0.0.1", 0)))
        if fault == "connection-refused":
            listener.close()
            return "http://127.0.0.1:1/orders/17"
        threading.Thread(target=accept_one, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/orders/17"

    kept = []
    yield serve
    for each in kept:
        each.close()
