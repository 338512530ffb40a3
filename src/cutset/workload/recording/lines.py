"""Exchanges as JSON lines: what the agent sends, and what a recording holds.

The fields are those of `cutset.model.exchange`; bodies and payloads are base64, headers are lists of pairs. Fields that
have a default may be left out. Unknown fields are ignored, so that a later agent can talk to an earlier recorder.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import TypeVar

import orjson

from cutset.errors import InputError
from cutset.model.exchange import Exchange, Operation

T = TypeVar("T")
_NAMES: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
}


def exchange_to_line(exchange: Exchange) -> bytes:
    fields = {name: getattr(exchange, name) for name in Exchange.__slots__}
    fields["request_body"] = _base64(exchange.request_body)
    fields["response_body"] = _base64(exchange.response_body)
    fields["operations"] = [
        {name: getattr(operation, name) for name in Operation.__slots__}
        | {"request": _base64(operation.request), "response": _base64(operation.response)}
        for operation in exchange.operations
    ]
    return orjson.dumps(fields) + b"\n"


def exchange_from_line(line: bytes | str) -> Exchange:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"expected an object, found {_shown(found)}")
    return Exchange(
        id=_field(found, "id", str),
        service=_field(found, "service", str),
        trace_id=_field(found, "trace_id", str, ""),
        started_at=_field(found, "started_at", float),
        seconds=_field(found, "seconds", float),
        method=_field(found, "method", str),
        path=_field(found, "path", str),
        request_headers=_headers(found, "request_headers"),
        request_body=_bytes(found, "request_body"),
        status=_field(found, "status", int),
        response_headers=_headers(found, "response_headers"),
        response_body=_bytes(found, "response_body"),
        truncated=_field(found, "truncated", bool, default=False),
        operations=tuple(_operation(each) for each in _field(found, "operations", list, [])),
    )


def _operation(found: object) -> Operation:
    if not isinstance(found, dict):
        raise InputError(f"`operations`: expected objects, found {_shown(found)}")
    return Operation(
        endpoint=_field(found, "endpoint", str),
        occurrence=_field(found, "occurrence", int),
        started_at=_field(found, "started_at", float),
        seconds=_field(found, "seconds", float),
        failed=_field(found, "failed", bool),
        request=_bytes(found, "request"),
        response=_bytes(found, "response"),
        timeout=None if found.get("timeout") is None else _field(found, "timeout", float),
        peer=_field(found, "peer", str, ""),
        peer_occurrence=_field(found, "peer_occurrence", int, 0),
    )


def _field(found: Mapping[str, object], name: str, kind: type[T], default: T | None = None) -> T:
    if name not in found and default is not None:
        return default
    value = found.get(name)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:  # not isinstance: `true` is no number
        raise InputError(f"`{name}`: expected {_NAMES[kind]}, found {_shown(value) if name in found else 'nothing'}")
    return value


def _headers(found: Mapping[str, object], name: str) -> tuple[tuple[str, str], ...]:
    pairs = _field(found, name, list, [])
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"`{name}`: expected pairs of name and value, found {_shown(pair)}")
    return tuple((key, value) for key, value in pairs)


def _bytes(found: Mapping[str, object], name: str) -> bytes:
    try:
        return base64.b64decode(_field(found, name, str, ""), validate=True)
    except binascii.Error as error:
        raise InputError(f"`{name}`: expected base64: {error}") from None


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _shown(value: object) -> str:
    text = orjson.dumps(value).decode()
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"
