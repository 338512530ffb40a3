"""Moments and durations as users write them: `2026-11-16T03:00`, `6h` ago, `30d`."""

import re
from datetime import UTC, datetime

from cutset.errors import UsageError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,6})([smhdw])")


def parse_duration_ns(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise UsageError(f"`{text}` is no duration", hint="Write a number and a unit: `90s`, `30m`, `6h`, `30d`, `4w`")
    return int(match[1]) * _UNITS[match[2]] * 1_000_000_000


def parse_moment_ns(text: str, now_ns: int) -> int:
    """A duration means that long ago; a moment without a zone is UTC."""
    if _DURATION.fullmatch(text):
        return now_ns - parse_duration_ns(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"`{text}` is no moment", hint="Write `2026-11-16`, `2026-11-16T03:00`, or how long ago: `6h`, `30d`"
        ) from None
    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
    return round(moment.timestamp() * 1_000_000) * 1_000


def show_moment(ns: int) -> str:
    return datetime.fromtimestamp(ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
