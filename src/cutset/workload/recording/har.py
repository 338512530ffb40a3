"""Reads HAR 1.2 files, as browsers and proxies save them."""

import base64
import binascii
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

from cutset.errors import InputError
from cutset.model.exchange import Exchange

T = TypeVar("T")
_NAMES: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "an object"}
# The file holds bodies as the page saw them: these told how they came over the wire.
_OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})


@dataclass(frozen=True, slots=True)
class Har:
    exchanges: tuple[Exchange, ...]
    host: str
    elsewhere: Counter[str] = field(default_factory=Counter)  # entries left out, by their host
    unanswered: int = 0  # entries left out because no answer came: blocked or cancelled


def read_har(path: Path, *, host: str = "") -> Har:
    """The entries of one host: the given one, or that of the first entry, which is the page itself."""
    try:
        found = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise InputError(f"Cannot read `{path}`: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"`{path}` is not JSON: {error}", hint="Save the network log as HAR again") from None
    if not isinstance(found, dict):
        raise InputError(f"`{path}` is no HAR file: expected an object with `log`")
    log = _field(found, "log", dict, where := f"`{path}`")
    if not str(version := log.get("version") or "1.2").startswith("1."):
        raise InputError(f"{where} is of HAR {str(version)[:20]}; Cutset reads version 1", hint="Save it as HAR 1.2")
    entries = _field(log, "entries", list, f"{where}, log")
    exchanges, elsewhere, unanswered = [], Counter[str](), 0
    for number, entry in enumerate(entries):
        where = f"`{path}`, log.entries[{number}]"
        if not isinstance(entry, dict):
            raise InputError(f"{where}: expected an object, found `{entry}`")
        url = urlsplit(_field(_field(entry, "request", dict, where), "url", str, f"{where}.request"))
        host = host or url.netloc
        if url.netloc != host:
            elsewhere[url.netloc] += 1
            continue
        exchange = _exchange(entry, number, where)
        if exchange.status > 0:
            exchanges.append(exchange)
        else:
            unanswered += 1
    return Har(tuple(exchanges), host, elsewhere, unanswered)


def _exchange(entry: Mapping[str, object], number: int, where: str) -> Exchange:
    request = _field(entry, "request", dict, where)
    response = _field(entry, "response", dict, where)
    address = _field(request, "url", str, f"{where}.request")
    url = urlsplit(address)
    headers = _headers(request, f"{where}.request")
    started = _field(entry, "startedDateTime", str, where)
    return Exchange(
        # The same when the same file is read again.
        id=hashlib.sha256(f"{number} {started} {address}".encode()).hexdigest()[:32],
        service=url.hostname or "",
        trace_id=_trace_id(headers),
        started_at=_moment(started, where),
        seconds=max(0.0, _field(entry, "time", float, where) / 1000),
        method=_field(request, "method", str, f"{where}.request").upper(),
        path=(url.path or "/") + (f"?{url.query}" if url.query else ""),
        request_headers=headers,
        request_body=_posted(request, f"{where}.request"),
        status=_field(response, "status", int, f"{where}.response"),
        response_headers=_headers(response, f"{where}.response"),
        response_body=_content(response, f"{where}.response"),
    )


def _moment(text: str, where: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{where}.startedDateTime: expected an ISO 8601 time, found `{text}`") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _headers(message: Mapping[str, object], where: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for each in _field(message, "headers", list, where):
        if not isinstance(each, dict):
            raise InputError(f"{where}.headers: expected objects, found `{each}`")
        name = _field(each, "name", str, f"{where}.headers")
        value = _field(each, "value", str, f"{where}.headers")
        if name.lower() not in _OF_THE_WIRE and not name.startswith(":"):
            # Browsers write the values of headers that came several times into one, with line breaks.
            pairs += [(name, part) for part in value.split("\n")]
    return tuple(pairs)


def _trace_id(headers: tuple[tuple[str, str], ...]) -> str:
    parent = next((value for name, value in headers if name.lower() == "traceparent"), "")
    return parent.split("-")[1] if parent.count("-") == 3 else ""


def _posted(request: Mapping[str, object], where: str) -> bytes:
    if not request.get("postData"):
        return b""
    posted = _field(request, "postData", dict, where)
    if posted.get("text"):
        return _field(posted, "text", str, f"{where}.postData").encode()
    names = [each for each in posted.get("params") or () if isinstance(each, dict)]
    return urlencode([(each.get("name", ""), each.get("value", "")) for each in names]).encode()


def _content(response: Mapping[str, object], where: str) -> bytes:
    content = _field(response, "content", dict, where)
    text = content.get("text") or ""
    if content.get("encoding") != "base64":
        return str(text).encode()
    try:
        return base64.b64decode(str(text), validate=True)
    except binascii.Error as error:
        raise InputError(f"{where}.content.text: expected base64: {error}") from None


def _field(found: Mapping[str, object], name: str, kind: type[T], where: str) -> T:
    value = found.get(name)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        problem = f"found `{str(value)[:60]}`" if name in found else "found nothing"
        raise InputError(f"{where}.{name}: expected {_NAMES[kind]}, {problem}")
    return value
