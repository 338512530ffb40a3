"""Ports that are chosen now and listened on later, which nobody else takes meanwhile."""

import itertools
import os
import socket
from collections import deque

HOST = "127.0.0.1"
# Below the ports that systems give to outgoing connections, so that none of those can take a port between our
# choosing it and our listening on it. Processes that choose at once begin at different places.
_PORTS = range(15_000, 30_000)
_next_ports = itertools.count(os.getpid() * 61)
# A port that somebody chose and does not listen on yet is taken for UDP, which keeps others from choosing it. These
# are file descriptors, in the order of time: as many as several shops need.
_held: deque[int] = deque()
_MOST_HELD = 200


def free_port() -> int:
    for number in itertools.islice(_next_ports, len(_PORTS)):
        port = _PORTS[number % len(_PORTS)]
        with socket.socket() as probe, socket.socket(type=socket.SOCK_DGRAM) as hold:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                hold.bind((HOST, port))
                probe.bind((HOST, port))
            except OSError:
                continue
            _held.append(hold.detach())
        if len(_held) > _MOST_HELD:
            os.close(_held.popleft())
        return port
    raise RuntimeError(f"no free port from {_PORTS.start} to {_PORTS.stop}")
