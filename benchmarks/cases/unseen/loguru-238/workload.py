"""A shop that keeps an audit log (must be complete) and an access log, both rotated by size and compressed."""
import gzip
import sys
import time
from pathlib import Path

import wl
from loguru import logger

ORDERS = 150


def entries(name: str) -> int:
    """How many lines the rotated files and the current one hold together."""
    count = 0
    for path in Path("logs").glob(f"{name}*"):
        text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
        count += text.count("\n")
    return count


logger.remove()
logger.add(sys.stderr, format="{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} - {message}")
for kind in ("audit", "access"):
    logger.add(
        f"logs/{kind}.log", rotation="1 KB", compression="gz", retention=100, format="{time} {message}",
        filter=lambda record, kind=kind: record["extra"].get("kind") == kind,
    )
audit, access = logger.bind(kind="audit"), logger.bind(kind="access")
taken = 0
for order in range(ORDERS):
    access.info("POST /orders from 10.0.0.{}", order % 40)
    taken += order % 17 + 1
    audit.info("order {} of customer {} accepted, {} items", order, order * 7 % 40, order % 17 + 1)
    if order % 30 == 29:
        logger.info("{} orders taken, {} items", order + 1, taken)
    time.sleep(0.005)
kept = entries("audit")
logger.info("the audit log has {} entries for {} orders", kept, ORDERS)
wl.report(orders=ORDERS, audited=kept)
wl.finish()
