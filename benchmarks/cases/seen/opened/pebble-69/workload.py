"""Each night an archive scales pictures, then reads pages, each in a pool of processes renewed after a few tasks.

Who waits for a result gives up on the rest after some time without an answer. The log is in JSON.
"""
import logging
import sys
import time
from concurrent.futures import TimeoutError

import wl
from pebble import ProcessPool
from pythonjsonlogger import jsonlogger

handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(jsonlogger.JsonFormatter("%(asctime)s %(levelname)s %(name)s %(threadName)s %(message)s"))
logging.basicConfig(level=logging.INFO, handlers=[handler])
log = logging.getLogger("archive")
PAGES, PICTURES = 24, 42
results = {"picture": [], "page": []}
pending = {}


def read(page: int) -> str:
    time.sleep(0.05)
    return "text of page %d" % page


def scale(picture: int) -> int:
    time.sleep(0.02)
    return picture * 2


def night(kind: str, task, count: int, max_tasks: int) -> None:
    """Give all tasks of a kind to a pool, and take the results in order."""
    pool = ProcessPool(max_workers=2, max_tasks=max_tasks)
    futures = [pool.schedule(task, args=[number]) for number in range(count)]
    log.info("scheduled", extra={"kind": kind, "tasks": count})
    for number, future in enumerate(futures):
        try:
            log.info("task done", extra={"kind": kind, "number": number, "result": future.result(timeout=1.5)})
            results[kind].append("done")
        except TimeoutError:
            log.error("no answer, giving up", extra={"kind": kind, "number": number, "waiting": count - number})
            results[kind].append("no answer")
            break
        except Exception as error:
            log.error("task failed", extra={"kind": kind, "number": number, "error": repr(error)})
            results[kind].append("error")
    pending[kind] = sum(not future.done() for future in futures)
    pool.stop()


for job in (("picture", scale, PICTURES, 4), ("page", read, PAGES, 3)):
    try:
        night(*job)
    except (OSError, RuntimeError) as error:
        log.error("the pool did not start", extra={"kind": job[0], "error": repr(error)})
log.info("end of the night", extra={kind: outcome.count("done") for kind, outcome in results.items()})
wl.report(results=results, pending=pending)
wl.finish()
