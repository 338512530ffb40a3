"""Reads logs of any common format into records, and makes messages of different runs comparable (ANDURIL §5.1.1).

The format is found by the share of lines that it explains. What it does not explain is tried with the other formats
that the log has, as several programs often write to one file.

A line that starts no record belongs to the record before, if it is blank, indented, part of a traceback, or if that
record's message is visibly unfinished. All else is plain output (`print`, warnings, uncaught exceptions): records
without logger. What a traceback looks like is the dialect's to tell; the decoration of its test runner goes first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, takewhile

import orjson

from cutset.errors import InputError, UsageError
from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.dialect import LogDialect, NumberedLine

_SAMPLE = 5_000  # lines that decide on the format
_DOMINANT = 0.8  # of the lines that any format explains: a stricter format that explains fewer does so by accident
_FOLDED = 5  # lines between a log message and its traceback that are taken for more of the message

_LEVELS = "TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARNING|WARN|ERROR|ERR|CRITICAL|FATAL|SEVERE"
_SYNONYMS = {"WARN": "WARNING", "ERR": "ERROR", "FATAL": "CRITICAL", "SEVERE": "ERROR"}
_LETTERS = {"D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "CRITICAL"}
_NUMBERS = {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}
_HARMLESS = {"", "TRACE", "DEBUG", "INFO", "NOTICE", "SUCCESS"}

_CLOCK = r"\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = (
    rf"(?:\d{{4}}[-/.]\d\d[-/.]\d\d(?:[T_ ]|, ){_CLOCK}|{_CLOCK}|\d{{10}}(?:\.\d{{1,9}}|\d{{3}})?"
    rf"|{_MONTH} [ \d]\d (?:\d{{4}} )?{_CLOCK}|\d\d[/ ]{_MONTH}[/ ]\d{{4}}[: ]{_CLOCK})"
)
_LEVEL = rf"(?P<level>{_LEVELS}|(?<=\[)(?i:{_LEVELS})(?=[ \]]))"
_DOTTED = r"(?P<logger>[A-Za-z_][\w-]*(?:\.[\w<>-]+)+)"

# A format is words with something between them: a blank, or one of - | : , with blanks.
_GAP = r"[ \t]{1,50}"  # has a bound, like all repetitions that could meet: time stays linear in a line's length
_BETWEEN = rf"(?:(?:{_GAP})?[-|:;,]{{1,3}}{_GAP}|{_GAP})"
_AFTER_NAME = rf"(?:(?:{_GAP})?:(?:{_GAP}|$)|{_GAP}[-|]{_GAP})"
_WORDS = {
    "time": rf"\[?{_TIME}\]?",
    "level": rf"(?:[\[(<] {{0,9}})?{_LEVEL}(?: {{0,9}}[\])>])?",
    "level:": rf"\[?{_LEVEL}\]?:{_GAP}",
    "[thread]": r"\[(?P<thread>[^\]]*)\]",
    "(thread)": r"\((?P<thread>[^)]*)\)",
    "[thread:class@line]": r"\[(?P<thread>.*):(?P<logger>[^\s:@\]]+@\d+)\]",
    "[id]": r"\[\w+:[^\]]*\]",
    "process": r"\[?(?P<process>\d{1,10})\]?",
    "logger": r"(?P<logger>[^\s:|\[\]{}\"]+)",
    "logger:": r"(?P<logger>[^\s:|\[\]{}\"]+)" + _AFTER_NAME,
    "dotted": _DOTTED,
    "[dotted]": rf"\[{_DOTTED}\]",
    "[logger]": r"\[(?P<logger>[^\]\s]+)\]",
    "logger:function:line": r"(?P<logger>[\w.<>]+):[\w.<>]+:\d+",
    "logger:file:line": r"(?P<logger>[^\s:]+):[^\s:]+\.py:\d+",
    "message": r"(?P<message>.*)",
}
_LAYOUTS = (  # strict before loose
    "time [id] level [thread:class@line] message",
    "time level [thread:class@line] message",
    "time level process [thread] logger: message",
    "time level [thread] logger: message",
    "time [thread] level logger: message",
    "time level (thread) [logger] message",
    "time level logger:function:line message",
    "time process level dotted message",
    "time level [dotted] message",
    "time [logger] level: message",
    "time logger level message",
    "time level logger: message",
    "time level [thread] message",
    "time process level message",
    "time level message",
    "level logger:file:line message",
    "level [dotted] message",
    "level: message",
)
_LOOSE_LAYOUTS = ("level time message", "level message", "time message")  # only where they explain most of a log
_OTHER_PATTERNS = (
    rf"\[{_TIME}: {_LEVEL}/(?P<process>[^\]]+)\] (?P<message>.*)",  # Celery
    rf"\[{_TIME}\] {_LEVEL} in (?P<logger>[\w.]+): (?P<message>.*)",  # Flask
    rf"\[{_TIME}\] \{{[^}}]+\}} {_LEVEL} - (?P<message>.*)",  # Airflow
    r"\[(?P<level>[DIWEC]) \d{6} \d\d:\d\d:\d\d (?P<logger>[\w.]+):\d+\] (?P<message>.*)",  # Tornado
    r"(?P<level>[IWEF])\d{4} [\d:.]+ +(?P<thread>\d+) [\w./-]+:\d+\] (?P<message>.*)",  # glog
    rf"{_MONTH} [ \d]\d {_CLOCK} \S+ (?P<logger>[^\s:\[\]]+)(?:\[(?P<process>\d+)\])?: (?P<message>.*)",  # syslog
    rf"(?P<level>{_LEVELS}):(?P<logger>[^\s:]+):(?P<message>.*)",  # logging.BASIC_FORMAT
)

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_UNFINISHED = (",", ":", "(", "[", "{", "\\", " ")  # at the end of a line: more of the message follows
_NAME_AT_END = re.compile(r"(?<! ) +\[(?P<logger>[\w.]+)\](?=$| [\w.]+=)")  # structlog's console: after the event
_PAIR = re.compile(r"""(?<![\w.])([A-Za-z_][\w.]*)=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']\S*|)(?=\s|$)""")

