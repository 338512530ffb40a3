"""An outbox of orders on disk, with a bug: after one failed write it drops orders for good."""

import logging
from pathlib import Path

BATCH = 3

log = logging.getLogger("outbox")


class Outbox:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.pending: list[str] = []
        self.suspended = False

    def add(self, order: str) -> None:
        if self.suspended:
            log.warning("outbox is suspended, dropping %s", order)
            return
        self.pending.append(order)
        if len(self.pending) == BATCH:
            self.flush()

    def flush(self) -> None:
        try:
            with self.path.open("a") as file:
                file.write("".join(f"{order}\n" for order in self.pending))
        except OSError as error:
            log.warning("cannot write %d orders: %s", len(self.pending), error)
            self.suspended = True  # and nobody ends it
            return
        log.info("wrote %d orders", len(self.pending))
        self.pending = []
