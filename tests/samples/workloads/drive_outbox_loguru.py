"""Eight orders, in loguru's own format or as its JSON."""

import sys

from loguru import logger
from outbox_loguru import Outbox

logger.remove()
logger.add(sys.stderr, serialize=sys.argv[1] == "json")
outbox = Outbox()
for number in range(8):
    outbox.keep(number)
logger.info("all is kept" if outbox.kept == 8 else "orders are lost")
