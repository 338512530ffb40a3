"""Fault sites at run time: counts the visits to chosen places of a program and makes at most one of them fail; or one
on top of others that are known to be needed.

It runs inside the workload, in every interpreter of it (`hook/sitecustomize.py` starts it), on Python 3.8 to 3.14,
and imports little: what it loads early, the workload would no longer load by itself. It is the injection and tracing
code of ANDURIL §4.2, put in by rewriting the syntax tree of a file before it is compiled.

The plan, a JSON file that CUTSET_SITES names:

    files      {absolute path: [[site, kind, line, column, end line, end column], …]}, positions as in `ast`
    choices    [[site, occurrence (0: any), effect, context], …]: the first that comes up fires, in whichever process;
               with a context, occurrences within it count; "" or none: all
    first      rows as in choices, or absent: each of them fires once, whatever becomes of the choices and of the others
    trace      whether to record visits; if not, only sites with a choice or a row of `first` are rewritten
    analysed   [absolute path, …]: the files whose functions make contexts; if absent, those of `files`
    functions  whether to record which functions of these files run
    log        the file that the run's log is written to, if it is known
    out        the folder for what follows
    cache      the folder that keeps rewritten code for later runs; if absent, `cache` beside `out`

What it leaves in `out`:

    processes            16 bytes for each process, in order of start: its process id
    visits.<n>.<pid>     of the n-th process, its visits and functions: see `visits`
    fired.json           the fault; whoever creates this file may fire, so there is one at most
    first.<n>.json       likewise for the n-th row of `first`, from 0
    problems.txt         sites that were not found, effects that could not be made, our own errors

`loading` says which code is rewritten, `rewriting` how. At a visit that may fire, a stand-in (`faults`) takes the place
of what is called or awaited; it decides when it is used, after the arguments took effect. A visit fires once: what is
for its occurrence goes before what is for any, what is for its context before what is for all, and `first` before the
choices.

The context of a visit is the functions of the analysed files on the stack, nearest first and each by its file, as in
`queue.py:push < crawl.py:run`. It knows neither lines nor threads, so that it is the same in every run.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH100, PTH114, PTH116, PTH117, PTH118, PTH119, PTH120, PTH123

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

    ArmedEffect = tuple[str, str]  # the file that it leaves when it fires, and the effect

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

CONTEXT_FUNCTIONS = 8  # more would tell no more, but take longer
CONTEXT_FRAMES = range(60)  # that are looked at, of others too: further down are test runners and servers
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<module>")  # the first three have no frame since Python 3.12
LOG_DESCRIPTOR = 600  # or above, where no program gets by itself: should it close ours, no other file has its number
CO_OPTIMIZED = 1  # of functions alone, as in `inspect`


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
    next_function: Any  # likewise
    names: dict[str, int]  # of threads, tasks and contexts: where they are in the record
    names_end: int
    name: Callable[[], str]  # of the current thread or task
    logged: Any  # [n]: how many records all processes of the run have logged, shared by them
    part = staticmethod(_part)

    def __init__(self, plan: dict[str, Any]) -> None:
        self.out: str = plan["out"]
        self.cache: str = plan["cache"]
        self.trace: bool = plan["trace"]
        # By site, context and occurrence (0: any other): what may fire, best first.
        self.faults: dict[int, dict[str, dict[int, list[ArmedEffect]]]] = plan["faults"]
        self.files: dict[str, str] = plan["files"]  # by real path: the rows, as JSON
        self.sites: int = plan["sites"]
        self.analysed = _AnalysedFiles(plan["analysed"])
        self.functions: bool = plan["functions"]
        self.marks = self.functions and sys.version_info < (3, 12)  # else `sys.monitoring` tells
        self.log_path: str = plan.get("log") or ""
        self.log = _open_log(self.log_path)
        self.has_tasks = False  # asyncio has been imported
        self.spent: set[str] = set()  # the files that are known to exist: what leaves them has fired
        self.unmade: set[tuple[int, str]] = set()  # sites and effects that cannot be made
        self.end = SystemExit
        # A mapping holds a file descriptor, whose number may be another file's by now if the program closed all that
        # it did not know: so the mappings of parent processes are kept, too, and never closed.
        self.buffers: list[Any] = []
        _start_process(self)

    def __missing__(self, site: int | str) -> Any:
        """Also what a function does first, `__cutset__["3 12"]`, if functions are marked: file and line."""
        if isinstance(site, str):
            number, line = site.split()
            _record_function(self, int(number), int(line))
            return self.setdefault(site, None)
        try:
            visit = _visitor(self, site)
        except Exception as error:  # noqa: BLE001 - whatever it is, the workload goes on
            self.report(f"site {site} is not counted: {error!r}")
            return self.setdefault(site, lambda target, *_: target)
        return self.setdefault(site, visit)  # two threads must get the same counter

    def printed(self) -> int:
        """How many bytes the log has by now."""
        if not self.log_path:
            return 0
        try:
            return os.lseek(self.log, 0, os.SEEK_END)
        except OSError:  # the program has closed what it did not know
            self.log = _open_log(self.log_path)
            return 0 if self.log < 0 else os.lseek(self.log, 0, os.SEEK_END)

    def report(self, problem: str) -> None:
        try:
            file = os.open(os.path.join(self.out, "problems.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.write(file, (problem.replace("\n", " ") + "\n").encode("utf-8", "backslashreplace"))
            os.close(file)
        except OSError:
            pass  # there is nobody else to tell


class _AnalysedFiles(dict):  # type: ignore[type-arg]
    """By the name that code has for its file: the last part of its path; "" if it is not analysed."""

    def __init__(self, paths: list[str]) -> None:
        self.numbers = {path: number for number, path in enumerate(paths, 1)}
        self.folders: dict[str, str] = {}  # by the name that a loader gave: its real path

    def __missing__(self, name: str) -> str:
        path = self.real_path(name)
        self[name] = found = os.path.basename(path) if path in self.numbers else ""
        return found

    def number(self, name: str) -> int:
        """Its place in the plan, from 1 on; 0 if it is not analysed."""
        return self.numbers.get(self.real_path(name), 0)

    def real_path(self, path: str) -> str:
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        real = self.folders.get(folder)
        if real is None:
            real = os.path.realpath(folder)
            if os.path.isabs(folder):
                self.folders[folder] = real
        return os.path.join(real, name)


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
        if sys.argv:
            hook.analysed[sys.argv[0]]  # now: it may be relative to where we are
        if hook.functions and not hook.marks:
            _watch_functions(hook)
        _part("loading").install(hook, {"asyncio": _name_tasks, "logging": _count_records})
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
    analysed = [os.path.realpath(name) for name in plan.get("analysed", plan["files"])]
    plan.update(faults=faults, files=files, sites=last_site + 1, analysed=analysed)
    plan.setdefault("functions", False)
    plan.setdefault("cache", os.path.join(os.path.dirname(os.path.abspath(plan["out"])), "cache"))
    _part("loading").store(path + ".read", marshal.dumps((stamp, plan), 2))  # a version that all Pythons know
    return plan  # type: ignore[no-any-return]


def _faults_by_site(plan: dict[str, Any]) -> dict[int, dict[str, dict[int, list[ArmedEffect]]]]:
    faults: dict[int, dict[str, dict[int, list[ArmedEffect]]]] = {}
    named = [(f"first.{number}.json", row) for number, row in enumerate(plan.get("first", ()))]
    for leaves, (site, occurrence, effect, *within) in [*named, *(("fired.json", row) for row in plan["choices"])]:
        of_context = faults.setdefault(site, {}).setdefault(within[0] if within else "", {})
        of_context.setdefault(occurrence, []).append((leaves, effect))
    for of_site in faults.values():
        for of_context in of_site.values():
            for occurrence in of_context.keys() - {0}:
                of_context[occurrence] += of_context.get(0, ())
    return faults


# -- processes and their records ----------------------------------------------------------------------------------


def _start_process(hook: Hook) -> None:
    """Also in a child after a fork: it counts from one and has a record of its own."""
    hook.clear()
    hook.lock = _thread.RLock()  # a signal handler or a finaliser may come back to it within one thread
    hook.next_row = hook.next_function = None
    hook.names = {}
    hook.names_end = 1  # 0 stands for an unknown name
    hook.logged = _shared_count(hook)
    hook.name = _task_namer() if hook.has_tasks else _thread_namer()
    hook.number = _register_process(hook)


def _shared_count(hook: Hook) -> Any:
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


def _open_log(path: str) -> int:
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
    hook.next_function = itertools.count(FUNCTIONS_AT, FUNCTION.size).__next__
    hook.next_row = itertools.count(0, VISIT.size).__next__


def _record_function(hook: Hook, number: int, line: int) -> None:
    with hook.lock:
        if hook.next_row is None:
            _open_buffer(hook)
        row = hook.next_function()
        if row < COUNTS_AT:
            FUNCTION.pack_into(hook.buffers[-1], row, number, line)


def _watch_functions(hook: Hook) -> None:
    """Each function is told once, and costs nothing any more."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    tool = next((tool for tool in (4, 3, 5) if monitoring.get_tool(tool) is None), None)
    if tool is None:
        hook.report(f"process {os.getpid()} does not tell which functions ran: others monitor it")
        return

    def started(code: Any, _offset: int) -> Any:
        name = code.co_name
        if hook.analysed[code.co_filename] and name != "__annotate__":
            is_function = code.co_flags & CO_OPTIMIZED and (name == "<lambda>" or not name.startswith("<"))
            if is_function or name == "<module>":
                number = hook.analysed.number(code.co_filename)
                _record_function(hook, number, code.co_firstlineno if is_function else 0)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "cutset")
    monitoring.register_callback(tool, monitoring.events.PY_START, started)
    monitoring.set_events(tool, monitoring.events.PY_START)


