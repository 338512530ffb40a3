"""Fault sites at run time: counts the visits to chosen places of a program and makes at most one of them fail; or one
on top of others that are known to be needed.

It runs inside the workload, in every interpreter of it (`hook/sitecustomize.py` starts it), on Python 3.8 to 3.14,
and imports little: what it loads early, the workload would no longer load by itself. It is the injection and tracing
code of ANDURIL §4.2, put in by rewriting the syntax tree of a file before it is compiled.

The plan, a JSON file that CUTSET_SITES names:

    files    {absolute path: [[site, kind, line, column, end line, end column], …]}, positions as in `ast`
    choices  [[site, occurrence (0: any), effect], …]: the first that comes up fires, in whichever process
    first    rows as in choices, or absent: each of them fires once, whatever becomes of the choices and of the others
    trace    whether to record visits; if not, only sites with a choice or a row of `first` are rewritten
    out      the folder for what follows
    cache    the folder that keeps rewritten code for later runs; if absent, `cache` beside `out`

What it leaves in `out`:

    processes            16 bytes for each process, in order of start: its process id
    visits.<n>.<pid>     of the n-th process: see `visits`
    fired.json           the fault; whoever creates this file may fire, so there is one at most
    first.<n>.json       likewise for the n-th row of `first`, from 0
    problems.txt         sites that were not found, effects that could not be made, our own errors

`loading` says which code is rewritten, `rewriting` how. At a visit that may fire, a stand-in (`faults`) takes the place
of what is called or awaited; it decides when it is used, after the arguments took effect. A visit fires once: what is
for its occurrence goes before what is for any, and `first` before the choices.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH100, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import _thread
import builtins
import itertools
import marshal
import os
import struct
import sys
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

VISITS = 100_000  # recorded for each process; later ones are only counted
VISITS_OF_SITE = 10_000  # likewise, lest a site in a busy loop leaves no room for others
VISIT = struct.Struct("<IIII")  # where the name of the thread is, log lines, site, occurrence
NAMES_AT = VISITS * VISIT.size
NAMES_SIZE = 1_000_000  # bytes of names of threads and tasks
COUNTS_AT = NAMES_AT + NAMES_SIZE
NAME_SIZE = 255  # of one name; its length takes one byte


def _part(name: str) -> Any:
    """A file beside this one, by its path, as `sitecustomize` loads this one."""
    full_name = "_cutset_" + name
    if full_name not in sys.modules:
        module: Any = type(sys)(full_name)
        module.__file__ = os.path.join(os.path.dirname(__file__), name + ".py")
        SourceFileLoader(full_name, module.__file__).exec_module(module)
        sys.modules.setdefault(full_name, module)
    return sys.modules[full_name]


class Hook(dict):  # type: ignore[type-arg]
    """What rewritten code knows as `__cutset__`: the function to call at each site, made at its first visit."""

    number: int  # of the process
    lock: Any
    next_row: Any  # of the record of visits: where it begins; none before the first
    names: dict[str, int]  # of threads and tasks: where they are in the record
    names_end: int
    name: Callable[[], str]  # of the current thread or task
    logged: Any  # [n]: how many lines all processes of the run have logged, shared by them
    part = staticmethod(_part)

    def __init__(self, plan: dict[str, Any]) -> None:
        self.out: str = plan["out"]
        self.cache: str = plan["cache"]
        self.trace: bool = plan["trace"]
        # By site and occurrence (0: any other): what may fire, as the file that it leaves and the effect, best first.
        self.faults: dict[int, dict[int, list[tuple[str, str]]]] = plan["faults"]
        self.files: dict[str, str] = plan["files"]  # by real path: the rows, as JSON
        self.sites: int = plan["sites"]
        self.folders: dict[str, str] = {}  # by the name that a loader gave: its real path
        self.has_tasks = False  # asyncio has been imported
        self.spent: set[str] = set()  # the files that are known to exist: what leaves them has fired
        self.end = SystemExit
        # A mapping holds a file descriptor, whose number may be another file's by now if the program closed all that
        # it did not know: so the mappings of parent processes are kept, too, and never closed.
        self.buffers: list[Any] = []
        _start_process(self)

    def __missing__(self, site: int) -> Callable[..., Any]:
        try:
            visit = _visitor(self, site)
        except Exception as error:  # noqa: BLE001 - whatever it is, the workload goes on
            self.report(f"site {site} is not counted: {error!r}")
            return self.setdefault(site, lambda target, *_: target)  # type: ignore[no-any-return]
        return self.setdefault(site, visit)  # type: ignore[no-any-return]  # two threads must get the same counter

    def report(self, problem: str) -> None:
        try:
            file = os.open(os.path.join(self.out, "problems.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.write(file, (problem.replace("\n", " ") + "\n").encode("utf-8", "backslashreplace"))
            os.close(file)
        except OSError:
            pass  # there is nobody else to tell


def start(plan_path: str) -> None:
    """To be called once in each interpreter, before its program."""
    try:
        hook = Hook(_read_plan(plan_path))
    except Exception as error:  # noqa: BLE001 - whatever it is, the workload goes on
        sys.stderr.write(f"cutset: the plan `{plan_path}` cannot be read: {error!r}\n")
        return
    try:
        builtins.__cutset__ = hook  # type: ignore[attr-defined]
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: _start_process(hook))
        _part("loading").install(hook, {"asyncio": _name_tasks, "logging": _count_log_lines})
    except Exception as error:  # noqa: BLE001
        hook.report(f"process {os.getpid()} is not instrumented as it should: {error!r}")


def _read_plan(path: str) -> dict[str, Any]:
    """What there is to do in this run. The first process keeps it in a form that the others read ten times faster."""
    status = os.stat(path)
    stamp = (status.st_mtime_ns, status.st_size)
    try:
        with open(path + ".read", "rb") as file:
            read_stamp, read = marshal.loads(file.read())  # noqa: S302 - our own
        if read_stamp == stamp:
            return read  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError, TypeError):
        pass
    import json  # noqa: PLC0415

    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    faults = _faults_by_site(plan)
    files, last_site = {}, 0
    for name, rows in plan["files"].items():
        wanted = [row for row in rows if plan["trace"] or row[0] in faults]
        if wanted:
            last_site = max(last_site, *(row[0] for row in wanted))
            files[os.path.realpath(name)] = json.dumps(wanted)  # few processes need them, and then few of them
    plan.update(faults=faults, files=files, sites=last_site + 1)
    plan.setdefault("cache", os.path.join(os.path.dirname(os.path.abspath(plan["out"])), "cache"))
    _part("loading").store(path + ".read", marshal.dumps((stamp, plan), 2))  # a version that all Pythons know
    return plan  # type: ignore[no-any-return]


def _faults_by_site(plan: dict[str, Any]) -> dict[int, dict[int, list[tuple[str, str]]]]:
    faults: dict[int, dict[int, list[tuple[str, str]]]] = {}
    for number, (site, occurrence, effect) in enumerate(plan.get("first", ())):
        faults.setdefault(site, {}).setdefault(occurrence, []).append((f"first.{number}.json", effect))
    for site, occurrence, effect in plan["choices"]:
        faults.setdefault(site, {}).setdefault(occurrence, []).append(("fired.json", effect))
    for of_site in faults.values():
        for occurrence in of_site.keys() - {0}:
            of_site[occurrence] += of_site.get(0, ())
    return faults


# -- processes and their records ----------------------------------------------------------------------------------


def _start_process(hook: Hook) -> None:
    """Also in a child after a fork: it counts from one and has a record of its own."""
    hook.clear()
    hook.lock = _thread.RLock()  # a signal handler or a finaliser may come back to it within one thread
    hook.next_row = None
    hook.names = {}
    hook.names_end = 1  # 0 stands for an unknown name
    hook.logged = _shared_count(hook)
    hook.name = _task_namer() if hook.has_tasks else _thread_namer()
    hook.number = _register_process(hook)


def _shared_count(hook: Hook) -> Any:
    """Processes share the log, so its lines are their common time. If one gets lost between two, that is no harm."""
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


def _register_process(hook: Hook) -> int:
    try:
        file = os.open(os.path.join(hook.out, "processes"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(file, b"%-15d\n" % os.getpid())
        number = os.lseek(file, 0, os.SEEK_CUR) // 16 - 1  # ours ends there: appending is atomic
        os.close(file)
    except OSError as error:
        hook.report(f"process {os.getpid()} has no number: {error!r}")
        return os.getpid()
    return number


def _open_buffer(hook: Hook) -> None:
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
    hook.next_row = itertools.count(0, VISIT.size).__next__


def _visitor(hook: Hook, site: int) -> Callable[..., Any]:
    count = itertools.count(1).__next__  # atomic
    faults = hook.faults.get(site)
    stand_in: Any = faults and _part("faults").SiteStandIn
    at_any = faults and faults.get(0)
    spent = hook.spent
    trace, logged = hook.trace, hook.logged
    if trace:
        with hook.lock:
            if hook.next_row is None:
                _open_buffer(hook)
        buffer, next_row, names = hook.buffers[-1], hook.next_row, hook.names
        counts = memoryview(buffer)[COUNTS_AT:].cast("I")
        pack_into = VISIT.pack_into

    def visit(target: Any, awaited: bool = False) -> Any:  # noqa: FBT001, FBT002 - rewritten code is terse
        occurrence = count()
        if trace:
            row = next_row() if occurrence <= VISITS_OF_SITE else NAMES_AT
            if row < NAMES_AT:
                name = hook.name()
                try:
                    name_at = names[name]
                except KeyError:
                    name_at = _place_name(hook, name)
                pack_into(buffer, row, name_at, logged[0], site, occurrence)
            else:
                counts[site] = occurrence
        if faults:
            for leaves, _ in faults.get(occurrence, at_any) or ():
                if leaves not in spent:
                    return stand_in(hook, site, occurrence, target, awaited)
        return target

    return visit


def _place_name(hook: Hook, name: str) -> int:
    encoded = name.encode("utf-8", "replace")[:NAME_SIZE]
    with hook.lock:
        start, end = hook.names_end, hook.names_end + 1 + len(encoded)
        if end > NAMES_SIZE:
            return 0
        hook.names_end = end
        hook.buffers[-1][NAMES_AT + start : NAMES_AT + end] = bytes([len(encoded)]) + encoded
        hook.names[name] = start
    return start


def _thread_namer() -> Callable[[], str]:
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


def _task_namer() -> Callable[[], str]:
    thread_name = _thread_namer()
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


# -- tasks and log lines, once there are any --------------------------------------------------------------------------


def _name_tasks(hook: Hook, _asyncio: Any) -> None:
    hook.has_tasks = True
    hook.name = _task_namer()


def _count_log_lines(hook: Hook, logging: Any) -> None:
    """Count the records that loggers hand to handlers; what a program prints in other ways is not counted."""
    original = logging.Logger.callHandlers

    def callHandlers(self: Any, record: Any) -> None:  # noqa: N802
        hook.logged[0] += 1
        original(self, record)

    # When a handler fails, `logging` shows the stack without the frames of its own files.
    callHandlers.__code__ = callHandlers.__code__.replace(co_filename=original.__code__.co_filename)
    logging.Logger.callHandlers = callHandlers
