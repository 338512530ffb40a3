#!/usr/bin/env python3
"""Drives the outbox; works when nothing fails. Each round runs it in a new folder."""

import logging
from pathlib import Path

from outbox import Outbox

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")

path = Path("orders")
outbox = Outbox(path)
for number in range(12):
    outbox.add(f"order-{number}")
kept = len(path.read_text().splitlines()) if path.exists() else 0
logging.info("%d of 12 orders are on disk", kept)
