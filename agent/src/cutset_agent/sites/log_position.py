"""How far the log of a run has come: records that its processes logged, bytes of its file."""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH118

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cutset_agent.sites.runtime import Hook

LOG_DESCRIPTOR = 600  # or above, where no program gets by itself: should it close ours, no other file has its number


def shared_count(hook: Hook) -> Any:
    """Processes share the log, so its records are their common time. If one gets lost between two, that is no harm."""
    import mmap  # noqa: PLC0415

    try:
        file = os.open(os.path.join(hook.out, "logged"), os.O_RDWR | os.O_CREAT, 0o666)
        os.ftruncate(file, 4)
        buffer = mmap.mmap(file, 4)
        os.close(file)
    except OSError as error:
        hook.report(f"process {os.getpid()} counts log lines for itself: {error!r}")
        buffer = mmap.mmap(-1, 4)
    hook.buffers.append(buffer)
    return memoryview(buffer).cast("I")


def count_records(hook: Hook, logging: Any) -> None:
    """Count the records that a handler takes."""
    original = logging.Logger.callHandlers

    def is_taken(logger: Any, record: Any) -> bool:
        handled = False
        while logger:
            for handler in logger.handlers:
                handled = True
                if record.levelno >= handler.level and type(handler) is not logging.NullHandler:
                    return True
            logger = logger.propagate and logger.parent
        last = logging.lastResort
        return not handled and last is not None and record.levelno >= last.level

    def callHandlers(self: Any, record: Any) -> None:  # noqa: N802
        hook.logged[0] += is_taken(self, record)
        original(self, record)

    # When a handler fails, `logging` shows the stack without the frames of its own files.
    callHandlers.__code__ = callHandlers.__code__.replace(co_filename=original.__code__.co_filename)
    logging.Logger.callHandlers = callHandlers


def open_log(path: str) -> int:
    """A descriptor of its own, where nobody else's offset is moved; -1: there is none."""
    if not path:
        return -1
    try:
        import fcntl  # noqa: PLC0415

        opened = os.open(path, os.O_RDONLY)
        try:
            return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, LOG_DESCRIPTOR)
        finally:
            os.close(opened)
    except (ImportError, OSError):
        return -1
