"""As `outbox`, but logs by structlog."""

from pathlib import Path

import structlog

log = structlog.get_logger("outbox")


class Outbox:
    def __init__(self) -> None:
        self.kept = 0
        self.suspended = False

    def keep(self, number: int) -> None:
        if self.suspended:
            log.warning("outbox is suspended", dropped=number)
            return
        path = Path(f"order-{number}")
        try:
            path.write_text("an order")
        except OSError as error:
            log.error("cannot keep order", order=number, error=str(error))  # noqa: TRY400
            self.suspended = True
            return
        self.kept += 1
        log.info("kept order", order=number)
