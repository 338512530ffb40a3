"""Percentages, durations and pairs as users write them in options: `5%`, `0.1%,1%`, `2m`, `x-team=shop`."""

import re
from collections.abc import Sequence

from cutset.errors import UsageError
from cutset.model.moments import parse_duration_ns

_PERCENTAGE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%")


def percentage(text: str, option: str) -> float:
    """From above 0 to 100. A bare number might be meant either way, so that it is refused."""
    match = _PERCENTAGE.fullmatch(text.strip())
    if match is None or not 0 < float(match[1]) <= 100:
        raise UsageError(f"`{option} {text}`: expected a percentage above 0%, at most 100%", hint=f"As `{option} 5%`")
    return float(match[1])


def whole_percentage(text: str, option: str) -> int:
    value = percentage(text, option)
    if value != int(value):
        hint = f"Sidecars decide by whole percents: write `{option} {max(1, round(value))}%`"
        raise UsageError(f"`{option} {text}`: expected a whole percentage from 1% to 100%", hint=hint)
    return int(value)


def percentages(text: str, option: str) -> tuple[float, ...]:
    return tuple(percentage(each, option) for each in text.split(","))


def seconds(text: str, option: str) -> float:
    try:
        return parse_duration_ns(text.strip()) / 1e9
    except UsageError:
        raise UsageError(
            f"`{option} {text}`: expected a duration", hint=f"Write a number and a unit: `{option} 30s`, `{option} 2m`"
        ) from None


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """`name=value`, or `name` alone, which stands for any value."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip():
            raise UsageError(f"`{option} {text}`: expected `NAME=VALUE`, or `NAME` for any value")
        found[name.strip()] = value
    return found
