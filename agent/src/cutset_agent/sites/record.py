"""The record of a process: its number, its visits and functions. `visits` reads it back.

Rows of VISIT; from NAMES_AT the names of its threads and tasks, and contexts, each after its length; from FUNCTIONS_AT
rows of FUNCTION; from COUNTS_AT the number of visits of each site that had more than are recorded.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH118

from __future__ import annotations

import itertools
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cutset_agent.sites.runtime import Hook

VISITS = 100_000  # recorded for each process; later ones are only counted
VISITS_OF_SITE = 10_000  # likewise, lest a site in a busy loop leaves no room for others
# Where the name of the thread is; where the context is, and how often the site was visited in it; records that were
# logged before, and bytes of the log; site, occurrence.
VISIT = struct.Struct("<7I")
NAMES_AT = VISITS * VISIT.size
NAMES_SIZE = 2_000_000  # bytes of names of threads and tasks, and of contexts
NAME_SIZE = 1000  # of one of them; its length takes two bytes
FUNCTIONS_AT = NAMES_AT + NAMES_SIZE
FUNCTIONS = 50_000
FUNCTION = struct.Struct("<II")  # its file, as its place in the plan from 1 on; its first line, 0 for the module itself
COUNTS_AT = FUNCTIONS_AT + FUNCTIONS * FUNCTION.size


def register_process(hook: Hook) -> int:
    try:
        file = os.open(os.path.join(hook.out, "processes"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(file, b"%-15d\n" % os.getpid())
        number = os.lseek(file, 0, os.SEEK_CUR) // 16 - 1  # ours ends there: appending is atomic
        os.close(file)
    except OSError as error:
        hook.report(f"process {os.getpid()} has no number: {error!r}")
        return os.getpid()
    return number


def open_buffer(hook: Hook) -> None:
    """A file mapped into memory: what is written stays, however the process ends, and costs no call of the system."""
    import mmap  # noqa: PLC0415

    size = COUNTS_AT + 4 * hook.sites  # most of it never touched, and so never on the disk
    try:
        path = os.path.join(hook.out, f"visits.{hook.number}.{os.getpid()}")
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        os.ftruncate(file, size)
        buffer = mmap.mmap(file, size)
        os.close(file)
    except OSError as error:
        hook.report(f"visits of process {os.getpid()} are not recorded: {error!r}")
        buffer = mmap.mmap(-1, size)
    hook.buffers.append(buffer)
    hook.next_function = itertools.count(FUNCTIONS_AT, FUNCTION.size).__next__
    hook.next_row = itertools.count(0, VISIT.size).__next__


def record_function(hook: Hook, number: int, line: int) -> None:
    with hook.lock:
        if hook.next_row is None:
            open_buffer(hook)
        row = hook.next_function()
        if row < COUNTS_AT:
            FUNCTION.pack_into(hook.buffers[-1], row, number, line)


def place_name(hook: Hook, name: str) -> int:
    encoded = name.encode("utf-8", "replace")[:NAME_SIZE]
    with hook.lock:
        if name in hook.names:  # sites share contexts
            return hook.names[name]
        start, end = hook.names_end, hook.names_end + 2 + len(encoded)
        if end > NAMES_SIZE:
            return 0
        hook.names_end = end
        hook.buffers[-1][NAMES_AT + start : NAMES_AT + end] = len(encoded).to_bytes(2, "little") + encoded
        hook.names[name] = start
    return start
