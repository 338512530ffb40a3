"""A server whose forked workers take turns at one socket, as gunicorn's do; orders go to the outbox."""

import logging
import os
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer

from outbox import keep

log = logging.getLogger("prefork")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200 if keep(int(self.path.removeprefix("/"))) else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        log.info(format, *args)


class Worker(HTTPServer):
    """Serves a socket that others serve, too."""

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(listening.getsockname(), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening


def fork_workers(listening: socket.socket, count: int) -> list[int]:
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            log.info("worker is ready")
            Worker(listening).serve_forever()
        children.append(child)
    return children
