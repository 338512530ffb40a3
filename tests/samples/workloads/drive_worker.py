"""Eight tasks for a worker."""

import logging
from uuid import uuid4

from worker import Worker, keep

logging.basicConfig(level=logging.INFO, format="[%(asctime)s: %(levelname)s/%(processName)s] %(message)s")
worker = Worker({"worker.keep": keep})
for number in range(8):
    worker.waiting.append(("worker.keep", str(uuid4()), number))
worker.run()
logging.info("tasks are left" if worker.waiting else "no task is left")