def _visitor(hook: Hook, site: int) -> Callable[..., Any]:  # noqa: C901 - functions cost as much as what they hide
    count = itertools.count(1).__next__  # atomic
    faults = hook.faults.get(site)
    everywhere: Any = faults and faults.get("", {})
    at_any = everywhere and everywhere.get(0)
    in_contexts = bool(faults and faults.keys() - {""})
    stand_in: Any = faults and _part("faults").SiteStandIn
    spent = hook.spent
    trace, logged, printed = hook.trace, hook.logged, hook.printed
    contexts: dict[tuple[str, ...], tuple[str, int, Any]] = {}  # text, where it is in the record, counter
    analysed, getframe = hook.analysed, sys._getframe  # noqa: SLF001
    if trace:
        with hook.lock:
            if hook.next_row is None:
                _open_buffer(hook)
        buffer, next_row, names = hook.buffers[-1], hook.next_row, hook.names
        counts = memoryview(buffer)[COUNTS_AT:].cast("I")
        pack_into = VISIT.pack_into

    def visit(target: Any, awaited: bool = False) -> Any:  # noqa: FBT001, FBT002 - rewritten code is terse
        occurrence = count()
        row = next_row() if trace and occurrence <= VISITS_OF_SITE else NAMES_AT
        within, nth = "", 0
        if row < NAMES_AT or in_contexts:
            chain = _chain(getframe(1), analysed)
            try:
                within, within_at, next_nth = contexts[chain]
            except KeyError:
                within, within_at, next_nth = contexts.setdefault(chain, _new_context(hook, chain))
            nth = next_nth()
        if row < NAMES_AT:
            name = hook.name()
            try:
                name_at = names[name]
            except KeyError:
                name_at = _place_name(hook, name)
            pack_into(buffer, row, name_at, within_at, nth, logged[0], printed(), site, occurrence)
        elif trace:
            counts[site] = occurrence
        if faults:
            rows = everywhere.get(occurrence, at_any) or ()
            if in_contexts:
                rows = _in_order(rows, faults.get(within, {}), nth)
            for leaves, _ in rows:
                if leaves not in spent:
                    return stand_in(hook, (site, occurrence, within, nth), rows, target, awaited)
        return target

    return visit


