"""Lets the request follow into the threads that it starts, and into the tasks that it gives to thread pools.

Work that a request leaves to a thread, such as a publication that nobody waits for, belongs to that request.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any

from cutset_agent import imports, reach
from cutset_agent import request as requests

# A worker serves many requests: it must not stay with the one in which it was started.
WORKERS = frozenset({"concurrent.futures.thread", "cutset_agent.outbox"})


def install() -> None:
    if not hasattr(threading.Thread.start, "_cutset_hook"):
        _hook_start()
        _hook_submit()
        imports.after_import("anyio._backends._asyncio", _hook_anyio)


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
        request = requests.current()
        if request is None:
            return original(self, fn, *args, **kwargs)
        if not request.reach.is_at_home():
            return original(self, copy_context().run, fn, *args, **kwargs)
        work = reach.LentWork()
        work.future = original(self, _run_lent, request.reach, work, copy_context(), fn, *args, **kwargs)
        return work.future

    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]


def _run_lent(
    lender: reach.PlanReach,
    work: reach.LentWork,
    context: Context,
    fn: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    with reach.lent(lender, work):
        return context.run(fn, *args, **kwargs)


def _hook_anyio(module: Any) -> None:
    """Its threads carry the context themselves, and whoever calls waits."""
    backend = module.AsyncIOBackend
    original = backend.run_sync_in_worker_thread.__func__

    @functools.wraps(original)
    async def run_sync_in_worker_thread(cls: Any, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        request = requests.current()
        if request is not None and request.reach.is_at_home():
            func = functools.partial(_run_awaited, request.reach, func)
        return await original(cls, func, *args, **kwargs)

    backend.run_sync_in_worker_thread = classmethod(run_sync_in_worker_thread)


def _run_awaited(lender: reach.PlanReach, func: Callable[..., Any], /, *args: Any) -> Any:
    with reach.lent(lender):
        return func(*args)
