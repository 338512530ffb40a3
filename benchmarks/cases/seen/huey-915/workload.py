"""A Huey consumer (threads, SQLite) sends reminders: some at once, most of them scheduled for a given second.

The program that orders them tries again if the database does not take one.
"""
import datetime
import logging
import sqlite3
import threading
import time

import wl
from huey import SqliteHuey
from huey.consumer_options import ConsumerConfig

AT_ONCE, SCHEDULED, WAVES = 12, 15, 2
huey = SqliteHuey("reminders", filename="huey.db", timeout=1)
sent: set[str] = set()
log = logging.getLogger("reminders")


@huey.task(retries=2)
def remind(name: str) -> None:
    time.sleep(0.005)
    sent.add(name)


def order(call, *args, **options) -> None:
    for attempt in range(3):
        try:
            call(*args, **options)
            return
        except sqlite3.OperationalError as error:
            log.warning("order not taken (%s), attempt %d", error, attempt + 1)
            time.sleep(0.02)


def customers() -> None:
    time.sleep(0.3)
    start = datetime.datetime.now()
    for number in range(AT_ONCE):
        order(remind, f"now-{number}")
    for wave in range(1, WAVES + 1):
        for number in range(SCHEDULED):
            eta = start + datetime.timedelta(seconds=wave * 1.5)
            order(remind.schedule, args=(f"wave-{wave}-{number}",), eta=eta)
    expected = AT_ONCE + WAVES * SCHEDULED
    log.info("%d reminders ordered", expected)
    end = time.monotonic() + 5
    while len(sent) < expected and time.monotonic() < end:
        time.sleep(0.05)
    queued, scheduled = huey.pending_count(), huey.scheduled_count()
    log.info("%d reminders sent, %d in the queue, %d scheduled", len(sent), queued, scheduled)
    wl.report(expected=expected, sent=len(sent), queued=queued, scheduled=scheduled)
    wl.finish()


config = ConsumerConfig(workers=2, periodic=False, initial_delay=0.1, max_delay=0.5, health_check_interval=1)
config.validate()
config.setup_logger()
threading.Thread(target=customers, name="Customers", daemon=True).start()
huey.create_consumer(**config.values).run()
