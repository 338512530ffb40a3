"""A worker of tasks, which logs as Celery's do. One that fails unexpectedly is lost, and pauses its consumer."""

import logging
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("worker")


class Worker:
    def __init__(self, tasks: dict[str, Callable[[int], None]]) -> None:
        self.tasks = tasks
        self.waiting: deque[tuple[str, str, int]] = deque()
        self.consuming = True

    def run(self) -> None:
        while self.waiting and self.consuming:
            name, task, argument = self.waiting.popleft()
            log.info("Task %s[%s] received", name, task)
            begun = time.perf_counter()
            try:
                self.tasks[name](argument)
            except Exception as error:
                log.exception("Task %s[%s] raised unexpected: %r", name, task, error)  # noqa: TRY401 -- as Celery has it
                self.consuming = False
            else:
                log.info("Task %s[%s] succeeded in %ss: None", name, task, time.perf_counter() - begun)


def keep(number: int) -> None:
    path = Path(f"order-{number}")
    path.write_text("an order")
