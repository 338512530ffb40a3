"""An application that takes orders, with an arq worker in the same event loop: it ships orders, and takes stock every second.

An order that Redis does not take is tried again.
"""
import asyncio
import logging
import time

import wl
from arq import create_pool, cron
from arq.connections import RedisSettings
from arq.worker import Worker
from redis.exceptions import RedisError

ORDERS = 40
log = logging.getLogger("app.orders")
shipped: list[int] = []
stock_taken = [0.0]


async def ship(context: dict, order: int) -> None:
    await asyncio.sleep(0.01)
    shipped.append(order)


async def take_stock(context: dict) -> None:
    stock_taken.append(time.monotonic())


async def place(queue, order: int) -> None:
    for attempt in range(3):
        try:
            await queue.enqueue_job("ship", order)
            log.info("order %d placed", order)
            return
        except RedisError as error:
            log.warning("order %d not placed: %s, attempt %d", order, error, attempt + 1)


async def main() -> None:
    settings = RedisSettings(port=wl.start_redis())
    worker = Worker(
        functions=[ship], cron_jobs=[cron(take_stock, second=set(range(60)))], redis_settings=settings,
        handle_signals=False, poll_delay=0.1, keep_result=0,
    )
    asyncio.create_task(worker.async_run())
    queue = await create_pool(settings)
    for order in range(ORDERS):
        await place(queue, order)
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.6)
    idle = time.monotonic() - stock_taken[-1]
    log.info("%d of %d orders shipped, stock taken %.1f s ago", len(shipped), ORDERS, idle)
    wl.report(orders=ORDERS, shipped=len(set(shipped)), idle=idle, waiting=await queue.zcard("arq:queue"))
    wl.finish()


logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(process)d] %(levelname)s %(name)s %(message)s")
asyncio.run(main())
