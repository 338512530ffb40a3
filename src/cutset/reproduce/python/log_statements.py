"""The program's logging calls, with what is known of their messages before it runs.

A message is known where the call has it, where a variable got it shortly before, or where the caller of a function
that logs its parameter has it. Functions that write what they are given to a log of their own are loggers: what they
put around it is not known.
"""

from collections import defaultdict
from pathlib import PurePath

from cutset.reproduce.logs.levels import usual_level
from cutset.reproduce.logs.statements import LogStatement, Parts, joined, statements_of
from cutset.reproduce.python.loggers import (
    LEVELS,
    OWN_KEYWORDS,
    is_logging,
    logger_name,
    logger_names,
    message_slot,
    own_loggers,
)
from cutset.reproduce.python.messages import brace_parts, percent_parts
from cutset.reproduce.python.syntax import EventKind, PythonProgram, Write

_WRAPPERS = 3  # functions that log through functions that log
_VARIANTS = 6  # texts that one variable may have


def log_statements(program: PythonProgram, *, prints: bool = False) -> list[LogStatement]:
    writes: dict[tuple[int, str], list[Write]] = defaultdict(list)
    for write in program.writes:
        if (write.parts or write.adds) and len(write.target) == 1:
            writes[program.places[write.place].function, write.name].append(write)
    found: list[LogStatement] = []
    relays: dict[tuple[int, str], str] = {}  # functions that log one of their parameters: at which level
    names = logger_names(program)
    for index, event in enumerate(program.events):
        if event.kind != EventKind.CALL:
            continue
        logger = logger_name(names, program.modules[program.functions[event.function].module], event)
        if not (is_logging(event, prints=prints) or (logger is not None and event.chain[-1] in LEVELS)):
            continue
        slot = message_slot(event)
        texts = dict(event.texts)
        named = next((chain for at, chain in event.passed if at == slot and len(chain) == 1), None)
        variants = [texts[slot]] if slot in texts else []
        if named and not variants:
            variants = _variants([write for write in writes[event.function, named[0]] if write.line <= event.line])
            if not variants and named[0] in program.functions[event.function].parameters:
                relays[event.function, named[0]] = _level(program, index)
        level = _level(program, index)
        for parts in variants or [(None,)]:
            text = _formatted(program, index, slot, parts)
            is_print = logger is None and not is_logging(event)
            found += _statements(program, index, text, level, logger or "", is_print=is_print)
    return found + _relayed(program, relays) + _relayed(program, own_loggers(program), framed=True)


def _variants(before: list[Write]) -> list[Parts]:
    """The texts that a variable may have, by the assignments above."""
    grown: list[str | None] = [None] if any(write.adds for write in before) else []
    return [joined([*write.parts, *grown]) for write in before[-_VARIANTS:] if not write.adds]


def _relayed(program: PythonProgram, relays: dict[tuple[int, str], str], *, framed: bool = False) -> list[LogStatement]:
    """`framed`: something is written around the message."""
    found: list[LogStatement] = []
    for _ in range(_WRAPPERS):
        if not relays:
            break
        functions: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for (function, parameter), level in relays.items():
            functions[function].append((parameter, level))
        relays = {}
        for index, event in enumerate(program.events):
            for callee in program.callees[index]:
                for parameter, level in functions.get(callee, ()):
                    slot = _slot(program, callee, parameter)
                    text = next((parts for at, parts in event.texts if at in (slot, parameter)), None)
                    named = next((chain for at, chain in event.passed if at in (slot, parameter)), ("",))
                    caller = program.functions[event.function]
                    if text is not None:
                        parts = _formatted(program, index, slot, text)
                        found += _statements(program, index, joined([None, *parts, None]) if framed else parts, level)
                    elif len(named) == 1 and named[0] in caller.parameters:
                        relays[event.function, named[0]] = LEVELS.get(caller.name.rpartition(".")[2]) or level
    return found


def _slot(program: PythonProgram, function: int, parameter: str) -> int:
    row = program.functions[function]
    return row.parameters.index(parameter) - (row.owner >= 0 and ("staticmethod",) not in row.decorators)


def _formatted(program: PythonProgram, index: int, slot: int | str, parts: Parts) -> Parts:
    """After the logger has put the arguments in: `%`-style, `{}`-style (loguru) or key=value behind it (structlog)."""
    event = program.events[index]
    arguments = event.positional < 0 or (isinstance(slot, int) and event.positional > slot + 1)
    fields = set(event.keywords) - OWN_KEYWORDS - {slot if isinstance(slot, str) else ""}
    text = "".join(part or "" for part in parts)
    if arguments and "%" in text:
        parts = percent_parts(parts)
    elif (arguments or fields) and "{" in text:
        parts = brace_parts(parts)
    if event.chain[-2:] == ("warnings", "warn"):
        return joined([None, "Warning: ", *parts, None])
    if event.chain == ("print",) and arguments:
        return joined([*parts, " ", None])
    return joined([*parts, None]) if fields else parts


def _level(program: PythonProgram, index: int) -> str:
    event = program.events[index]
    level = LEVELS.get(event.chain[-1], "")
    if not level and message_slot(event) == 1:
        given = next((chain[-1] for slot, chain in event.passed if slot == 0), "")
        level = usual_level(given)
    return level if level in set(LEVELS.values()) else ""


def _statements(
    program: PythonProgram, index: int, parts: Parts, level: str, logger: str = "", *, is_print: bool = False
) -> list[LogStatement]:
    event = program.events[index]
    function = program.functions[event.function]
    file, name = PurePath(program.modules[function.module].path).name, function.name.rpartition(".")[2]
    key = f"{function.module}:{event.line}"
    return statements_of(key, index, level, logger, parts, said_in=f"{file}:{name}", is_print=is_print)