_MESSAGE_KEYS = ("message", "msg", "event", "body", "text", "log")
_LEVEL_KEYS = ("level", "levelname", "severity", "log.level", "level_name", "lvl", "levelno")
_LOGGER_KEYS = ("logger", "name", "logger_name", "log.logger", "module")
_THREAD_KEYS = ("thread", "threadName", "thread_name", "taskName", "task", "process.thread.name")
_PROCESS_KEYS = ("processName", "process_name", "pid", "process", "process.pid")
_TRACEBACK_KEYS = ("exc_info", "exception", "traceback", "exc_text", "stack", "error.stack_trace", "stack_trace")


@dataclass(slots=True)
class _Draft:
    """A record while its lines are being read."""

    line: int
    logged: bool  # starts with what a format asks for; else it is plain output
    thread: str = ""
    logger: str = ""
    level: str = ""
    message: list[str] = field(default_factory=list)
    traceback: list[str] = field(default_factory=list)


_Format = Callable[[str, int], _Draft | None]


def read_log(log: str | Iterable[str], pattern: str | None = None, *, dialect: LogDialect) -> list[LogRecord]:
    """The records of a log, in order; `pattern` is a regular expression whose named groups are fields of a record."""
    text = log.split("\n") if isinstance(log, str) else log
    lines = [_ANSI.sub("", line.rstrip("\r\n")) for line in text]
    if isinstance(log, str) and lines and not lines[-1]:
        lines.pop()  # what follows the last line's end is no line
    numbered = dialect.undecorated(lines)
    plain = [line for _, line in numbered]
    formats = _formats_of(plain) if pattern is None else _users_format(pattern, plain)
    return [
        LogRecord(
            line=draft.line,
            thread=draft.thread,
            logger=draft.logger,
            level=draft.level,
            message="\n".join(draft.message).rstrip(),
            traceback=tuple(draft.traceback),
            raised=dialect.raised(draft.traceback) if draft.traceback else "",
        )
        for draft in _drafts(numbered, formats, dialect)
    ]