def _in_order(rows: Any, of_context: dict[int, list[ArmedEffect]], nth: int) -> list[ArmedEffect]:
    own = of_context.get(nth) or of_context.get(0) or []
    return sorted([*own, *rows], key=lambda row: row[0] == "fired.json")


def _chain(frame: Any, analysed: _AnalysedFiles) -> tuple[str, ...]:
    """File and function of each that makes the context of a frame."""
    chain: list[str] = []
    last = last_file = ""
    for _ in CONTEXT_FRAMES:
        file = analysed[frame.f_code.co_filename]
        if file:
            function = frame.f_code.co_name
            if (function != last or file != last_file) and function not in INLINED:
                chain += (file, function)
                if len(chain) == 2 * CONTEXT_FUNCTIONS:
                    break
                last, last_file = function, file
        frame = frame.f_back
        if frame is None:
            break
    return tuple(chain)


def _new_context(hook: Hook, chain: tuple[str, ...]) -> tuple[str, int, Any]:
    text = " < ".join(map(":".join, zip(chain[::2], chain[1::2]))) or "<module>"
    return text, _place_name(hook, text) if hook.trace else 0, itertools.count(1).__next__


def _place_name(hook: Hook, name: str) -> int:
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


# -- tasks and log records, once there are any -------------------------------------------------------------------------


def _name_tasks(hook: Hook, _asyncio: Any) -> None:
    hook.has_tasks = True
    hook.name = _task_namer()


def _count_records(hook: Hook, logging: Any) -> None:
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
