"""How long one hop takes, with a filter and without: one request to each in turn, over connections that stay open."""

import random
import socket
import statistics
import time

ROUNDS = 6_000
SEED = 20_240_601
TRACEPARENT = b"00-" + b"1" * 32 + b"-" + b"2" * 16 + b"-01"
REQUEST = b"GET /cart HTTP/1.1\r\nhost: echo\r\naccept: */*\r\ntraceparent: " + TRACEPARENT + b"\r\n\r\n"


def interleaved_medians(addresses: dict[str, tuple[str, int]], rounds: int = ROUNDS) -> dict[str, float]:
    """In changing order, so that whatever disturbs the machine disturbs all alike."""
    lines = {name: socket.create_connection(address) for name, address in addresses.items()}
    for line in lines.values():
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times: dict[str, list[float]] = {name: [] for name in addresses}
    order = list(lines.items())
    chance = random.Random(SEED)
    for turn in range(rounds):
        chance.shuffle(order)
        for name, line in order:
            begin = time.perf_counter()
            line.sendall(REQUEST)
            if not line.recv(65536).startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"a hop of {name} does not answer with 200")
            if turn >= rounds // 10:  # the first tenth warms up
                times[name].append(time.perf_counter() - begin)
    for line in lines.values():
        line.close()
    return {name: statistics.median(values) for name, values in times.items()}
