"""Who is at work: the name of the current thread, or of the asyncio task in it."""

from __future__ import annotations

import _thread
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def thread_namer() -> Callable[[], str]:
    local = _thread._local()  # noqa: SLF001 - `threading` may not have been imported, and is not our affair

    def name() -> str:
        try:
            return local.thread._name  # type: ignore[no-any-return]  # noqa: SLF001 - a property takes longer
        except AttributeError:
            threading = sys.modules.get("threading")
            if threading is None:
                return "MainThread"
            # Not current_thread(): that would leave an entry for a thread which `threading` does not know.
            local.thread = threading._active.get(_thread.get_ident())  # noqa: SLF001
            return "" if local.thread is None else local.thread._name  # noqa: SLF001

    return name


def task_namer() -> Callable[[], str]:
    thread_name = thread_namer()
    events, tasks = sys.modules["asyncio.events"], sys.modules["asyncio.tasks"]
    running_loop = events._get_running_loop  # noqa: SLF001
    # In C since 3.12; before, the function of that name takes longer than what it looks up.
    current_task = tasks.current_task if sys.version_info >= (3, 12) else tasks._current_tasks.get  # noqa: SLF001

    def name() -> str:
        loop = running_loop()
        task = None if loop is None else current_task(loop)
        try:
            return thread_name() if task is None else task.get_name()
        except AttributeError:  # a task of another library
            return thread_name()

    return name