def _users_format(pattern: str, lines: Sequence[str]) -> list[_Format]:
    try:
        regex = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"The log pattern is no regular expression: {error}: {pattern!r}") from error
    if "message" not in regex.groupindex:
        raise UsageError(
            f"The log pattern has no group named `message`: {pattern!r}",
            hint="Name its groups: (?P<message>…), and if the log has them (?P<level>…), (?P<logger>…), (?P<thread>…)",
        )
    if lines and not any(regex.match(line) for line in lines):
        raise InputError(
            f"The log pattern matches none of {len(lines)} lines; the first is {lines[0][:120]!r}",
            hint="A pattern is matched from the start of a line; without one the format is found by itself",
        )
    return [partial(_by_pattern, regex)]


def _formats_of(lines: Sequence[str]) -> list[_Format]:
    """The formats that the log has, in the order in which a line should be tried with them."""
    step = len(lines) // _SAMPLE + 1
    sample = [line for line in lines[::step] if line and not line[0].isspace()]
    explained = {form: {number for number, line in enumerate(sample) if form(line, 0)} for form in _FORMATS}
    strict = [form for form in _FORMATS if explained[form] and form not in _LOOSE]
    anyhow = len(set().union(*explained.values()))
    for form in _FORMATS:
        if explained[form] and len(explained[form]) >= _DOMINANT * anyhow:
            return [form, *(other for other in strict if other is not form)]
    return strict


def _drafts(lines: Iterable[NumberedLine], formats: Sequence[_Format], dialect: LogDialect) -> list[_Draft]:
    drafts: list[_Draft] = []
    inside = False  # a traceback
    formatted = bool(formats)
    for number, line in lines:
        if draft := next((draft for form in formats if (draft := form(line, number))), None):
            drafts.append(draft)
            inside = False
        elif (thread := dialect.uncaught(line)) is not None:
            drafts.append(_Draft(number, logged=False, thread=thread, message=[line]))
            inside = False
        elif inside and dialect.continues_trace(drafts[-1].traceback, line, formatted=formatted):
            drafts[-1].traceback.append(line)
        elif dialect.begins_trace(line):
            _owner_of_traceback(drafts, number, dialect).traceback.append(line)
            inside = True
        elif drafts and (not line.strip() or line[0].isspace() or _is_unfinished(drafts[-1])):
            drafts[-1].message.append(line)
            inside = False
        elif line.strip():
            drafts.append(_Draft(number, logged=False, message=[line]))
            inside = False
    return drafts


def _owner_of_traceback(drafts: list[_Draft], number: int, dialect: LogDialect) -> _Draft:
    """The record that a traceback belongs to: the message before it, unless that is no cause for one.

    After a harmless message, or one that has its traceback already, it is more likely that of an uncaught exception,
    which is an event of its own. asyncio's messages have further lines before the traceback.
    """
    plain = list(takewhile(lambda draft: not draft.logged and not draft.traceback, reversed(drafts[-_FOLDED - 1 :])))
    before = drafts[-len(plain) - 1] if len(drafts) > len(plain) else None
    if plain and (dialect.uncaught(plain[0].message[0]) is not None or plain[0].message[0].endswith(":")):
        return plain[0]
    if before and len(plain) <= _FOLDED and before.logged and before.level not in _HARMLESS and not before.traceback:
        before.message += [line for draft in reversed(plain) for line in draft.message]
        del drafts[len(drafts) - len(plain) :]
        return before
    drafts.append(_Draft(number, logged=False))
    return drafts[-1]


def _is_unfinished(draft: _Draft) -> bool:
    last = draft.message[-1] if draft.message else ""
    return draft.logged and not draft.traceback and last.endswith(_UNFINISHED)


def _by_pattern(regex: re.Pattern[str], line: str, number: int) -> _Draft | None:
    found = regex.match(line)
    if not found:
        return None
    fields = {name: value.strip() if value else "" for name, value in found.groupdict().items() if name != "message"}
    message, logger = found["message"] or "", fields.get("logger", "")
    if not logger and (named := _NAME_AT_END.search(message)):
        message, logger = message[: named.start()] + message[named.end() :], named["logger"]
    return _Draft(
        number,
        logged=True,
        thread=_thread(fields.get("process", ""), fields.get("thread", "")),
        logger=logger,
        level=_level(fields.get("level", "")),
        message=[message],
    )


