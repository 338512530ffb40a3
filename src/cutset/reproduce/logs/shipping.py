"""What containers and those who ship logs put around each line is taken off: a prefix, or a record of their own."""

import re
from collections.abc import Callable, Sequence

import orjson

_MOST = 0.8  # of the lines that say something: else they only look like it
_PREFIXES = (
    re.compile(r"[\w.-]{1,60}[-_]\d{1,4} +\| ?"),  # docker compose: the container's name
    re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] "),  # container runtimes
)


def unwrapped(lines: Sequence[str]) -> list[str]:
    for unwrap in (*map(_without, _PREFIXES), _docker_record):
        found = [unwrap(line) for line in lines]
        said = sum(bool(line.strip()) for line in lines)
        if said and sum(line is not None for line in found) >= _MOST * said:
            return [line if inner is None else inner for line, inner in zip(lines, found, strict=True)]
    return list(lines)


def _without(prefix: re.Pattern[str]) -> Callable[[str], str | None]:
    def rest(line: str) -> str | None:
        found = prefix.match(line)
        return line[found.end() :] if found else None

    return rest


def _docker_record(line: str) -> str | None:
    """Of its `json-file` driver."""
    if not line.startswith('{"log":'):
        return None
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return str(record["log"]).rstrip("\n") if record.keys() >= {"log", "stream", "time"} else None
