"""A scanner station watches a share with a folder for each desk by polling, and hands on what is put there.

The station is started anew for each of three shifts. It tells which files it noticed, and whether its observer lives.
"""
import sys
import time
from pathlib import Path

import wl
from loguru import logger
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.polling import PollingObserver

logger.remove()
logger.add(sys.stderr, format="{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} - {message}")
SHIFTS, FILES = ("morning", "noon", "evening"), 9
noticed: dict[str, list[str]] = {shift: [] for shift in SHIFTS}
alive: dict[str, bool] = {}


class Station(FileSystemEventHandler):
    def __init__(self, shift: str) -> None:
        self.shift = shift

    def on_created(self, event: FileSystemEvent) -> None:
        if not event.is_directory:
            noticed[self.shift].append(Path(event.src_path).name)
            logger.info("new scan {}", event.src_path)

    def on_deleted(self, event: FileSystemEvent) -> None:
        logger.warning("gone: {}", event.src_path)


for desk in ("desk-1", "desk-2"):
    Path("share", desk).mkdir(parents=True)
for shift in SHIFTS:
    observer = PollingObserver(timeout=0.05)
    observer.schedule(Station(shift), "share", recursive=True)
    observer.start()
    logger.info("{} shift: watching the share", shift)
    for number in range(FILES):
        Path("share", f"desk-{number % 2 + 1}", f"{shift}-{number}.txt").write_text("scan\n")
        time.sleep(0.1)
    time.sleep(0.2)
    alive[shift] = observer.is_alive()
    logger.info("{} shift: {} of {} scans, observer {}", shift, len(noticed[shift]), FILES, "alive" if alive[shift] else "dead")
    observer.stop()
    observer.join()
wl.report(noticed=noticed, files=FILES, alive=alive)
wl.finish()