def _json_line(line: str, number: int) -> _Draft | None:
    if not (line.startswith("{") and line.rstrip().endswith("}")):
        return None
    try:
        return _by_keys(orjson.loads(line), number)
    except orjson.JSONDecodeError:
        return None


def _key_value_line(line: str, number: int) -> _Draft | None:
    if "=" not in line:
        return None
    pairs = {key: value[1:-1] if value[:1] in {'"', "'"} else value for key, value in _PAIR.findall(line)}
    return _by_keys(pairs, number) if any(key in pairs for key in _LEVEL_KEYS) and _PAIR.match(line) else None


def _by_keys(record: dict[str, object], number: int) -> _Draft | None:
    message = _value(record, _MESSAGE_KEYS)
    if not message:
        return None
    traceback = _value(record, _TRACEBACK_KEYS)
    return _Draft(
        number,
        logged=True,
        thread=_thread(_value(record, _PROCESS_KEYS), _value(record, _THREAD_KEYS)),
        logger=_value(record, _LOGGER_KEYS),
        level=_level(_value(record, _LEVEL_KEYS)),
        message=message.rstrip("\n").split("\n"),
        traceback=traceback.rstrip("\n").split("\n") if "\n" in traceback else [],
    )


def _value(record: dict[str, object], keys: Sequence[str]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str | int | float) and value != "" and not isinstance(value, bool):
            return str(value)
    return ""


def _level(text: str) -> str:
    level = text.upper()
    if level.isdecimal() and level.isascii():
        return _NUMBERS.get(int(level[:4]), level)
    return _SYNONYMS.get(level) or _LETTERS.get(level) or level


def _thread(process: str, thread: str) -> str:
    return f"{process}/{thread}" if process and thread else process or thread


def _compiled(layout: str) -> re.Pattern[str]:
    words = layout.split(" ")
    parts = [_WORDS[words[0]]]
    for before, word in pairwise(words):
        parts.append(("" if before.endswith(":") else _BETWEEN) + _WORDS[word])
    return re.compile("".join(parts))


def _all_formats() -> Iterator[_Format]:
    yield _json_line
    yield _key_value_line
    for pattern in _OTHER_PATTERNS:
        yield partial(_by_pattern, re.compile(pattern))
    for layout in _LAYOUTS:
        yield partial(_by_pattern, _compiled(layout))
    yield from _LOOSE


_LOOSE = tuple(partial(_by_pattern, _compiled(layout)) for layout in _LOOSE_LAYOUTS)
_FORMATS = tuple(_all_formats())

# What differs between two runs that do the same. One placeholder for all, as what looks like a number in one run may
# look like a word in the next.
_VARIABLE = re.compile(
    r"""
    (?<!\w)(?:"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}'|`[^`\n]{0,300}`)(?!\w)   # quoted
    | \b[A-Za-z][\w+.-]{0,15}://[^\s"'<>]+                                  # address
    | (?<![\w/.~])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s"'<>:,;()\[\]{}]+      # path
    | \b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*                                   # user at host
    | \b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b              # UUID: parts of it may have no digit
    | \b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\b                             # MAC
    | \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?[ ](?=[\w ]{0,5}\d)      # of a time
    | \b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ ](?=\d)
    | (?:(?<=\d[ ])|(?<=\*[ ]))(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b
    | (?<![\w*])[-+](?=[.]?\d)                                              # sign
    | \b[^\W\d]*\d\w*                                                       # number, size, identifier
    """,
    re.VERBOSE,
)
_REPEATED = re.compile(r"\*(?:[\s,;:./+_%-]*\*)+")


def sanitise(message: str) -> str:
    """The message with one `*` for each part that may differ from run to run, or for a row of such parts."""
    return _REPEATED.sub("*", _VARIABLE.sub("*", message))
