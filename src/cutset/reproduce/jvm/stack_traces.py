"""Stack traces in a log as places in the analysed classes: the last of their frames that is in them.

Of each exception of a trace one, the root cause first. The JVM prints a stack to the beginning of its thread, so that
the whole calling context is known. Some exceptions are made without a stack, to be cheap: such a cause came from a call
in the `try` whose handler wrapped it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.escapes import caught_before
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.printed_traces import PrintedException, PrintedFrame, printed_exceptions
from cutset.reproduce.jvm.table_rows import SiteRow
from cutset.reproduce.jvm.tables import JvmProgram
from cutset.reproduce.logs.recognition import Origin

DEEPEST = 16  # functions of a context, as the agent has them
_STATEMENT = 4  # lines that a `throw` may go on for, after the one on which its exception was made

FunctionIndex = Mapping[tuple[str, str], tuple[int, ...]]  # rows of functions, by class and name


class TraceEnd(NamedTuple):
    """Where an exception came into the analysed code."""

    origin: Origin
    message: str
    callee: str  # the method outside that it came from; "": it is not known, or none
    wrapped: bool = False  # it has no stack: the origin is where a handler wrapped it


def index_functions(program: JvmProgram) -> FunctionIndex:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, function in enumerate(program.functions):
        found[function.module, function.name].append(number)
    return {named: tuple(numbers) for named, numbers in found.items()}


def trace_ends(record: LogRecord, program: JvmProgram, functions: FunctionIndex) -> list[TraceEnd]:
    found: list[TraceEnd] = []
    without_stack: PrintedException | None = None  # until it is known what wrapped it
    for exception in printed_exceptions(record.traceback):
        if not exception.frames:
            without_stack = None if exception.suppressed else exception
            continue
        rows = [_function(frame, program, functions) for frame in exception.frames]
        at = next((place for place, row in enumerate(rows) if row is not None), None)
        if at is not None and exception.type and (row := rows[at]) is not None:
            context = _context(program.functions[one].context for one in rows if one is not None)
            callee = exception.frames[at - 1].method if at else ""
            line = _line_of(callee, exception.frames[at].line, program, row)
            origin = Origin(program.functions[row].module, row, line, exception.type, context)
            if without_stack and without_stack.type and not callee:
                cause = replace(origin, type=without_stack.type)
                found.append(TraceEnd(cause, without_stack.message, "", wrapped=True))
            found.append(TraceEnd(origin, exception.message, callee))
        without_stack = None
    return found


def sites_at(
    end: TraceEnd, program: JvmProgram, sites_of: Mapping[int, Sequence[int]], types: ExceptionTypes
) -> list[int]:
    """Calls on the line from which it came, of the method that the trace names if one is; or its `throw` statement.

    Where a line has several and none is named, those that declare such an exception.
    """
    origin = end.origin
    if end.wrapped:
        return _sites_before(end, program, sites_of, types)
    kind = origin.type.rpartition(".")[2]
    calls, throws = [], []
    for number in sites_of.get(origin.function, ()):
        row, site = program.site_rows[number], program.sites[number]
        if not row.is_raise and row.line == origin.line:
            calls.append(number)
        elif row.is_raise and 0 <= row.line - origin.line <= _STATEMENT and site.expression == f"throw {kind}":
            throws.append(number)
    if throws and not end.callee:
        return throws[:1]
    rows = {number: program.site_rows[number] for number in calls}
    named = [number for number, row in rows.items() if program.strings[row.callee_name] == end.callee]
    declaring = [number for number, row in rows.items() if _declares(row, origin.type, program, types)]
    return named or declaring or calls


def _sites_before(
    end: TraceEnd, program: JvmProgram, sites_of: Mapping[int, Sequence[int]], types: ExceptionTypes
) -> list[int]:
    """Calls in the `try` of the handler that wrapped an exception without a stack; those that declare it, if any do."""
    method = program.method(end.origin.function)
    at_line = {throw.block for throw in method.throws if 0 <= throw.line - end.origin.line <= _STATEMENT}
    tried = caught_before(method, at_line)
    calls = [
        number
        for number in sites_of.get(end.origin.function, ())
        if not program.site_rows[number].is_raise
        and any(each.start <= at < each.end for each in tried for at in program.site_rows[number].instructions)
    ]
    kind = end.origin.type
    declaring = [each for each in calls if _declares(program.site_rows[each], kind, program, types)]
    return declaring or (calls if types.is_unchecked(kind) else [])


def _declares(row: SiteRow, kind: str, program: JvmProgram, types: ExceptionTypes) -> bool:
    return types.is_any(kind, map(program.type_name, row.declared))


def _function(frame: PrintedFrame, program: JvmProgram, functions: FunctionIndex) -> int | None:
    """Where the log is of another version, lines are elsewhere: then a name that is there once is enough."""
    named = functions.get((frame.owner, frame.method), ())
    around = (one for one in named if program.functions[one].line <= frame.line <= program.functions[one].end_line)
    return next(around, named[0] if len(named) == 1 else None)


def _line_of(callee: str, line: int, program: JvmProgram, function: int) -> int:
    """Where the function calls it, if that is elsewhere: the nearest line of a call of that name."""
    calls = program.method(function).calls if callee else ()
    lines = [call.line for call in calls if program.strings[call.name] == callee]
    return min(lines, key=lambda each: abs(each - line), default=line)


def _context(names: Iterable[str]) -> str:
    return " < ".join([name for name, _ in groupby(names)][:DEEPEST])
