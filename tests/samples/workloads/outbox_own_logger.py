"""As `outbox`, but with a logger of its own, and its own names of levels."""

import sys
from datetime import UTC, datetime
from pathlib import Path


class Logger:
    def write(self, level: str, text: str, *values: object) -> None:
        sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S,%f} {level} outbox: {text % values}\n")

    def info(self, text: str, *values: object) -> None:
        self.write("INFO", text, *values)

    def warning(self, text: str, *values: object) -> None:
        self.write("WARN", text, *values)

    def critical(self, text: str, *values: object) -> None:
        self.write("CRIT", text, *values)


log = Logger()


class Outbox:
    def __init__(self) -> None:
        self.kept = 0
        self.suspended = False

    def keep(self, number: int) -> None:
        if self.suspended:
            log.warning("outbox is suspended, dropping order %d", number)
            return
        path = Path(f"order-{number}")
        try:
            path.write_text("an order")
        except OSError as error:
            log.critical("cannot keep order %d: %s", number, error)
            self.suspended = True
            return
        self.kept += 1
        log.info("kept order %d", number)
