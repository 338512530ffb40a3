"""Values taken out of an answer, for the steps after it.

json.order.id      a leaf of a JSON body; `json.items[0].sku`, `json[0].id`
header.x-token     a header                              cookie.sid   a cookie that the session has by then
regex csrf=(\\w+)    of the body as text: its first group, or all that matched
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from cutset.model.request import Response

_STEPS = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_JSON = re.compile(rf"json(?:{_STEPS.pattern})*")
_NAMED = re.compile(r"(header|cookie)\.([^\s;,=]+)")


def is_place(text: str) -> bool:
    """Raises ValueError, too, if it is none."""
    if text.startswith("regex "):
        try:
            return bool(re.compile(text.removeprefix("regex ")).pattern)
        except re.error as error:
            raise ValueError(str(error)) from None
    return bool(_JSON.fullmatch(text) or _NAMED.fullmatch(text))


def taken(place: str, response: Response, cookies: Mapping[str, str]) -> str | None:
    """None if the answer does not have it. What is no text in JSON is taken as it is written there."""
    if place.startswith("regex "):
        found = re.search(place.removeprefix("regex "), response.body.decode(errors="replace"))
        return found and found[min(1, len(found.groups()))]
    if named := _NAMED.fullmatch(place):
        return (response.header(named[2]) or None) if named[1] == "header" else cookies.get(named[2])
    try:
        value: Any = json.loads(response.body)
        for name, index in _STEPS.findall(place.removeprefix("json")):
            value = value[int(index)] if index else value[name]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return value if isinstance(value, str) else None if value is None else json.dumps(value)
