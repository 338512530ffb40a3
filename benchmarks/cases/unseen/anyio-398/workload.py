"""A shop: visitors come one after the other, a request locks the visitor's cart and then the one connection to the stock service.

A visitor who goes away cancels the request; one who gets no answer in time sees an error page.
"""
import asyncio

import anyio
import structlog
import wl

VISITORS, PATIENCE = 30, 0.15
log = structlog.get_logger()


async def stock_service(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(b"%d pieces\n" % (len(line) * 7 % 40 + 1))
        await writer.drain()


class Stock:
    """One connection for all requests; who asks waits for the answer before the next one asks."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()

    async def connect(self, port: int) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)

    async def ask(self, article: str) -> str:
        async with self.lock:
            self.writer.write(article.encode() + b"\n")
            return (await self.reader.readline()).decode().strip()


async def request(stock: Stock, visitor: int) -> str:
    cart = anyio.Lock()
    async with cart:
        left = await stock.ask("article-" + "x" * (visitor % 9))
        await anyio.sleep(0.005)
        return left


async def shop(stock: Stock) -> dict:
    pages = {"served": 0, "gone": 0, "errors": 0}
    for visitor in range(VISITORS):
        task = asyncio.create_task(request(stock, visitor), name=f"visitor-{visitor}")
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        if not done:
            task.cancel()
            pages["errors"] += 1
            log.error("no answer", visitor=visitor, waited=PATIENCE)
        elif task.cancelled():
            pages["gone"] += 1
            log.info("visitor went away", visitor=visitor)
        elif task.exception():
            pages["errors"] += 1
            log.error("request failed", visitor=visitor, exc_info=task.exception())
        else:
            pages["served"] += 1
            log.info("page served", visitor=visitor, left=task.result())
        await asyncio.sleep(0.02)
    return pages


async def main() -> None:
    server = await asyncio.start_server(stock_service, "127.0.0.1", 0)
    stock = Stock()
    await stock.connect(server.sockets[0].getsockname()[1])
    pages = await shop(stock)
    log.info("closing", **pages)
    wl.report(visitors=VISITORS, **pages)
    wl.finish()


structlog.configure(
    processors=[
        structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S.%f"),
        structlog.dev.ConsoleRenderer(colors=False),
    ]
)
asyncio.run(main())
