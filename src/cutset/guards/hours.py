"""Injection only while somebody is there to see it: `Mon-Fri 09:00-17:00`, `Mon-Thu 9:00-17:00, Fri 9:00-12:00`."""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"(?:([a-z]{3})(?:\s*[-–]\s*([a-z]{3}))?\s+)?(\d{1,2}):(\d\d)\s*[-–]\s*(\d{1,2}):(\d\d)")
DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class _Span:
    days: frozenset[int]  # 0 is Monday; of a span past midnight, those on which it begins
    begin: int  # minutes of the day
    end: int

    def holds(self, day: int, minute: int) -> bool:
        if self.begin < self.end:
            return day in self.days and self.begin <= minute < self.end
        return (day in self.days and minute >= self.begin) or ((day - 1) % 7 in self.days and minute < self.end)


@dataclass(frozen=True, slots=True)
class WorkingHours:
    spans: tuple[_Span, ...]

    @classmethod
    def parse(cls, text: str) -> "WorkingHours":
        """Raises ValueError. Without days: every day."""
        return cls(tuple(map(_parse_span, text.lower().split(","))))

    def hold(self, moment: datetime) -> bool:
        return any(span.holds(moment.weekday(), 60 * moment.hour + moment.minute) for span in self.spans)


def out_of_hours(text: str, timezone: str, moment: datetime) -> str:
    """Why it is not the time, if so. The moment has a zone of its own."""
    if not text:
        return ""
    there = moment.astimezone(zone_of(timezone))
    if WorkingHours.parse(text).hold(there):
        return ""
    return f"it is {there:%a %H:%M} ({timezone or 'local time'}), and `hours` are {text}"


def zone_of(name: str) -> tzinfo | None:
    """None: that of this machine."""
    return ZoneInfo(name) if name else None


def is_timezone(name: str) -> bool:
    try:
        return bool(zone_of(name))
    except (KeyError, OSError, ValueError):  # not one, a folder, a path
        return False


def _parse_span(text: str) -> _Span:
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"`{text.strip()}` is no span of hours")
    first, last, *times = match.groups()
    begin, end = _minutes(*times[:2]), _minutes(*times[2:])
    if begin == end:
        raise ValueError(f"`{text.strip()}` has no length")
    return _Span(_days(first, last), begin, end)


def _days(first: str | None, last: str | None) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    begin, end = DAYS.index(first), DAYS.index(last or first)  # a ValueError where it is no day
    return frozenset((begin + number) % 7 for number in range((end - begin) % 7 + 1))


def _minutes(hour: str, minute: str) -> int:
    found = 60 * int(hour) + int(minute)
    if int(minute) > 59 or found > DAY_MINUTES:
        raise ValueError(f"`{hour}:{minute}` is no time of a day")
    return found
