"""A gateway forwards requests to six services over one httpx client, which has room for four connections.

The client is made anew whenever the configuration changes, which in the first part happens every thirty requests. A
request whose caller goes away is cancelled. All services answer at once, throughout.
"""
import asyncio
import logging

import httpx
import wl

log = logging.getLogger("gateway")
SERVICES, FIRST, SECOND = 6, 90, 70


async def service(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


def new_client() -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=4, max_keepalive_connections=4)
    return httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(1, pool=0.05), trust_env=False)


async def forward(client: httpx.AsyncClient, number: int, port: int) -> str:
    request = asyncio.create_task(client.get(f"http://127.0.0.1:{port}/items/{number}"))
    await asyncio.wait([request])
    if request.cancelled():
        log.info("caller of request %d went away", number)
        return "cancelled"
    if error := request.exception():
        log.warning("request %d failed: %r", number, error)
        return type(error).__name__
    return "answered" if request.result().status_code == 200 else "refused"


async def main() -> None:
    servers = [await asyncio.start_server(service, "127.0.0.1", 0) for _ in range(SERVICES)]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    answers = []
    for number in range(FIRST + SECOND):
        if number <= FIRST and number % 30 == 0:
            client = new_client()
            log.info("configuration loaded")
        answers.append(await forward(client, number, ports[number % SERVICES]))
        await asyncio.sleep(0.01)
    log.info("%d of %d requests answered", answers.count("answered"), len(answers))
    wl.report(answered=answers.count("answered"), last=answers[-20:])
    wl.finish()


logging.basicConfig(level=logging.INFO, format="%(levelname)-8s %(asctime)s %(name)s - %(message)s")
asyncio.run(main())
