"""Runs a command's asynchronous part so that any wish to end it is heard: as a cancellation, or as an event."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(main: Coroutine[Any, Any, Result]) -> Result:
    """As `asyncio.run`, which so treats Ctrl-C, but for SIGTERM too.

    An exception out of the signal handler itself would arise wherever the program happens to be: gRPC's native code
    crashes of that.
    """
    terminated = False

    async def run() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        previous = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(stop))
        try:
            return await main
        finally:
            signal.signal(signal.SIGTERM, previous)

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if terminated:
            sys.exit(128 + signal.SIGTERM)
        raise


def stopped_by_signals() -> asyncio.Event:
    """Set by Ctrl-C and SIGTERM, for commands that go on until then: it is their proper end."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped
