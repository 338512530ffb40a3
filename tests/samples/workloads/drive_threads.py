"""Eight orders for a thread."""

import logging

from threads import Clerk

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")
clerk = Clerk()
clerk.thread.start()
for number in range(8):
    clerk.waiting.put(number)
clerk.close()
logging.info("no order is left" if clerk.waiting.empty() else "orders are left")
