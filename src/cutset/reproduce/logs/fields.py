"""Log lines that name their fields, as JSON or as `key=value`: of structlog, loguru, log4j 2, logback, ECS, others.

What a record has beyond the usual fields is told after its message, on a line of its own: the message is still that of
its statement, and values tell one victim from another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from cutset.reproduce.logs.levels import usual_level

# By preference. `a.b` is `b` inside `a`.
_MESSAGE = ("formattedMessage", "message", "short_message", "msg", "event", "body", "text", "log", "textPayload")
_LEVEL = (
    "level",
    "levelname",
    "severity",
    "log.level",
    "level.name",
    "level_name",
    "lvl",
    "severity_text",
    "_level_name",
    "levelno",
)
_LOGGER = ("logger", "loggerName", "name", "logger_name", "log.logger", "_log_logger", "module")
_THREAD = (
    *("thread", "threadName", "thread_name", "thread.name", "taskName", "task", "process.thread.name"),
    "_process_thread_name",
)
_PROCESS = ("processName", "process_name", "pid", "process", "process.name", "process.pid")
_TRACEBACK = (
    *("exc_info", "exception", "traceback", "exc_text", "stack", "error.stack_trace", "stack_trace"),
    *("thrown", "throwable", "stackTrace", "_error_stack_trace"),
)
_USUAL = {*_MESSAGE, *_LEVEL, *_LOGGER, *_THREAD, *_PROCESS, *_TRACEBACK}
_ELSEWHERE = {  # when, where and by whom: another in each run, or of no interest
    *("timestamp", "@timestamp", "time", "ts", "asctime", "created", "msecs", "relativeCreated", "elapsed"),
    *("file", "filename", "pathname", "function", "funcName", "func_name", "line", "lineno", "thread_id", "processId"),
    *(
        "error",
        "error.type",
        "error.message",
        "service",
        "host",
        "hostname",
        "ecs",
        "ecs.version",
        "extra",
        "record",
        "stream",
        "resource",
    ),
    *(
        "instant",
        "endOfBatch",
        "loggerFqcn",
        "loggerClassName",
        "threadId",
        "threadPriority",
        "level_value",
        "@version",
    ),
    *("sequence", "sequenceNumber", "nanoseconds", "context", "hostName", "version", "full_message"),
}
_PAIR = re.compile(r"""(?<![\w.])([A-Za-z_][\w.]*)=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']\S*|)(?=\s|$)""")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}
_FRAMES = ("extendedStackTrace", "stepArray", "frames", "stackTrace")  # of an exception that is a record
_NOTHING: tuple[object, ...] = (None, {}, [])
_HEADER = "Traceback (most recent call last):"


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """A line that begins a record, by its fields."""

    message: str  # may have several lines
    thread: str = ""
    logger: str = ""
    level: str = ""
    traceback: tuple[str, ...] = ()


def json_line(line: str) -> LoggedLine | None:
    if not (line.startswith("{") and line.rstrip().endswith("}")):
        return None
    try:
        return _by_fields(orjson.loads(line))
    except orjson.JSONDecodeError:
        return None


def key_value_line(line: str) -> LoggedLine | None:
    if "=" not in line:
        return None
    pairs = {key: _unquoted(value) for key, value in _PAIR.findall(line)}
    return _by_fields(pairs) if any(key in pairs for key in _LEVEL) and _PAIR.match(line) else None


def _unquoted(value: str) -> str:
    if value[:1] not in {'"', "'"}:
        return value
    return _ESCAPED.sub(lambda escaped: _ESCAPES.get(escaped[1], escaped[1]), value[1:-1])


