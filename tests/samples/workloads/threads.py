"""A thread keeps orders, and ends at one that cannot be kept: those after it are left."""

import logging
import queue
import threading
from pathlib import Path

log = logging.getLogger("threads")
END = -1


class Clerk:
    def __init__(self) -> None:
        self.waiting: queue.Queue[int] = queue.Queue()
        self.thread = threading.Thread(target=self.run, name="clerk", daemon=True)

    def run(self) -> None:
        while (number := self.waiting.get()) != END:
            try:
                keep(number)
            except OSError as error:
                log.error("cannot keep order %d, closing: %s", number, error)  # noqa: TRY400
                return
            log.info("kept order %d", number)

    def close(self) -> None:
        self.waiting.put(END)
        self.thread.join()


def keep(number: int) -> None:
    path = Path(f"order-{number}")
    path.write_text("an order")
