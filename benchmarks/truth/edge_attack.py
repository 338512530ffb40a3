"""Four attackers, in a process of their own, until its input ends: `… benchmarks.truth.edge_attack URL junk|other`.

Junk is plans that look right and live: only their signatures tell, so that each costs as much as it can.
"""

import asyncio
import random
import sys
import time
from contextlib import suppress
from itertools import cycle
from urllib.parse import urlsplit

from cutset_agent import wire

ATTACKERS = 4
FLOOD_BYTES = 8_192
VARIANTS = 200  # so that no reader can remember them all


def baggage(kind: str, random_source: random.Random) -> str:
    now = time.time()
    trace_id = f"{random_source.getrandbits(64):016x}"
    (plan,) = wire.encode(
        [], key=b"somebody else's key, of 32 bytes", environment="", trace_id=trace_id, expires=now + 100, now=now
    )
    head, name = plan.rpartition(".")[0], "cutset" if kind == "junk" else "tested"
    members: list[str] = []
    while sum(map(len, members)) + len(members) < FLOOD_BYTES - 50:
        proof = "".join(random_source.choices(wire.ALPHABET, k=16))
        members.append(f"{name}{random_source.randrange(2, 99)}={head}.{proof}")
    return ",".join(members)


def request(kind: str, random_source: random.Random) -> bytes:
    ids = [f"{random_source.getrandbits(64):016x}" for _ in range(4)]
    lines = [
        "GET / HTTP/1.1",
        "host: web",
        f"traceparent: 00-{ids[0]}{ids[0]}-{ids[1]}-01",
        f"uber-trace-id: {ids[1]}:{ids[1]}:0:1",
        f"b3: {ids[2]}-{ids[2]}-1",
        f"x-datadog-trace-id: {int(ids[3], 16)}",
        f"baggage: {baggage(kind, random_source)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def attack(address: tuple[str, int], requests: list[bytes]) -> None:
    reader, writer = await asyncio.open_connection(*address)
    for each in cycle(requests):
        writer.write(each)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)


async def main() -> None:
    url, kind = sys.argv[1:3]
    parts = urlsplit(url)
    random_source = random.Random(1)
    requests = [[request(kind, random_source) for _ in range(VARIANTS)] for _ in range(ATTACKERS)]
    with suppress(asyncio.CancelledError):
        async with asyncio.TaskGroup() as group:
            attacks = [group.create_task(attack((parts.hostname or "", parts.port or 80), each)) for each in requests]
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.read)
            for each in attacks:
                each.cancel()


if __name__ == "__main__":
    asyncio.run(main())