def _by_fields(record: Mapping[str, object]) -> LoggedLine | None:
    # Who ships records puts them into records of its own.
    inner = next((each for each in record.values() if isinstance(each, dict) and _is_whole(each)), record)
    others = [
        f"{key}={value}" for key, value in inner.items() if key not in _USUAL | _ELSEWHERE and value not in _NOTHING
    ]
    record = {**record, **inner}
    message = _text(record, _MESSAGE).rstrip("\n")
    if not message:
        return None
    return LoggedLine(
        "\n".join([message, " ".join(others)] if others else [message]),
        thread_of(_text(record, _PROCESS), _text(record, _THREAD)),
        _text(record, _LOGGER),
        usual_level(_text(record, _LEVEL)),
        tuple(_traceback(record)),
    )


def _is_whole(record: Mapping[str, object]) -> bool:
    return bool(_text(record, _MESSAGE) and _text(record, _LEVEL))


def thread_of(process: str, thread: str) -> str:
    return f"{process}/{thread}" if process and thread else process or thread


def _text(record: Mapping[str, object], keys: Iterable[str]) -> str:
    for key in keys:
        value = _value(record, key)
        if isinstance(value, str | int | float) and value != "" and not isinstance(value, bool):
            return str(value)
    return ""


def _value(record: Mapping[str, object], key: str) -> object:
    """Under its whole name, or inside another."""
    outer, _, inner = key.partition(".")
    if key in record or not inner:
        return record.get(key)
    within = record.get(outer)
    return _value(within, inner) if isinstance(within, dict) else None


def _traceback(record: Mapping[str, object]) -> Iterable[str]:
    for key in _TRACEBACK:
        value = _value(record, key)
        if isinstance(value, dict) and (thrown := list(_thrown(value))):
            return thrown
        if isinstance(value, list):
            return [line for part in value for line in (_printed(part) if isinstance(part, dict) else [str(part)])]
        if isinstance(value, str) and "\n" in value:
            lines = value.rstrip("\n").split("\n")
            kind = _text(record, ("error.type",))
            # ECS has the places alone, and tells elsewhere what was raised.
            raised = f"{kind}: {_text(record, ('error.message',))}"
            if not kind or not lines[0][:1].isspace():
                return lines
            return [raised, *lines] if lines[0].lstrip().startswith("at ") else [_HEADER, *lines, raised]
    whole = record.get("text")  # loguru's own line, with all that it prints below
    _, header, below = whole.partition(_HEADER) if isinstance(whole, str) else ("", "", "")
    return [header, *below.strip("\n").split("\n")] if header else ()


def _printed(stack: Mapping[str, object]) -> Iterator[str]:
    """A traceback of structlog's `dict_tracebacks` as Python prints it."""
    yield _HEADER
    frames = stack.get("frames")
    for frame in frames if isinstance(frames, list) else ():
        yield f'  File "{frame.get("filename")}", line {frame.get("lineno")}, in {frame.get("name")}'
    yield f"{stack.get('exc_type')}: {stack.get('exc_value')}"


def _thrown(exception: Mapping[str, object], relation: str = "") -> Iterator[str]:
    """An exception of log4j 2, logback or JBoss as the JVM prints it, with its causes."""
    kind = _text(exception, ("name", "className", "exceptionType"))
    if not kind:
        return
    said = _text(exception, ("message", "localizedMessage"))
    yield f"{relation}{kind}: {said}" if said else f"{relation}{kind}"
    frames = next((found for key in _FRAMES if isinstance(found := exception.get(key), list)), [])
    for frame in frames:
        if isinstance(frame, dict):
            place = _text(frame, ("file", "fileName")) or "Unknown Source"
            line = _text(frame, ("line", "lineNumber"))
            where = f"{place}:{line}" if line.isdecimal() else place
            yield f"\tat {_text(frame, ('class', 'className'))}.{_text(frame, ('method', 'methodName'))}({where})"
    if (shared := _text(exception, ("commonElementCount", "commonFramesCount"))) not in ("", "0"):
        yield f"\t... {shared} more"
    cause = next((found for key in ("cause", "causedBy") if isinstance(found := exception.get(key), dict)), {})
    inner = cause.get("exception")
    yield from _thrown(inner if isinstance(inner, dict) else cause, "Caused by: ")
