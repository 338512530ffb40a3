"""Eight requests to a server with two workers."""

import http.client
import logging
import os
import signal
import socket

from prefork import fork_workers

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] [%(levelname)s] %(name)s: %(message)s")
listening = socket.create_server(("127.0.0.1", 0))
workers = fork_workers(listening, 2)
answers = []
for number in range(8):
    connection = http.client.HTTPConnection(*listening.getsockname())
    connection.request("POST", f"/{number}")
    answers.append(connection.getresponse().status)
    connection.close()
for worker in workers:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
logging.info("all is kept" if answers == [200] * 8 else "orders are lost")
