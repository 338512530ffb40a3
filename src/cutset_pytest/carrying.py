"""Lets every client that a test uses carry the plan: the agent's hooks, in pytest's own process, around a body alone.

The hooks add headers, and nothing else: no fault is ever planned for the test itself. They are put in place for the
time in which a test is explored, and taken away again; what somebody else has put around them meanwhile stays.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from cutset_agent import imports, threads
from cutset_agent import request as requests
from cutset_agent.hooks import HOOKS
from cutset_agent.reach import PlanReach
from cutset_agent.wire import WirePart

CLIENTS = ("aiohttp", "httpx", "urllib3", "grpc", "grpc_aio")
_ALSO_TOUCHED = {"grpc": "grpc.aio._channel"}  # what the hook of a module changes besides it
_ABSENT = object()


class _Body(requests.ServedRequest):
    """One execution of a test's body, as if it were a request that the process serves."""

    __slots__ = ("note",)

    def __init__(self, headers: Mapping[str, str], note: Callable[[], None]) -> None:
        reach = PlanReach()
        reach.alone = True  # whatever a body starts is the body's
        # All requests of the body have the same parent: that is how the mesh's spans of them are found.
        super().__init__((WirePart(time.time() + 86_400, "", ()),), "", "", dict(headers), reach)
        self.note = note

    def count(self, *args: Any, **kwargs: Any) -> Any:
        self.note()
        return super().count(*args, **kwargs)


@contextmanager
def carried(headers: Mapping[str, str], note: Callable[[], None]) -> Iterator[None]:
    """What is called within it, in this thread, its tasks and its threads, has these headers. `note`: of each call."""
    body = _Body(headers, note)
    entry = requests.RequestEntry(body.reach, body, "test", "server")
    try:
        yield
    finally:
        requests.leave(entry)


@contextmanager
def hooked_clients() -> Iterator[None]:
    """Also those that are imported within it. Nothing happens if the agent is in this process already."""
    if hasattr(threading.Thread.start, "_cutset_hook"):
        yield
        return
    changes: list[tuple[Any, str, object, object]] = []  # of whom, what, before, after

    def install(hook: Any, module: ModuleType) -> None:
        with _noted(changes, _classes(module.__name__)):
            hook.install(module)

    try:
        with imports.waiting_for_a_while():
            with _noted(changes, [threading.Thread, ThreadPoolExecutor, *_classes("anyio._backends._asyncio")]):
                threads.install()
            for name in CLIENTS:
                hook = import_module(HOOKS[name])
                imports.after_import(hook.MODULE, partial(install, hook))
            yield
    finally:
        for owner, name, before, after in reversed(changes):
            if vars(owner).get(name, _ABSENT) is after:
                delattr(owner, name) if before is _ABSENT else setattr(owner, name, before)


def _classes(module: str) -> list[type]:
    found = [sys.modules.get(name) for name in (module, _ALSO_TOUCHED.get(module, ""))]
    return [each for part in found if part for each in vars(part).values() if isinstance(each, type)]


@contextmanager
def _noted(changes: list[tuple[Any, str, object, object]], owners: list[type]) -> Iterator[None]:
    before = {owner: dict(vars(owner)) for owner in owners}
    yield
    for owner, names in before.items():
        for name, now in dict(vars(owner)).items():
            if names.get(name, _ABSENT) is not now:
                changes.append((owner, name, names.get(name, _ABSENT), now))
