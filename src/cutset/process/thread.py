"""Work in a thread that nobody waits for: whoever is cancelled, or ends the program, goes at once.

`asyncio.to_thread` would have the end of the program wait for the end of the work.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Computed = TypeVar("Computed")


def in_a_thread(compute: Callable[[], Computed]) -> "asyncio.Future[Computed]":
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Computed] = loop.create_future()

    def settle(result: Computed | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
            future.exception()  # somebody asks, sooner or later
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, failure = None, None
        try:
            result = compute()
        except Exception as error:  # noqa: BLE001 -- it is told to whoever waits
            failure = error
        with suppress(RuntimeError):  # nobody is there any more
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=work, name="cutset-aside", daemon=True).start()
    return future
