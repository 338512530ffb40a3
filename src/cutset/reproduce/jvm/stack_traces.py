"""Stack traces in a log as places in the analysed classes: the last of their frames that is in them.

Of each exception of a trace one, the root cause first. The JVM prints a stack to the beginning of its thread, so that
the whole calling context is known.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.printed_traces import Frame, printed_exceptions
from cutset.reproduce.jvm.tables import JvmProgram
from cutset.reproduce.logs.recognition import Origin

DEEPEST = 16  # functions of a context, as the agent has them

FunctionIndex = Mapping[tuple[str, str], tuple[int, ...]]  # rows of functions, by class and name


def index_functions(program: JvmProgram) -> FunctionIndex:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, function in enumerate(program.functions):
        found[function.module, function.name].append(number)
    return {named: tuple(numbers) for named, numbers in found.items()}


def origins(record: LogRecord, program: JvmProgram, functions: FunctionIndex) -> Iterator[Origin]:
    for exception in printed_exceptions(record.traceback):
        located = ((frame, _function(frame, program, functions)) for frame in exception.frames)
        inside = [(frame, number) for frame, number in located if number is not None]
        if inside and exception.type:
            frame, number = inside[0]
            context = _context(program.functions[number].context for _, number in inside)
            yield Origin(program.functions[number].module, number, frame.line, exception.type, context)


def _function(frame: Frame, program: JvmProgram, functions: FunctionIndex) -> int | None:
    """Where the log is of another version, lines are elsewhere: then a name that is there once is enough."""
    named = functions.get((frame.owner, frame.method), ())
    around = (one for one in named if program.functions[one].line <= frame.line <= program.functions[one].end_line)
    return next(around, named[0] if len(named) == 1 else None)


def _context(names: Iterable[str]) -> str:
    return " < ".join([name for name, _ in groupby(names)][:DEEPEST])
