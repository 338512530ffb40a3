"""Fault sites at run time: counts the visits to chosen places of a program and makes at most one of them fail.

It runs inside the workload, in every interpreter of it (`site_hook/sitecustomize.py` starts it), on Python 3.8 to 3.13,
and imports little: what it loads early, the workload would no longer load by itself. It is the injection and tracing
code of ANDURIL §4.2, put in by rewriting the syntax tree of a file before it is compiled.

The plan, a JSON file that CUTSET_SITES names:

    files    {absolute path: [[site, kind, line, column, end line, end column], …]}, positions as in `ast`
    choices  [[site, occurrence (0: any), effect], …]: the first that comes up fires, in whichever process
    trace    whether to record visits; if not, only sites with a choice are rewritten
    out      the folder for what follows
    cache    the folder that keeps rewritten code for later runs; if absent, `cache` beside `out`

What it leaves in `out`:

    processes            16 bytes for each process, in order of start: its process id
    visits.<n>.<pid>     of the n-th process: see `read_visits`
    fired.json           the fault; whoever creates this file may fire, so there is one at most
    problems.txt         sites that were not found, effects that could not be made, our own errors

`site_rewriting` says what is written into the code. At the visit that may fire, a stand-in (`site_faults`) takes the
place of what is called or awaited; it decides when it is used, after the arguments took effect.

Modules are caught in `SourceFileLoader.get_code`, whatever finds them, which includes `python -m` and folders run as
programs; `runpy.run_path`, with which multiprocessing loads the main script again, in `runpy._get_code_from_file`; the
script of `python script.py`, which Python compiles by itself, by an audit hook (`_rewrite_script`).

Not covered: interpreters started with -E, -I or -S or without our environment; modules in zip files; what is loaded by
a loader that compiles in its own way, as pytest does with test files.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH100, PTH103, PTH105, PTH114, PTH116, PTH117, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import _imp
import _thread
import builtins
import itertools
import marshal
import os
import struct
import sys
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, ModuleType
    from typing import Any

VISITS = 100_000  # recorded for each process; later ones are only counted
VISITS_OF_SITE = 10_000  # likewise, lest a site in a busy loop leaves no room for others
VISIT = struct.Struct("<IIII")  # where the name of the thread is, log lines, site, occurrence
NAMES_AT = VISITS * VISIT.size
NAMES_SIZE = 1_000_000  # bytes of names of threads and tasks
COUNTS_AT = NAMES_AT + NAMES_SIZE
NAME_SIZE = 255  # of one name; its length takes one byte
REWRITING = 1  # to be raised whenever `site_rewriting` writes other code: part of the key of cached code


class Hook(dict):  # type: ignore[type-arg]
    """What rewritten code knows as `__cutset__`: the function to call at each site, made at its first visit."""

    number: int  # of the process
    lock: Any
    next_row: Any  # of the record of visits; none before the first
    names: dict[str, int]  # of threads and tasks: where they are in the record
    names_end: int
    name: Callable[[], str]  # of the current thread or task
    log_lines: int
    next_log_line: Callable[[], int]

    def __init__(self, plan: dict[str, Any]) -> None:
        self.out: str = plan["out"]
        self.cache: str = plan["cache"]
        self.trace: bool = plan["trace"]
        self.effects: dict[int, dict[int, str]] = plan["effects"]
        self.files: dict[str, str] = plan["files"]  # by real path: the rows, as JSON
        self.sites: int = plan["sites"]
        self.folders: dict[str, str] = {}  # by the name that a loader gave: its real path
        self.has_tasks = False  # asyncio has been imported
        self.fired = False
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
        _rewrite_modules(hook)
        _act_after_imports(hook)
        _rewrite_script(hook)
    except Exception as error:  # noqa: BLE001
        hook.report(f"process {os.getpid()} is not instrumented as it should: {error!r}")


def read_visits(out: str) -> Iterator[tuple[int, int, int, int, str]]:
    """All that were recorded: (site, occurrence, log lines, process, thread), in order for each process."""
    for process, content in _visit_files(out):
        used = -(-len(content[:NAMES_AT].rstrip(b"\0")) // VISIT.size) * VISIT.size
        for name_at, log_lines, site, occurrence in VISIT.iter_unpack(content[:used]):
            if occurrence == 0:
                continue  # the process was killed before it got to that
            start = NAMES_AT + name_at + 1
            name = content[start : start + content[start - 1]].decode("utf-8", "replace") if name_at else ""
            yield site, occurrence, log_lines, process, name


def read_counts(out: str) -> dict[tuple[int, int], int]:
    """How often each process visited each site: {(process, site): times}, including what was only counted."""
    counts: dict[tuple[int, int], int] = {}
    for site, occurrence, _, process, _ in read_visits(out):
        counts[process, site] = max(occurrence, counts.get((process, site), 0))
    for process, content in _visit_files(out):
        for site, (count,) in enumerate(struct.iter_unpack("<I", content[COUNTS_AT:])):
            if count:
                counts[process, site] = max(count, counts.get((process, site), 0))
    return counts


def _visit_files(out: str) -> Iterator[tuple[int, bytes]]:
    numbered = [name.split(".") for name in os.listdir(out) if name.startswith("visits.")]
    for _, number, process_id in sorted(numbered, key=lambda parts: int(parts[1])):
        with open(os.path.join(out, f"visits.{number}.{process_id}"), "rb") as file:
            yield int(number), file.read()


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
    effects: dict[int, dict[int, str]] = {}
    for site, occurrence, effect in plan["choices"]:
        effects.setdefault(site, {}).setdefault(occurrence, effect)
    files, last_site = {}, 0
    for name, rows in plan["files"].items():
        wanted = [row for row in rows if plan["trace"] or row[0] in effects]
        if wanted:
            last_site = max(last_site, *(row[0] for row in wanted))
            files[os.path.realpath(name)] = json.dumps(wanted)  # few processes need them, and then few of them
    plan.update(effects=effects, files=files, sites=last_site + 1)
    plan.setdefault("cache", os.path.join(os.path.dirname(os.path.abspath(plan["out"])), "cache"))
    _store(path + ".read", marshal.dumps((stamp, plan), 2))  # a version that all Pythons know
    return plan  # type: ignore[no-any-return]


def _part(name: str) -> Any:
    """A file beside this one, by its path, as `sitecustomize` loads this one."""
    full_name = "_cutset_" + name
    if full_name not in sys.modules:
        module: Any = type(sys)(full_name)
        module.__file__ = os.path.join(os.path.dirname(__file__), name + ".py")
        SourceFileLoader(full_name, module.__file__).exec_module(module)
        sys.modules.setdefault(full_name, module)
    return sys.modules[full_name]


# -- processes and their records ----------------------------------------------------------------------------------


def _start_process(hook: Hook) -> None:
    """Also in a child after a fork: it counts from one and has a record of its own."""
    hook.clear()
    hook.lock = _thread.RLock()  # a signal handler or a finaliser may come back to it within one thread
    hook.next_row = None
    hook.names = {}
    hook.names_end = 1  # 0 stands for an unknown name
    hook.log_lines = 0
    hook.next_log_line = itertools.count(1).__next__
    hook.name = _task_namer() if hook.has_tasks else _thread_namer()
    hook.number = _register_process(hook)


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
    hook.next_row = itertools.count().__next__


def _visitor(hook: Hook, site: int) -> Callable[..., Any]:
    count = itertools.count(1).__next__  # atomic
    effects = hook.effects.get(site)
    stand_in = None if effects is None else _part("site_faults").StandIn
    trace = hook.trace
    if trace:
        with hook.lock:
            if hook.next_row is None:
                _open_buffer(hook)
        buffer, next_row, names = hook.buffers[-1], hook.next_row, hook.names
        counts = memoryview(buffer)[COUNTS_AT:].cast("I")
        pack_into, row_size = VISIT.pack_into, VISIT.size

    def visit(target: Any, awaited: bool = False) -> Any:  # noqa: FBT001, FBT002 - rewritten code is terse
        occurrence = count()
        if trace:
            row = next_row() if occurrence <= VISITS_OF_SITE else VISITS
            if row < VISITS:
                name = hook.name()
                name_at = names.get(name)
                if name_at is None:
                    name_at = _place_name(hook, name)
                pack_into(buffer, row * row_size, name_at, hook.log_lines, site, occurrence)
            else:
                counts[site] = occurrence
        if effects is not None and not hook.fired:
            effect = effects.get(occurrence) or effects.get(0)
            if effect is not None and stand_in is not None:
                return stand_in(hook, site, occurrence, effect, target, awaited)
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


# -- getting at the code ----------------------------------------------------------------------------------------------


def _rewrite_modules(hook: Hook) -> None:
    original_get_code = SourceFileLoader.get_code
    original_compile = SourceFileLoader.source_to_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        code = None
        if type(self).source_to_code is original_compile:
            code = _rewritten(hook, self.path)
        elif _rows_of(hook, self.path):
            hook.report(f"{self.path} is not rewritten: {type(self)!r} compiles it in its own way")
        return original_get_code(self, fullname) if code is None else code

    # Python cuts the frames of this file out of tracebacks, and ours should go with them.
    get_code.__code__ = get_code.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def _rewrite_run_path(hook: Hook, runpy: Any) -> None:
    original = runpy._get_code_from_file  # noqa: SLF001

    def get_code_from_file(*arguments: Any) -> Any:  # the path comes last
        result = original(*arguments)
        code = _rewritten(hook, os.fsdecode(arguments[-1]))
        if code is None:
            return result
        return (code, *result[1:]) if isinstance(result, tuple) else code  # which it is depends on the version

    runpy._get_code_from_file = get_code_from_file  # noqa: SLF001


def _rewrite_script(hook: Hook) -> None:
    """Have the rewritten script run in place of the one that Python is about to compile and run.

    Python announces the code of the script to audit hooks before it runs it. Ours adds a second one, which is called
    next and runs the rewritten code, which ends with SystemExit: so Python does not get to run its own. The second
    hook is a property that calls `exec`, with no frame of ours under the frame of the script.
    """
    script = sys.argv[0] if sys.argv else ""
    if sys.flags.inspect or not _rows_of(hook, script):
        return
    script = os.path.realpath(script)
    rewritten: list[CodeType | None] = []

    # Without `__cantrace__`, debuggers would not see the program.
    runner: Any = type("Runner", (), {"__cantrace__": True, "run": staticmethod(exec)})

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "exec" or len(rewritten) > 1:
            return
        code = arguments[0]
        if rewritten and code is rewritten[0]:  # `exec` has announced it as well
            runner.__call__ = lambda *_: None
            rewritten.append(None)
        elif not rewritten and code.co_name == "<module>" and os.path.realpath(code.co_filename) == script:
            from operator import methodcaller  # noqa: PLC0415

            rewritten.append(_rewritten(hook, code.co_filename, is_script=True))
            if rewritten[0] is not None:
                runner.__call__ = property(methodcaller("run", rewritten[0], sys.modules["__main__"].__dict__))
                sys.addaudithook(runner())

    sys.addaudithook(audit)


def _act_after_imports(hook: Hook) -> None:
    actions: dict[str, Callable[[Hook, Any], None]] = {
        "asyncio": _name_tasks,
        "logging": _count_log_lines,
        "runpy": _rewrite_run_path,
    }
    for name in [name for name in actions if name in sys.modules]:
        actions.pop(name)(hook, sys.modules[name])
    sys.meta_path.insert(0, _Finder(hook, actions))


class _Finder:
    """Lets other finders find, and acts once one of a few modules has been imported."""

    def __init__(self, hook: Hook, actions: dict[str, Callable[[Hook, Any], None]]) -> None:
        self.hook = hook
        self.actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.actions:
            return None
        for finder in sys.meta_path:
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find_spec is None else find_spec(name, path, target)
            if spec is not None:
                spec.loader = _Loader(self, spec.loader)
                return spec
        return None


class _Loader:
    def __init__(self, finder: _Finder, loader: Any) -> None:
        self.finder = finder
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        action = self.finder.actions.pop(module.__name__, None)
        if action is not None:
            action(self.finder.hook, module)


def _name_tasks(hook: Hook, _asyncio: Any) -> None:
    hook.has_tasks = True
    hook.name = _task_namer()


def _count_log_lines(hook: Hook, logging: Any) -> None:
    """Count the records that loggers hand to handlers; what a program prints in other ways is not counted."""
    original = logging.Logger.callHandlers

    def callHandlers(self: Any, record: Any) -> None:  # noqa: N802
        hook.log_lines = hook.next_log_line()
        original(self, record)

    # When a handler fails, `logging` shows the stack without the frames of its own files.
    callHandlers.__code__ = callHandlers.__code__.replace(co_filename=original.__code__.co_filename)
    logging.Logger.callHandlers = callHandlers


# -- rewriting --------------------------------------------------------------------------------------------------------


def _rows_of(hook: Hook, path: str) -> str | None:
    folder, name = os.path.split(path)
    real = hook.folders.get(folder)
    if real is None:
        real = os.path.realpath(folder)
        if os.path.isabs(folder):
            hook.folders[folder] = real
    rows = hook.files.get(os.path.join(real, name))
    return hook.files.get(os.path.realpath(path)) if rows is None and os.path.islink(path) else rows


def _rewritten(hook: Hook, path: str, *, is_script: bool = False) -> CodeType | None:
    """The code of a file, with its sites; none if it has none or if something is wrong with it."""
    rows = _rows_of(hook, path)
    if not rows:
        return None
    try:
        status = os.stat(path)
        version = (REWRITING, MAGIC_NUMBER, sys.flags.optimize, is_script)
        key = repr((version, path, status.st_mtime_ns, status.st_size, rows)).encode()
        cached = os.path.join(hook.cache, _imp.source_hash(0, key).hex())
        try:
            with open(cached, "rb") as file:
                cached_key, code, missing = marshal.loads(file.read())  # noqa: S302 - our own
        except (OSError, ValueError, EOFError, TypeError):
            cached_key = None
        if cached_key != key:
            code, missing = _part("site_rewriting").compile_rewritten(path, rows, is_script=is_script)
            _store(cached, marshal.dumps((key, code, missing)))
        for problem in missing:
            hook.report(problem)
    except Exception as error:  # noqa: BLE001 - it runs unchanged
        hook.report(f"{path} is not rewritten: {error!r}")
        return None
    return code  # type: ignore[no-any-return]


def _store(path: str, content: bytes) -> None:
    unfinished = f"{path}.{os.getpid()}.{_thread.get_ident()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(unfinished, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError:
        pass  # the next process compiles again
