"""Two threads keep orders. At one that cannot be kept both end, and orders are left."""

import logging
import queue
import threading
from pathlib import Path

log = logging.getLogger("threads")
END = -1


class Clerks:
    def __init__(self) -> None:
        self.waiting: queue.Queue[int] = queue.Queue()
        self.threads = [threading.Thread(target=self.run, name=f"clerk-{n}", daemon=True) for n in range(2)]
        self.closed = False

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def run(self) -> None:
        while not self.closed and (number := self.waiting.get()) != END:
            try:
                keep(number)
            except OSError as error:
                log.error("cannot keep order %d, closing: %s", number, error)  # noqa: TRY400
                self.closed = True
                return
            log.info("kept order %d", number)

    def join(self) -> None:
        for _ in self.threads:
            self.waiting.put(END)
        for thread in self.threads:
            thread.join()


def keep(number: int) -> None:
    path = Path(f"order-{number}")
    path.write_text("an order")
