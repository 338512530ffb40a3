"""Requests to a server with two workers: the more there are, the less it matters who takes which."""

import http.client
import logging
import os
import signal
import socket

from prefork import fork_workers

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] [%(levelname)s] %(name)s: %(message)s")
ORDERS = range(24)
listening = socket.create_server(("127.0.0.1", 0))
workers = fork_workers(listening, 2)
answers = []
for number in ORDERS:
    connection = http.client.HTTPConnection(*listening.getsockname())
    connection.request("POST", f"/{number}")
    answers.append(connection.getresponse().status)
    connection.close()
for worker in workers:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
logging.info("all is kept" if answers == [200] * len(ORDERS) else "orders are lost")
