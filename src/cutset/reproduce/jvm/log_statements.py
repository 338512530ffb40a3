"""The program's logging calls as patterns, and which of them wrote a record.

Many layouts print where a statement is, as `Class@line`, `Class(line)`, `File.java:line` or `(File.java:method(line))`:
the statement there is the one, if its text fits. Otherwise the text tells, and the logger, whose name is abbreviated in
many ways: `o.a.z.server.Foo`, `server.Foo`, `Foo`. Some programs' loggers put a prefix before each message.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.tables import FILLED_IN, JvmProgram, JvmStatement, dotted, simple
from cutset.reproduce.logs.levels import usual_level
from cutset.reproduce.logs.statements import (
    LogStatement,
    StatementIndex,
    index_statements,
    joined,
    says,
    statement_of,
    statements_of,
)

_PREFIX = 200  # characters that may come before a message, in which brackets end
_PREFIXES = 3  # one after the other
_PLACE = re.compile(
    r"(?P<logger>[\w.$~-]*?)(?P<file>(?<![\w$])[\w$-]+\.(?:java|scala|kt|groovy|clj))?(?:@|:|\()(?P<line>\d+)\)?"
    r"|(?P<name>[\w.$~-]+) \((?P<source>[\w$-]+\.\w+):[^()]+\((?P<number>\d+)\)\)"
    r"|(?P<type>[\w.$]+)\.[\w$<>]+\((?P<of>[\w$-]+\.\w+):(?P<at>\d+)\)"  # as in stack traces
)


@dataclass(frozen=True, slots=True)
class LogStatements:
    by_text: StatementIndex
    by_place: Mapping[tuple[str, int], tuple[LogStatement, ...]]  # by source file without its ending, and line
    loggers: Mapping[str, tuple[str, ...]]  # whole names, by their last parts


def log_statements(program: JvmProgram, *, prints: bool = False) -> LogStatements:
    """`prints`: what goes to System.out and System.err is log, too."""
    found = [
        statement
        for row, each in enumerate(program.statements)
        if each.level or prints
        for statement in _statements(program, row, each)
    ]
    places: dict[tuple[str, int], list[LogStatement]] = defaultdict(list)
    loggers: dict[str, dict[str, None]] = defaultdict(dict)
    for statement in found:
        row = program.statements[statement.event]
        places[PurePosixPath(program.functions[row.method].path).stem, row.line].append(statement)
        if statement.logger:
            loggers[statement.logger.rpartition(".")[2]][statement.logger] = None
    return LogStatements(
        index_statements(found),
        {place: tuple(there) for place, there in places.items()},
        {last: tuple(names) for last, names in loggers.items()},
    )


def _statements(program: JvmProgram, row: int, statement: JvmStatement) -> list[LogStatement]:
    parts = joined([part for text in statement.template.split(FILLED_IN) for part in (text, None)][:-1])
    level, logger = usual_level(statement.level), dotted(statement.logger)
    context = program.functions[statement.method].context
    return statements_of(statement.key, row, level, logger, parts, said_in=context, is_print=not statement.level)


def written_by(record: LogRecord, statements: LogStatements) -> LogStatement | None:
    logger, stem, line = _place(record.logger)
    for statement in statements.by_place.get((stem, line), ()):
        if says(statement, record.message):
            return statement
    whole = _whole_name(logger, statements.loggers)
    # What comes with a place may be the class, which is not always what its logger is called.
    named = replace(record, logger="" if line and whole == logger else whole)
    for message in _without_prefixes(record.message):
        if found := statement_of(replace(named, message=message), statements.by_text):
            return found
    # Another version may say it at another level.
    found = statement_of(replace(named, level=""), statements.by_text)
    return found if found and found.logger and found.logger == named.logger else None


def _place(logger: str) -> tuple[str, str, int]:
    """The logger's own name, and the place that comes with it: a source file without its ending, and a line."""
    found = _PLACE.fullmatch(logger)
    if not found:
        return logger, "", 0
    name = (found["name"] or found["type"] or found["logger"] or "").rstrip(".")
    file = found["source"] or found["of"] or found["file"]
    stem = file.rpartition(".")[0] if file else simple(name).partition("$")[0]
    return name, stem, int(found["number"] or found["at"] or found["line"])


def _whole_name(logger: str, known: Mapping[str, Sequence[str]]) -> str:
    """Empty if it may be several: then the text alone tells."""
    last = logger.rpartition(".")[2]
    names = known.get(last, ())
    if logger in names:
        return logger
    fitting = [name for name in names if _abbreviates(logger, name)]
    if len(fitting) == 1:
        return fitting[0]
    return "" if fitting else logger


def _abbreviates(logger: str, name: str) -> bool:
    short, whole = logger.split("."), name.split(".")
    return len(short) <= len(whole) and all(
        one == other or other.startswith(one) or one == "~"
        for one, other in zip(reversed(short), reversed(whole), strict=False)
    )


def _without_prefixes(message: str) -> Iterator[str]:
    yield message
    end = 0
    for _ in range(_PREFIXES):
        end = message.find("] ", end, _PREFIX) + 2
        if end < 2:
            return
        yield message[end:]
