"""Twenty orders for two threads."""

import logging

from threads import END, Clerks

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")
clerks = Clerks()
for number in range(20):
    clerks.waiting.put(number)
clerks.start()
clerks.join()
left = [number for number in clerks.waiting.queue if number != END]
logging.info("orders are left" if left else "no order is left")
