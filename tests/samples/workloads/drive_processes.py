"""Orders for processes of a kind, started by a method: `drive_processes.py Pool spawn`."""

import logging
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import BaseContext

from outbox import keep
from processes import keep_all, set_up

ORDERS = range(24)


def by_processes(context: BaseContext) -> int:
    """One after the other; the first has so little to do that what happens to a later order is the other's alone."""
    kept = context.Value("i")
    for numbers in (ORDERS[:2], ORDERS[2:]):
        clerk = context.Process(target=keep_all, args=(numbers, kept))
        clerk.start()
        clerk.join()
    return kept.value


def by_pool(context: BaseContext) -> int:
    with context.Pool(2, set_up) as pool:
        return sum(pool.map(keep, ORDERS, chunksize=1))


def by_executor(context: BaseContext) -> int:
    with ProcessPoolExecutor(2, context, set_up) as executor:
        return sum(executor.map(keep, ORDERS))


if __name__ == "__main__":
    set_up()
    kinds = {"Process": by_processes, "Pool": by_pool, "ProcessPoolExecutor": by_executor}
    kept = kinds[sys.argv[1]](multiprocessing.get_context(sys.argv[2]))
    logging.info("all is kept" if kept == len(ORDERS) else "orders are lost")
