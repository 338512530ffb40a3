"""Log statements of a program as patterns that recognise their lines (ANDURIL §5.1.2).

ANDURIL compares log entries by the class and line that its log pattern prints; here the text tells which call wrote it.
What of a message is not known before the program runs matches anything; the call with most literal text wins.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.levels import contradict

_PREFIX = 3  # characters by which statements are found
_CONFUSABLE = 4  # a message of fewer known characters than this is any message

Parts = tuple[str | None, ...]  # of a text; None where it is not known before the program runs


@dataclass(frozen=True, slots=True)
class LogStatement:
    key: str  # module:line
    event: int  # its row in the tables of the program
    level: str  # "" if it is not known
    logger: str  # likewise
    pattern: re.Pattern[str]
    literals: tuple[str, ...]
    anchored: bool  # the first literal begins the message
    said_in: str = ""  # its function, as calling contexts name it

    @property
    def specificity(self) -> int:
        return sum(map(len, self.literals))


@dataclass(frozen=True, slots=True)
class StatementIndex:
    by_prefix: Mapping[str, tuple[LogStatement, ...]]
    floating: tuple[LogStatement, ...]  # whose message does not begin with known text


def joined(parts: Iterable[str | None]) -> Parts:
    """Neighbouring texts are one text, neighbouring unknowns are one unknown."""
    out: list[str | None] = []
    for part in parts:
        if part == "":
            continue
        if part is None:
            if not out or out[-1] is not None:
                out.append(None)
        elif out and out[-1] is not None:
            out[-1] += part
        else:
            out.append(part)
    return tuple(out)


def statements_of(
    key: str, event: int, level: str, logger: str, parts: Parts, *, said_in: str, is_print: bool
) -> list[LogStatement]:
    """One; of what is printed one for each line, since there nothing tells where an entry begins."""
    return [
        LogStatement(f"{key}+{number}" if number else key, event, level, logger, *pattern_of(line), said_in=said_in)
        for number, line in enumerate(_lines_of(parts) if is_print else [parts])
    ]


def _lines_of(parts: Parts) -> list[Parts]:
    """Those with words; all of it, if none has any."""
    lines: list[list[str | None]] = [[]]
    for part in parts:
        if part is None:
            lines[-1].append(None)
            continue
        first, *others = part.split("\n")
        lines[-1].append(first)
        lines.extend([other] for other in others)
    return [joined(line) for line in lines if any(part and part.strip() for part in line)] or [parts]


def pattern_of(parts: Parts) -> tuple[re.Pattern[str], tuple[str, ...], bool]:
    """With its literals, and whether the first of them begins the message.

    Unknown parts match as little as possible and are never tried again (atomic groups): linear in the message.
    """
    from_the_start = joined(_without_blanks(joined(parts), str.lstrip))
    known = joined(_without_blanks(from_the_start[::-1], str.rstrip)[::-1])
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


def _without_blanks(parts: Sequence[str | None], strip: Callable[[str], str]) -> list[str | None]:
    """Messages are compared without blanks around them: those behind an unknown that is empty are gone, too.

    One space may stay, as a message is matched with one around it.
    """
    known = list(parts)
    if known and known[0] is not None:
        known[0] = strip(known[0])
        if known[0]:
            return known
        del known[0]
    while len(known) > 1:
        text = known[1] or ""
        if words := strip(text):
            known[1] = text if text.replace(words, "", 1) == " " else words
            break
        del known[1:3]  # and the unknown behind it
    return known


def index_statements(statements: Iterable[LogStatement]) -> StatementIndex:
    by_prefix: dict[str, list[LogStatement]] = defaultdict(list)
    floating = []
    for statement in statements:
        if statement.anchored and len(statement.literals[0]) >= _PREFIX:
            by_prefix[statement.literals[0][:_PREFIX]].append(statement)
        else:
            floating.append(statement)
    return StatementIndex({prefix: tuple(found) for prefix, found in by_prefix.items()}, tuple(floating))


def statement_of(record: LogRecord, statements: StatementIndex) -> LogStatement | None:
    """The call that wrote the record: of those that fit, the one with most known text."""
    best, best_rank = None, (False, -1, False)
    message = record.message.strip()
    texts = _texts(message)
    for statement in (*statements.by_prefix.get(message[:_PREFIX], ()), *statements.floating):
        same_logger = _same_logger(record.logger, statement.logger)
        if same_logger is False or contradict(record.level, statement.level):
            continue
        rank = (statement.specificity >= _CONFUSABLE, statement.specificity, bool(same_logger))
        if rank <= best_rank or not (rank[0] or same_logger):
            continue
        if _fits(statement, texts):
            best, best_rank = statement, rank
    return best


def says(statement: LogStatement, message: str) -> bool:
    """Whether it can have written a message."""
    return _fits(statement, _texts(message.strip()))


def _texts(message: str) -> tuple[str, str]:
    """All of it, and its first line; with spaces around, as what is logged between spaces may be nothing."""
    first_line = message.partition("\n")[0].rstrip()
    return f" {message} ", f" {first_line} "


def _fits(statement: LogStatement, texts: tuple[str, str]) -> bool:
    whole, first_line = texts
    return all(literal in whole for literal in statement.literals) and bool(
        statement.pattern.fullmatch(whole) or statement.pattern.fullmatch(first_line)
    )


def _same_logger(record: str, statement: str) -> bool | None:
    """None if one of them is not known. Loggers of instances are often below that of their module."""
    if not record or not statement:
        return None
    return record == statement or record.startswith(f"{statement}.")
