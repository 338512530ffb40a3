"""As `outbox`, but logs by loguru."""

from pathlib import Path

from loguru import logger


class Outbox:
    def __init__(self) -> None:
        self.kept = 0
        self.suspended = False

    def keep(self, number: int) -> None:
        if self.suspended:
            logger.warning("outbox is suspended, dropping order {}", number)
            return
        path = Path(f"order-{number}")
        try:
            path.write_text("an order")
        except OSError:
            logger.exception("cannot keep order {}", number)
            self.suspended = True
            return
        self.kept += 1
        logger.info("kept order {}", number)
