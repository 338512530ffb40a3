"""Formats of log lines, and which of them a case has: its failure log and its runs are read by the same ones.

A format is chosen by the share of lines that it explains, in all logs of the case together: chosen log by log, the same
line would be read in two ways, and be news. What the first does not explain is tried with the other formats that the
logs have, as several programs often write to one file.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise

from cutset.errors import InputError, UsageError
from cutset.reproduce.logs.fields import LoggedLine, json_line, key_value_line, thread_of
from cutset.reproduce.logs.levels import LEVELS, usual_level

_SAMPLE = 5_000  # lines of a log that decide on its formats
_DOMINANT = 0.8  # of the lines that any format explains: a stricter format that explains fewer does so by accident
_COMMON = 0.5  # of them: what explains as many does not do so by accident; other lines may be of longer messages
_ACCIDENT = 0.2  # of them: what explains fewer may do so by accident

_NAMES = "|".join(sorted(LEVELS, key=len, reverse=True))
_LEVEL = rf"(?P<level>(?:{_NAMES})\b|(?<=\[)(?i:{_NAMES})(?=[ \]]))"
_OWN_LEVEL = r"(?P<level>[A-Z][A-Z_]{1,14}\b|Level \d{1,3}\b)"  # by `logging.addLevelName`, or without it

_CLOCK = r"\d\d?:\d\d:\d\d(?:[.,]\d{1,9}|:\d{3})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = (
    rf"(?:\d{{4}}[-/.]\d\d[-/.]\d\d(?:[T_ ]|, ){_CLOCK}|{_CLOCK}|\d{{10}}(?:\.\d{{1,9}}|\d{{3}})?"
    rf"|{_MONTH} [ \d]\d (?:\d{{4}} )?{_CLOCK}|\d\d[/ -]{_MONTH}[/ -]\d{{4}}[: ]{_CLOCK}|\d\d/\d\d/\d\d {_CLOCK})"
)
_DOTTED = r"(?P<logger>[A-Za-z_][\w-]*(?:\.[\w<>-]+)+)"

# A format is words with something between them: a blank, or one of - | : , with blanks.
_GAP = r"[ \t]{1,50}"  # has a bound, like all repetitions that could meet: time stays linear in a line's length
_BETWEEN = rf"(?:(?:{_GAP})?[-|:;,]{{1,3}}{_GAP}|{_GAP})"
_AFTER_NAME = rf"(?:(?:{_GAP})?:(?:{_GAP}|$)|{_GAP}[-|]{{1,2}}{_GAP})"
_WORDS = {
    "time": rf"\[?{_TIME}\]?",
    "level": rf"(?:[\[(<] {{0,9}})?{_LEVEL}(?: {{0,9}}[\])>])?",
    "level:": rf"\[?{_LEVEL}\]?:{_GAP}",
    "[thread]": r"\[(?P<thread>(?:[^\[\]]|\[[^\[\]]*\])*)\]",  # as in `[client[3b6ddd1d]-io-3]`
    "(thread)": r"\((?P<thread>[^)]*)\)",
    "[thread:class@line]": r"\[(?P<thread>.*):(?P<logger>[^\s:@\]]+@\d+)\]",
    "[thread:place]": r"\[(?P<thread>[^\]]*):[^\s:@\]]+@\d+\]",
    "[id]": r"\[\w+:[^\]]*\]",
    "[any]": r"\[[^\]]*\]",
    "number": r"\d{1,12}",  # milliseconds since the start
    "process": r"\[?(?P<process>\d{1,10})\]?",
    "logger": r"(?P<logger>[^\s:|\[\]{}\"]+)",
    "logger:": r"(?P<logger>[^\s:|\[\]{}\"]+)" + _AFTER_NAME,
    "dotted": _DOTTED,
    "[dotted]": rf"\[{_DOTTED}\]",
    "[logger]": r"\[(?P<logger>[^\]\s]+)\]",
    "logger:function:line": r"(?P<logger>[\w.<>]+):[\w.<>]+:\d+",
    "logger:file:line": r"(?P<logger>[^\s:]+):[^\s:]+\.py:\d+",
    # Of the JVM, where the place of a statement is part of its logger's name.
    "logger(file:method(line))": r"(?P<logger>[\w.$]+ \([\w$-]+\.\w+:[\w$<>]+\(\d+\)\))",
    "logger(line):": rf"(?P<logger>[\w.$]+\(\d+\)){_AFTER_NAME}",
    "file:line": r"(?P<logger>[\w$-]+\.(?:java|scala|kt|groovy):\d+)",
    "logger:line": r"(?P<logger>[A-Za-z_][\w.$]*:\d+)",
    "message": r"(?P<message>.*)",
}
_LAYOUTS = (  # strict before loose
    "time [id] level [thread:class@line] message",
    "time level [thread:class@line] message",
    "level [thread] time file:line message",
    "time [thread] level logger(file:method(line)) message",
    "time level [thread] logger(file:method(line)) message",
    "time level logger(file:method(line)) message",
    "time [thread] level logger:line message",
    "time level [thread] logger(line): message",
    "time level [dotted] (thread) message",
    "time [thread:place] level logger: message",
    "time level process [any] [thread] logger: message",
    "time level dotted [thread] message",
    "time level process [thread] logger: message",
    "time level [thread] logger: message",
    "time [thread] level logger: message",
    "number [thread] level logger: message",
    "[thread] level logger: message",
    "time level [thread] dotted message",
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
    "level time [thread] logger: message",
    "level time logger: message",
    "level logger:file:line message",
    "level [dotted] message",
    "level: message",
)
_LOOSE_LAYOUTS = ("level time message", "level message", "time message")  # only where they explain most of each log
_OTHER_PATTERNS = (
    rf"\[{_TIME}: {_LEVEL}/(?P<process>[^\]]+)\] (?:[\w.]+\[[0-9a-f-]{{36}}\]: )?(?P<message>.*)",  # Celery, its tasks
    rf"\[{_TIME}\] {_LEVEL} in (?P<logger>[\w.]+): (?P<message>.*)",  # Flask
    rf"\[{_TIME}\] \{{[^}}]+\}} {_LEVEL} - (?P<message>.*)",  # Airflow
    r"\[(?P<level>[DIWEC]) \d{6} \d\d:\d\d:\d\d (?P<logger>[\w.]+):\d+\] (?P<message>.*)",  # Tornado
    r"(?P<level>[IWEF])\d{4} [\d:.]+ +(?P<thread>\d+) [\w./-]+:\d+\] (?P<message>.*)",  # glog
    rf"{_MONTH} [ \d]\d {_CLOCK} \S+ (?P<logger>[^\s:\[\]]+)(?:\[(?P<process>\d+)\])?: (?P<message>.*)",  # syslog
    rf"{_LEVEL}:(?P<logger>[^\s:]+):(?P<message>.*)",  # logging.BASIC_FORMAT
    rf"\[{_TIME}\]\[{_LEVEL} *\]\[(?P<logger>[^\]\s]+) *\](?:{_GAP})?(?P<message>.*)",  # Elasticsearch
    rf"\[{_TIME}\] {_LEVEL} (?P<message>.*) \((?P<logger>[A-Za-z_][\w$-]*(?:\.[\w$-]+)+(?::\d+)?)\)",  # Kafka
    rf"{_TIME} \| {_LEVEL} *\| (?P<message>.*) \| (?P<logger>[\w.$]+) \| (?P<thread>[^|]*)",  # Karaf
    # Flume, as a stack trace has the place
    rf"{_TIME} \((?P<thread>[^)]{{1,200}})\) \[{_LEVEL} *- (?P<logger>[\w.$<>]+\([^()]{{1,200}}\))\] (?P<message>.*)",
    rf"{_MONTH} \d{{1,2}}, \d{{4}},? {_CLOCK}(?:\s[AP]M)? (?P<logger>\S+)(?: \S+)? {_LEVEL}: (?P<message>.*)",  # JUL
    rf"(?:\S{{1,99}} \S{{1,99}} \S{{1,99}} )?\[{_TIME}\] (?P<message>\"[A-Z]{{3,10}} .*)",  # requests: Django, gunicorn
)
_NAME_AT_END = re.compile(
    r"(?<! ) +\[(?P<logger>[A-Za-z_][\w.]*)\](?=$| [\w.]+=)"
)  # structlog's console: after the event

LogFormat = Callable[[str], LoggedLine | None]
LogFormats = Sequence[LogFormat]  # in the order in which a line should be tried with them


def choose_formats(logs: Iterable[Sequence[str]]) -> LogFormats:
    """By the lines of all logs of a case."""
    samples = [_sample(log) for log in logs]
    lines = [line for sample in samples for line in sample]
    explained = {form: {line for line in lines if form(line)} for form in (*_STRICT, *_LOOSE)}
    anyhow = set().union(*explained.values())

    def share(*forms: LogFormat, among: Sequence[str] = lines) -> float:
        of_all = sum(line in anyhow for line in among)
        found = set().union(*(explained[form] for form in forms))
        return sum(line in found for line in among) / of_all if of_all else 1.0

    strict = sorted((form for form in _STRICT if explained[form]), key=lambda form: share(form) < _COMMON)
    usual = [form for form in strict if share(form) >= _ACCIDENT]
    own_levels = [_WITH_OWN_LEVELS[form] for form in usual if form in _WITH_OWN_LEVELS]
    explained |= {form: {line for line in lines if form(line)} for form in own_levels}
    if share(*strict, *own_levels) >= _DOMINANT:
        return [*strict, *own_levels]
    loose = next((form for form in _LOOSE if all(share(form, among=each) >= _DOMINANT for each in samples)), None)
    if loose is None:
        return [*strict, *own_levels]
    return [*usual, loose, *(form for form in strict if form not in usual)]


def _sample(lines: Sequence[str]) -> list[str]:
    step = len(lines) // _SAMPLE + 1
    return [line for line in lines[::step] if line and not line[0].isspace()]


def users_format(pattern: str, lines: Sequence[str]) -> LogFormat:
    """A regular expression whose named groups are fields of a record."""
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
    return partial(_by_pattern, regex)


def _by_pattern(regex: re.Pattern[str], line: str) -> LoggedLine | None:
    found = regex.match(line)
    if not found:
        return None
    fields = {name: value.strip() if value else "" for name, value in found.groupdict().items() if name != "message"}
    message, logger = found["message"] or "", fields.get("logger", "")
    if not logger and (named := _NAME_AT_END.search(message)):
        message, logger = message[: named.start()] + message[named.end() :], named["logger"]
    thread = thread_of(fields.get("process", ""), fields.get("thread", ""))
    return LoggedLine(message, thread, logger, usual_level(fields.get("level", "")))


def _compiled(layout: str) -> str:
    words = layout.split(" ")
    parts = [_WORDS[words[0]]]
    for before, word in pairwise(words):
        parts.append(("" if before.endswith(":") else _BETWEEN) + _WORDS[word])
    return "".join(parts)


def _matching(pattern: str) -> LogFormat:
    return partial(_by_pattern, re.compile(pattern))


_PATTERNS = (*_OTHER_PATTERNS, *map(_compiled, _LAYOUTS))
_STRICT = (json_line, key_value_line, *map(_matching, _PATTERNS))
_LOOSE = tuple(_matching(_compiled(layout)) for layout in _LOOSE_LAYOUTS)
# A level of the program's own is one where the same format has a level that is known.
_WITH_OWN_LEVELS = {
    form: _matching(pattern.replace(_LEVEL, _OWN_LEVEL))
    for form, pattern in zip(_STRICT[2:], _PATTERNS, strict=True)
    if _LEVEL in pattern
}
