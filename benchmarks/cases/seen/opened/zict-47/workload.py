"""A worker of a computing cluster keeps results in memory and spills the least recently used ones to disk.

The client scatters a few tables; tasks compute blocks from them, and blocks are merged. A block that is gone is computed
again. A scattered table cannot be: the job that needs it fails. A full disk is logged, and the worker goes on.
"""
import logging
import pickle
import sys
import time

import structlog
import wl
import zict

logging.basicConfig(format="%(message)s", stream=sys.stderr, level=logging.INFO)
structlog.configure(
    processors=[
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "logger", "event"]),
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
)
log = structlog.get_logger("worker.memory")
spill = zict.Func(pickle.dumps, pickle.loads, zict.File("spill"))
data = zict.Buffer({}, spill, n=9, weight=lambda key, value: value["weight"])
TABLES = ("rates", "customers", "holidays")
JOBS, BLOCKS = 14, 6


def put(key: str, value: dict) -> None:
    try:
        data[key] = value
    except OSError as error:
        log.warning("spilling failed, memory may grow", storing=key, error=str(error), exc_info=True)


def get(key: str) -> dict:
    try:
        return data[key]
    except OSError as error:
        log.warning("spilling failed, memory may grow", loading=key, error=str(error), exc_info=True)
        return data[key]


def compute(job: int, block: int) -> dict:
    time.sleep(0.01)
    return {"weight": 2, "rows": [job * 100 + block] * 50}


def run(job: int) -> str:
    for block in range(BLOCKS):
        put("block-%d-%d" % (job, block), compute(job, block))
    total = 0
    for block in range(BLOCKS):
        key = "block-%d-%d" % (job, block)
        try:
            rows = get(key)["rows"]
        except KeyError:
            log.warning("result is gone, computing it again", key=key)
            rows = compute(job, block)["rows"]
        total += sum(rows)
        data.pop(key, None)
    table = TABLES[job % len(TABLES)]
    try:
        factor = get(table)["factor"]
    except KeyError:
        log.error("job failed, scattered data is gone", job=job, key=table)
        return "lost " + table
    log.info("job done", job=job, table=table, total=total * factor, in_memory=len(data.fast), on_disk=len(data.slow))
    return "done"


for number, name in enumerate(TABLES):
    put(name, {"weight": 3, "factor": number + 1})
log.info("scattered", keys=list(TABLES))
outcomes = [run(job) for job in range(JOBS)]
time.sleep(0.3)
log.info("all jobs are over", done=outcomes.count("done"), failed=JOBS - outcomes.count("done"))
wl.report(outcomes=outcomes, keys=sorted(data))
wl.finish()
