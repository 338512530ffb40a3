"""Eight orders for a task."""

import asyncio
import logging

from tasks import consume

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


async def main() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)
    consumer = asyncio.ensure_future(consume(queue))
    for number in range(8):
        putting = asyncio.ensure_future(queue.put(number))
        await asyncio.wait([putting, consumer], return_when=asyncio.FIRST_COMPLETED)
        if not putting.done():
            logging.error("nobody takes orders")
            putting.cancel()
            break
    consumer.cancel()
    logging.info("end")


asyncio.run(main())
