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

`plan` reads the plan, `loading` says which code is rewritten, `rewriting` how; `contexts`, `names` and `log_position`
tell the circumstances of a visit, `record` keeps it. At a visit that may fire, a stand-in (`faults`) takes the place of
what is called or awaited; it decides when it is used, after the arguments took effect. A visit fires once: what is
for its occurrence goes before what is for any, what is for its context before what is for all, and `first` before the
choices.

The context of a visit is the functions of the analysed files on the stack, nearest first and each by its file, as in
`queue.py:push < crawl.py:run`. It knows neither lines nor threads, so that it is the same in every run.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import _thread
import builtins
import itertools
import os
import sys
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cutset_agent.sites.plan import ArmedEffect


def _part(name: str) -> Any:
    """A file beside this one, by its path, as `sitecustomize` loads this one."""
    full_name = "_cutset_" + name
    if full_name not in sys.modules:
        module: Any = type(sys)(full_name)
        module.__file__ = os.path.join(os.path.dirname(__file__), name + ".py")
        SourceFileLoader(full_name, module.__file__).exec_module(module)
        sys.modules.setdefault(full_name, module)
    return sys.modules[full_name]


if TYPE_CHECKING:
    from cutset_agent.sites import contexts, log_position, names, record
else:
    contexts, log_position, names, record = map(_part, ("contexts", "log_position", "names", "record"))


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
        self.analysed = contexts.AnalysedFiles(plan["analysed"])
        self.context_of = contexts.context_finder(self.analysed)
        self.functions: bool = plan["functions"]
        self.marks = self.functions and sys.version_info < (3, 12)  # else `sys.monitoring` tells
        self.log_path: str = plan.get("log") or ""
        self.log = log_position.open_log(self.log_path)
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
            record.record_function(self, int(number), int(line))
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
            self.log = log_position.open_log(self.log_path)
            return 0 if self.log < 0 else os.lseek(self.log, 0, os.SEEK_END)

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
        hook = Hook(_part("plan").read_plan(plan_path, _part("loading").store))
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
            _part("functions").watch_functions(hook, record.record_function)
        _part("loading").install(hook, {"asyncio": _name_tasks, "logging": log_position.count_records})
    except Exception as error:  # noqa: BLE001
        hook.report(f"process {os.getpid()} is not instrumented as it should: {error!r}")


def _start_process(hook: Hook) -> None:
    """Also in a child after a fork: it counts from one and has a record of its own."""
    hook.clear()
    hook.lock = _thread.RLock()  # a signal handler or a finaliser may come back to it within one thread
    hook.next_row = hook.next_function = None
    hook.names = {}
    hook.names_end = 1  # 0 stands for an unknown name
    hook.logged = log_position.shared_count(hook)
    hook.name = names.task_namer() if hook.has_tasks else names.thread_namer()
    hook.number = record.register_process(hook)


def _visitor(hook: Hook, site: int) -> Callable[..., Any]:  # noqa: C901 - functions cost as much as what they hide
    count = itertools.count(1).__next__  # atomic
    faults = hook.faults.get(site)
    everywhere: Any = faults and faults.get("", {})
    at_any = everywhere and everywhere.get(0)
    in_contexts = bool(faults and faults.keys() - {""})
    stand_in: Any = faults and _part("faults").SiteStandIn
    spent = hook.spent
    trace, logged, printed = hook.trace, hook.logged, hook.printed
    known: dict[tuple[str, ...], tuple[str, int, Any]] = {}  # contexts: text, where it is in the record, counter
    context_of, getframe = hook.context_of, sys._getframe  # noqa: SLF001
    recorded, end = record.VISITS_OF_SITE, record.NAMES_AT
    if trace:
        with hook.lock:
            if hook.next_row is None:
                record.open_buffer(hook)
        buffer, next_row, places = hook.buffers[-1], hook.next_row, hook.names
        counts = memoryview(buffer)[record.COUNTS_AT :].cast("I")
        pack_into = record.VISIT.pack_into

    def visit(target: Any, awaited: bool = False) -> Any:  # noqa: FBT001, FBT002 - rewritten code is terse
        occurrence = count()
        row = next_row() if trace and occurrence <= recorded else end
        within, nth = "", 0
        if row < end or in_contexts:
            context = context_of(getframe(1))
            try:
                within, within_at, next_nth = known[context]
            except KeyError:
                within, within_at, next_nth = known.setdefault(context, _new_context(hook, context))
            nth = next_nth()
        if row < end:
            name = hook.name()
            try:
                name_at = places[name]
            except KeyError:
                name_at = record.place_name(hook, name)
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


def _new_context(hook: Hook, context: tuple[str, ...]) -> tuple[str, int, Any]:
    text = " < ".join(context) or "<module>"
    return text, record.place_name(hook, text) if hook.trace else 0, itertools.count(1).__next__


def _name_tasks(hook: Hook, _asyncio: Any) -> None:
    hook.has_tasks = True
    hook.name = names.task_namer()
