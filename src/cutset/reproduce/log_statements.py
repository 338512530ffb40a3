"""The program's logging calls as patterns that recognise their lines, and tracebacks as places in its source.

ANDURIL compares log entries by the class and line that its log pattern prints; here the text tells which call wrote it.
A message is known where the call has it, where a variable got it shortly before, or where the caller of a function
that logs its parameter has it. Everything else in it matches anything; the call with most literal text wins.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cutset.model.reproduction import LogRecord
from cutset.reproduce.loggers import LEVELS, OWN_KEYWORDS, is_logging, logger_name, logger_names, message_slot
from cutset.reproduce.messages import brace_parts, joined, percent_parts
from cutset.reproduce.syntax import EventKind, Parts, Program, Write

_WRAPPERS = 3  # functions that log through functions that log
_VARIANTS = 6  # texts that one variable may have
_PREFIX = 3  # characters by which statements are found
_CONFUSABLE = 4  # a message of fewer known characters than this is any message
_SAME_LEVEL = {"WARN": "WARNING", "FATAL": "CRITICAL", "ERR": "ERROR", "CRIT": "CRITICAL"}


@dataclass(frozen=True, slots=True)
class LogStatement:
    key: str  # module:line
    event: int  # of the program
    module: str
    function: str
    line: int
    level: str  # "" if it is not known
    logger: str  # likewise
    pattern: re.Pattern[str]
    literals: tuple[str, ...]
    anchored: bool  # the first literal begins the message
    has_exception: bool

    @property
    def specificity(self) -> int:
        return sum(map(len, self.literals))


@dataclass(frozen=True, slots=True)
class StatementIndex:
    by_prefix: Mapping[str, tuple[LogStatement, ...]]
    floating: tuple[LogStatement, ...]  # whose message does not begin with known text


def log_statements(program: Program, *, prints: bool = False) -> list[LogStatement]:
    writes: dict[tuple[int, str], list[Write]] = defaultdict(list)
    for write in program.writes:
        if (write.parts or write.adds) and len(write.target) == 1:
            writes[program.places[write.place].function, write.name].append(write)
    found: list[LogStatement] = []
    relays: dict[tuple[int, str], _Relay] = {}
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
                relays[event.function, named[0]] = _Relay(_level(program, index), _shows_exception(program, index))
        level = _level(program, index)
        found.extend(
            _statement(program, index, _formatted(program, index, slot, parts), level, logger or "")
            for parts in variants or [(None,)]
        )
    return found + _relayed(program, relays)


def _variants(before: list[Write]) -> list[Parts]:
    """The texts that a variable may have, by the assignments above."""
    grown: list[str | None] = [None] if any(write.adds for write in before) else []
    return [joined([*write.parts, *grown]) for write in before[-_VARIANTS:] if not write.adds]


@dataclass(frozen=True, slots=True)
class _Relay:
    """A function that logs one of its parameters."""

    level: str
    has_exception: bool


def _relayed(program: Program, relays: dict[tuple[int, str], _Relay]) -> list[LogStatement]:
    found: list[LogStatement] = []
    for _ in range(_WRAPPERS):
        if not relays:
            break
        functions: dict[int, list[tuple[str, _Relay]]] = defaultdict(list)
        for (function, parameter), relay in relays.items():
            functions[function].append((parameter, relay))
        relays = {}
        for index, event in enumerate(program.events):
            for callee in program.callees[index]:
                for parameter, relay in functions.get(callee, ()):
                    slot = _slot(program, callee, parameter)
                    text = next((parts for at, parts in event.texts if at in (slot, parameter)), None)
                    named = next((chain for at, chain in event.passed if at in (slot, parameter)), ("",))
                    if text is not None:
                        parts = _formatted(program, index, slot, text)
                        one = _statement(program, index, parts, relay.level, "")
                        found.append(replace(one, has_exception=one.has_exception or relay.has_exception))
                    elif len(named) == 1 and named[0] in program.functions[event.function].parameters:
                        relays[event.function, named[0]] = relay
    return found


def _slot(program: Program, function: int, parameter: str) -> int:
    row = program.functions[function]
    return row.parameters.index(parameter) - (row.owner >= 0 and ("staticmethod",) not in row.decorators)


def _formatted(program: Program, index: int, slot: int | str, parts: Parts) -> Parts:
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


def _level(program: Program, index: int) -> str:
    event = program.events[index]
    level = LEVELS.get(event.chain[-1], "")
    if not level and message_slot(event) == 1:
        given = next((chain[-1] for slot, chain in event.passed if slot == 0), "")
        level = _normal_level(given)
    return level if level in set(LEVELS.values()) else ""


def _normal_level(level: str) -> str:
    return _SAME_LEVEL.get(level.upper(), level.upper())


def _shows_exception(program: Program, index: int) -> bool:
    event = program.events[index]
    return event.chain[-1] == "exception" or "exc_info" in event.keywords


def _statement(program: Program, index: int, parts: Parts, level: str, logger: str) -> LogStatement:
    event = program.events[index]
    function = program.functions[event.function]
    pattern, literals, anchored = _pattern(parts)
    return LogStatement(
        key=f"{function.module}:{event.line}",
        event=index,
        module=function.module,
        function=function.name,
        line=event.line,
        level=level,
        logger=logger,
        pattern=pattern,
        literals=literals,
        anchored=anchored,
        has_exception=_shows_exception(program, index),
    )


def _pattern(parts: Parts) -> tuple[re.Pattern[str], tuple[str, ...], bool]:
    """Unknown parts match as little as possible and are never tried again (atomic groups): linear in the message."""
    known = list(parts)
    if known and known[0] is not None:
        known[0] = known[0].lstrip()
    if known and known[-1] is not None:
        known[-1] = known[-1].rstrip()
    known = list(joined(known))
    literals = tuple(part for part in known if part is not None)
    anchored = bool(known) and known[0] is not None
    source = r"\s*"
    for position, part in enumerate(known):
        if part is None:
            continue
        literal = re.escape(part)
        if position == 0:
            source += literal
        elif position == len(known) - 1:
            source += ".*" + literal
        else:
            source += f"(?>.*?{literal})"
    if known and known[-1] is None:
        source += ".*"
    return re.compile(source + r"\s*", re.DOTALL), literals, anchored


# -- recognising -------------------------------------------------------------------------------------------------------


def index_statements(statements: Iterable[LogStatement]) -> StatementIndex:
    by_prefix: dict[str, list[LogStatement]] = defaultdict(list)
    floating = []
    for statement in statements:
        if statement.anchored and len(statement.literals[0]) >= _PREFIX:
            by_prefix[statement.literals[0][:_PREFIX]].append(statement)
        else:
            floating.append(statement)
    return StatementIndex({prefix: tuple(found) for prefix, found in by_prefix.items()}, tuple(floating))


def match(record: LogRecord, statements: StatementIndex) -> LogStatement | None:
    """The call that wrote the record: of those that fit, the one with most known text."""
    best, best_rank = None, (False, -1, False)
    message = record.message.strip()
    first_line = message.partition("\n")[0].rstrip()
    level = _normal_level(record.level)
    for statement in (*statements.by_prefix.get(message[:_PREFIX], ()), *statements.floating):
        same_logger = _same_logger(record.logger, statement.logger)
        if same_logger is False or (level and statement.level and level != statement.level):
            continue
        rank = (statement.specificity >= _CONFUSABLE, statement.specificity, bool(same_logger))
        if rank <= best_rank or not (rank[0] or same_logger):
            continue
        if all(literal in message for literal in statement.literals) and (
            statement.pattern.fullmatch(message) or statement.pattern.fullmatch(first_line)
        ):
            best, best_rank = statement, rank
    return best


def _same_logger(record: str, statement: str) -> bool | None:
    """None if one of them is not known. Loggers of instances are often below that of their module."""
    if not record or not statement:
        return None
    return record == statement or record.startswith(f"{statement}.")
