"""Lets the request follow into the threads that it starts, and into the tasks that it gives to thread pools.

Work that a request leaves to a thread, such as a publication that nobody waits for, belongs to that request.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from cutset_agent import request as requests

# A worker serves many requests: it must not stay with the one in which it was started.
WORKERS = frozenset({"concurrent.futures.thread", "cutset_agent.outbox"})


def install() -> None:
    if not hasattr(threading.Thread.start, "_cutset_hook"):
        _hook_start()
        _hook_submit()


def _hook_start() -> None:
    original = threading.Thread.start

    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        target = getattr(self, "_target", None)
        if requests.current() is not None and getattr(target, "__module__", "") not in WORKERS:
            self.run = functools.partial(copy_context().run, self.run)  # type: ignore[method-assign]
        original(self)

    start._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    threading.Thread.start = start  # type: ignore[method-assign]


def _hook_submit() -> None:
    original: Callable[..., Any] = ThreadPoolExecutor.submit

    @functools.wraps(original)
    def submit(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if requests.current() is None:
            return original(self, fn, *args, **kwargs)
        return original(self, copy_context().run, fn, *args, **kwargs)

    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]
