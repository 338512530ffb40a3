"""Times in texts: which format they have, and the same format at another moment. Pure.

Times move by as much as the clock has: what was five minutes ahead of its request will be five minutes ahead of its
replay. So a time zone that the text does not name needs no guess.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

DAY = 86_400.0
NEAR_DAYS = 400  # a date or time farther from its request is no clock's: a date of birth, an old dataset
_EPOCH_NEAR_SECONDS = 2 * DAY  # bare digits may be any number, so they must be nearer
_EPOCHS: Mapping[int, int] = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}  # digits: units per second

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?")
_BASIC = re.compile(r"\d{8}T\d{6}Z?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MAIL = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|[+-]\d{4})")
_DIGITS = re.compile(r"\d{10}(?:\d{3}){0,3}")
_DECIMAL = re.compile(r"\d{10}\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class Time:
    format: str
    seconds: float  # since 1970, as if UTC where no zone is named
    precision: float  # seconds: what the format cannot tell apart


def time_in(text: str) -> Time | None:
    """The time that the whole text is."""
    if not 10 <= len(text) <= 40:
        return None
    for name, (pattern, precision, read) in _FORMATS.items():
        if pattern.fullmatch(text):
            try:
                return Time(name, read(text), precision)
            except (ValueError, OverflowError):
                return None
    return None


def is_near(time: Time, moment: float) -> bool:
    """Whether a clock may have shown it when the request was made."""
    limit = _EPOCH_NEAR_SECONDS if time.format.startswith("epoch") else NEAR_DAYS * DAY
    return abs(time.seconds - moment) <= limit


def moved(text: str, by: float) -> str:
    """The same text `by` seconds later; dates move by whole days. Raises ValueError if it is no time."""
    time = time_in(text)
    if time is None:
        raise ValueError(f"expected a time, found `{text}`")
    return _WRITERS[time.format](text, by)


def _iso(text: str) -> datetime:
    found = datetime.fromisoformat(text.replace(",", "."))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _move_iso(text: str, by: float) -> str:
    match = _ISO.fullmatch(text)
    assert match is not None
    separator, with_seconds, fraction, zone = match.groups()
    new = _iso(text) + timedelta(seconds=by)
    written = f"{new:%Y-%m-%d}{separator}{new:%H:%M}"
    if with_seconds:
        written += f":{new:%S}"
    if fraction:
        digits = f"{new.microsecond:06d}" + fraction[7:]  # finer than our clock: they stay
        written += fraction[0] + digits[: len(fraction) - 1]
    return written + (zone or "")


def _move_basic(text: str, by: float) -> str:
    new = datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(seconds=by)
    return f"{new:%Y%m%dT%H%M%S}" + "Z" * text.endswith("Z")


def _move_date(text: str, by: float) -> str:
    return f"{datetime.fromisoformat(text) + timedelta(days=round(by / DAY)):%Y-%m-%d}"


def _move_mail(text: str, by: float) -> str:
    new = format_datetime(parsedate_to_datetime(text) + timedelta(seconds=by))
    return new[:-5] + "GMT" if text.endswith("GMT") else new


def _move_digits(text: str, by: float) -> str:
    return str(int(text) + round(by * _EPOCHS[len(text)]))


def _move_decimal(text: str, by: float) -> str:
    whole, _, fraction = text.partition(".")
    units = 10 ** len(fraction)
    moved_units = int(whole) * units + int(fraction) + round(by * units)
    return f"{moved_units // units}.{moved_units % units:0{len(fraction)}d}"


_FORMATS: Mapping[str, tuple[re.Pattern[str], float, Callable[[str], float]]] = {
    "date": (_DATE, DAY, lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()),
    "iso": (_ISO, 1.0, lambda text: _iso(text).timestamp()),
    "basic": (_BASIC, 1.0, lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()),
    "mail": (_MAIL, 1.0, lambda text: parsedate_to_datetime(text).timestamp()),
    "epoch": (_DIGITS, 1.0, lambda text: int(text) / _EPOCHS[len(text)]),
    "epoch decimal": (_DECIMAL, 1.0, float),
}
_WRITERS: Mapping[str, Callable[[str, float], str]] = {
    "date": _move_date,
    "iso": _move_iso,
    "basic": _move_basic,
    "mail": _move_mail,
    "epoch": _move_digits,
    "epoch decimal": _move_decimal,
}
