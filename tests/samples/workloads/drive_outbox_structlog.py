"""Eight orders, rendered for people or as JSON."""

import sys

import structlog
from outbox_structlog import Outbox, log

renderers = {"console": structlog.dev.ConsoleRenderer(colors=False), "json": structlog.processors.JSONRenderer()}
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        renderers[sys.argv[1]],
    ]
)
outbox = Outbox()
for number in range(8):
    outbox.keep(number)
log.info("all is kept" if outbox.kept == 8 else "orders are lost")
