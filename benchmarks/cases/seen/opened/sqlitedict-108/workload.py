"""The gateway of a warehouse keeps orders, sessions and an audit trail, each in an SqliteDict and a thread of its own.

Sessions and the audit trail are committed often, orders rarely. The gateway has a logger of its own. At the end it tells
how far each store has come.
"""
import sys
import threading
import time
from datetime import datetime

import wl
from sqlitedict import SqliteDict

ROUNDS = 24
BEGIN = time.monotonic() + 0.3
WRITTEN = {}


def say(store: str, text: str) -> None:
    print("%s gateway/%s -- %s" % (datetime.now().strftime("%d.%m.%Y %H:%M:%S.%f")[:-3], store, text), file=sys.stderr)


def keep(name: str, offset: float, every: int) -> None:
    """One round each 80 ms; the stores take turns within it."""
    with SqliteDict("%s.sqlite" % name, flag="c") as store:
        say(name, "open, %d entries" % len(store))
        for n in range(ROUNDS):
            time.sleep(max(0.0, BEGIN + n * 0.08 + offset - time.monotonic()))
            for item in range(3):
                store["%s-%d-%d" % (name, n, item)] = {"round": n, "item": item}
            if n % every == every - 1:
                store.commit()
                WRITTEN[name] = n + 1
                say(name, "round %d committed, %d entries" % (n, len(store)))
    WRITTEN[name] = ROUNDS
    say(name, "closed")


threads = {}
for turn, (name, every) in enumerate((("orders", 6), ("sessions", 1), ("audit", 2))):
    WRITTEN[name] = 0
    threads[name] = threading.Thread(target=keep, args=(name, turn * 0.025, every), name=name, daemon=True)
    threads[name].start()
    time.sleep(0.08)
end = BEGIN + ROUNDS * 0.08 + 1.5
for thread in threads.values():
    thread.join(max(0.0, end - time.monotonic()))
stuck = [name for name, thread in threads.items() if thread.is_alive()]
for name, done in WRITTEN.items():
    say("main", "%s: %d of %d rounds%s" % (name, done, ROUNDS, ", does not answer" if name in stuck else ""))
wl.report(written=WRITTEN, stuck=stuck, rounds=ROUNDS)
wl.finish()
