"""The fields of JSON objects from outside, checked: what is not as it should be is named with its place.

As in all of proto3's JSON, null and absent mean the default, and numbers may be texts.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cutset.errors import InputError

MAX_QUOTED = 60  # characters of an offending value in an error message


def malformed(where: str, expected: str, found: object) -> InputError:
    quoted = json.dumps(found, ensure_ascii=True, default=repr)
    if len(quoted) > MAX_QUOTED:
        quoted = quoted[:MAX_QUOTED] + "…"
    return InputError(f"{where}: expected {expected}, found {quoted}")


def object_in(holder: dict[str, Any], key: str, where: str) -> tuple[dict[str, Any], str]:
    found, place = holder.get(key), place_in(where, key)
    if found is None:
        return {}, place
    if not isinstance(found, dict):
        raise malformed(place, "an object", found)
    return found, place


def objects_in(holder: dict[str, Any], key: str, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    found = holder.get(key)
    if found is None:
        return
    if not isinstance(found, list):
        raise malformed(place_in(where, key), "an array", found)
    for index, item in enumerate(found):
        place = f"{place_in(where, key)}[{index}]"
        if not isinstance(item, dict):
            raise malformed(place, "an object", item)
        yield item, place


def text_in(holder: dict[str, Any], key: str, where: str) -> str:
    found = holder.get(key, "")
    if found is None:
        return ""
    if not isinstance(found, str):
        raise malformed(place_in(where, key), "a string", found)
    if not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError:
            raise malformed(place_in(where, key), "Unicode text without unpaired surrogates", found) from None
    return found


def integer_in(holder: dict[str, Any], key: str, where: str, low: int, high: int) -> int:
    found = holder.get(key, 0)
    number = 0 if found is None else found
    if isinstance(found, str) and re.fullmatch(r"-?[0-9]{1,20}", found):
        number = int(found)
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
        raise malformed(place_in(where, key), f"a whole number from {low} to {high}", found)
    return number


def float_in(holder: dict[str, Any], key: str, where: str) -> float:
    found = holder[key]
    if isinstance(found, str | int | float) and not isinstance(found, bool):
        try:
            return float(found)  # "NaN" and "Infinity" come as strings
        except (ValueError, OverflowError):
            pass
    raise malformed(place_in(where, key), "a number", found)


def boolean_in(holder: dict[str, Any], key: str, where: str) -> bool:
    found = holder[key]
    if not isinstance(found, bool):
        raise malformed(place_in(where, key), "true or false", found)
    return found


def bytes_in(holder: dict[str, Any], key: str, where: str) -> bytes:
    found = text_in(holder, key, where)
    padded = found.rstrip("=") + "=" * (-len(found.rstrip("=")) % 4)
    try:
        return base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise malformed(place_in(where, key), "base64", found) from None


def enumeration_in(holder: dict[str, Any], key: str, where: str, numbers: Mapping[str, int]) -> int:
    found = holder.get(key)
    if isinstance(found, str) and found in numbers:
        return numbers[found]
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found or 0
    raise malformed(place_in(where, key), f"a number or one of {', '.join(numbers)}", found)


def place_in(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def int64_in(holder: dict[str, Any], key: str, where: str) -> int:
    return integer_in(holder, key, where, -(2**63), 2**63 - 1)
