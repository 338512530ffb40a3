"""Takes out of spans what must not be kept: queries and users of addresses, and headers that prove who somebody is.

Tracers write down the address of every request, whatever is in it, and headers if they are told to.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

MASKED = "…"
_PROVING = re.compile(
    r".*(header|metadata)\.(.*(auth|cookie|token|secret|api.?key|session).*)|url\.query", re.IGNORECASE
)
_USER = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/?#@]*@", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:[a-z][a-z0-9+.-]*:/)?/[^\s?]*\?", re.IGNORECASE)


def masked_line(line: str) -> str:
    """Of a payload in OTLP/JSON."""
    payload = json.loads(line)
    changed = False
    for attribute in _attributes(payload):
        value = attribute.get("value")
        text = value.get("stringValue") if isinstance(value, dict) else None
        if _PROVING.fullmatch(attribute["key"]):
            attribute["value"], changed = {"stringValue": MASKED}, True
        elif isinstance(text, str) and (shown := masked_address(text)) != text:
            attribute["value"], changed = {"stringValue": shown}, True
    return json.dumps(payload, separators=(",", ":")) if changed else line


def masked_address(text: str) -> str:
    """A text that is no address stays as it is."""
    text = _USER.sub(r"\1", text)
    return text[: found.end()] + MASKED if (found := _ADDRESS.match(text)) else text


def _attributes(payload: Any) -> Iterator[dict[str, Any]]:
    """All pairs of key and value, of resources, scopes, spans, events and links alike."""
    pending = [payload]
    while pending:
        match pending.pop():
            case {"key": str()} as pair:
                yield pair
            case dict() as fields:
                pending.extend(fields.values())
            case list() as items:
                pending.extend(items)
