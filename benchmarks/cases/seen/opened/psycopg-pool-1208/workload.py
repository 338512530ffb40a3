"""A web service with two connection pools on a real PostgreSQL: a wide one for pages, one connection for reports.

Pages are asked for all the time, a report now and then; connections are checked when they are given out. A client may go
away at any time, which cancels its request. The log has the format of a Celery worker.
"""
import asyncio
import logging
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
import pgserver
import wl
from psycopg_pool import AsyncConnectionPool, PoolTimeout

FORMAT = "[%(asctime)s: %(levelname)s/%(processName)s] %(name)s: %(message)s"
logging.basicConfig(format=FORMAT, stream=sys.stderr, level=logging.INFO)
logging.getLogger("pgserver").setLevel(logging.WARNING)
logging.getLogger("psycopg.pool").setLevel(logging.INFO)
log = logging.getLogger("service")
ROUNDS, PAGES = 24, 3
outcomes: dict[str, list[str]] = {"page": [], "report": []}


async def ask(pool: AsyncConnectionPool, kind: str, number: int) -> None:
    outcome = "answered"
    try:
        async with pool.connection(timeout=0.6) as connection:
            await connection.execute("SELECT sum(n) FROM generate_series(1, %s) AS n", (number + 10,))
    except asyncio.CancelledError:
        outcome = "cancelled"
        log.info("%s %d: client went away", kind, number)
    except PoolTimeout as error:
        outcome = "no connection"
        log.error("%s %d: %s", kind, number, error)
    outcomes[kind].append(outcome)


async def serve(uri: str) -> None:
    def pool(name: str, size: int) -> AsyncConnectionPool:
        return AsyncConnectionPool(
            uri, name=name, min_size=size, max_size=size, open=False, check=AsyncConnectionPool.check_connection
        )

    async with pool("pages", 3) as pages, pool("reports", 1) as reports:
        await asyncio.gather(pages.wait(), reports.wait())
        log.info("serving")
        for n in range(ROUNDS):
            for page in range(PAGES):
                await asyncio.create_task(ask(pages, "page", n * PAGES + page))
            if n % 4 == 1:
                await asyncio.create_task(ask(reports, "report", n))
                if outcomes["report"][-2:] == ["no connection"] * 2:
                    log.critical("reports are down")
                    break
            await asyncio.sleep(0.02)
        for each in (pages, reports):
            log.info("pool %s: %s", each.name, each.get_stats())
        wl.report(outcomes=outcomes)


database = pgserver.get_server(Path("pg").absolute(), cleanup_mode="stop")
asyncio.run(serve(database.get_uri()))
database.cleanup()
wl.finish()
