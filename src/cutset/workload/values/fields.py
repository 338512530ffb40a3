"""The single values of a recorded request or answer, each with its place; one traversal reads and rewrites them.

    path/2             second segment of the path             query/page   a query parameter
    header/x-nonce     a header                               cookie/sid   of `Cookie`, and of `Set-Cookie`
    body/items/0/sku   a leaf of a JSON body                  form/name    a field of a form
    input/csrf         an `<input>` or `<meta>` of a page     link/orders/*  an `href` or `action` of a page

A header of several words, and any URL, is taken apart: `header/authorization:2` is what follows `Bearer`. The second
value in the same place has `#2` after its name. Reading is rewriting without a change, so that the two never disagree.
What is neither JSON, a form, a page nor short text has no fields, and stays as it is.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape, unescape
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from cutset.errors import InputError
from cutset.model.exchange import Exchange
from cutset.receive.inflate import inflate
from cutset.workload.values.identifiers import mask_segments
from cutset.workload.values.times import time_in

Change = Callable[[str, str], str]  # the new value, given a place and the value there

MAX_TEXT = 4096  # characters of a value or a plain text that is taken apart: longer ones are prose or data
MAX_WORDS = 16
MAX_INFLATED = 16 * 1024 * 1024

_URL = re.compile(r"https?://\S+|/[a-z][\w.-]*[a-z](?:[/?#]\S*)?")
_URL_PARTS = re.compile(r"([/?&=#]+)")
_SPACES = re.compile(r"(\s+)")
_TAG = re.compile(r"<(input|meta|a|form)\b[^>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


@dataclass(frozen=True, slots=True)
class Message:
    headers: tuple[tuple[str, str], ...]
    body: bytes
    path: str = ""  # of a request, with its query


def request_of(exchange: Exchange) -> Message:
    return Message(exchange.request_headers, exchange.request_body, exchange.path)


def response_of(exchange: Exchange) -> Message:
    return Message(exchange.response_headers, exchange.response_body)


def fields(message: Message) -> dict[str, str]:
    found: dict[str, str] = {}

    def note(place: str, value: str) -> str:
        found[place] = value
        return value

    rewrite(message, note)
    return found


def rewrite(message: Message, change: Change) -> Message:
    """What `change` leaves alone stays the same byte for byte. A cookie that becomes empty is left out."""
    change = _numbered(change)
    return Message(
        path=_rewrite_path(message.path, change),
        headers=tuple((name, _rewrite_header(name.lower(), value, change)) for name, value in message.headers),
        body=_rewrite_body(header(message, "content-type").lower(), message.body, change),
    )


def header(message: Message, name: str) -> str:
    return next((value for key, value in message.headers if key.lower() == name), "")


def inflated(message: Message) -> Message | None:
    """The message with a plain body, or None if that cannot be had."""
    encoding = header(message, "content-encoding").strip().lower()
    if encoding in {"", "identity"} or not message.body:
        return message
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        return None
    try:
        body = inflate(message.body, limit=MAX_INFLATED)
    except InputError:
        return None
    if body is None:
        return None
    headers = tuple(pair for pair in message.headers if pair[0].lower() not in {"content-encoding", "content-length"})
    return replace(message, headers=headers, body=body)


def _numbered(change: Change) -> Change:
    seen: Counter[str] = Counter()

    def numbered(place: str, value: str) -> str:
        seen[place] += 1
        return change(f"{place}#{seen[place]}" if seen[place] > 1 else place, value)

    return numbered


def _rewrite_path(path: str, change: Change) -> str:
    before, mark, query = path.partition("?")
    first, *segments = before.split("/")
    for number, segment in enumerate(segments, start=1):
        if segment:
            segments[number - 1] = _recoded(f"path/{number}", segment, change, unquote, _quote_segment)
    return "/".join([first, *segments]) + mark + _rewrite_pairs("query", query, change)


def _quote_segment(text: str) -> str:
    return quote(text, safe="")


def _rewrite_pairs(kind: str, text: str, change: Change) -> str:
    pairs = text.split("&")
    for number, pair in enumerate(pairs):
        name, equals, value = pair.partition("=")
        if equals:
            new = _recoded(f"{kind}/{unquote_plus(name)}", value, change, unquote_plus, quote_plus)
            pairs[number] = f"{name}={new}"
    return "&".join(pairs)


def _recoded(place: str, raw: str, change: Change, decode: Callable[[str], str], encode: Callable[[str], str]) -> str:
    value = decode(raw)
    new = _rewrite_words(place, value, change)
    return raw if new == value else encode(new)


def _rewrite_header(name: str, value: str, change: Change) -> str:
    if name == "cookie":
        cookies = [_rewrite_cookie(cookie.strip(), change) for cookie in value.split(";")]
        return "; ".join(cookie for cookie in cookies if cookie)
    if name == "set-cookie":
        cookie, semicolon, attributes = value.partition(";")
        return _rewrite_cookie(cookie.strip(), change) + semicolon + attributes
    return _rewrite_words(f"header/{name}", value, change)


def _rewrite_cookie(cookie: str, change: Change) -> str:
    name, equals, value = cookie.partition("=")
    if not equals or not value:
        return cookie
    new = change(f"cookie/{name}", value)
    return f"{name}={new}" if new else ""


def _rewrite_words(place: str, value: str, change: Change) -> str:
    if len(value) > MAX_TEXT or time_in(value):
        return change(place, value)
    is_sentence = place == "body" or place.startswith("header/")  # elsewhere a passphrase would be taken apart
    words = _URL_PARTS.split(value) if _URL.fullmatch(value) else _SPACES.split(value) if is_sentence else [value]
    if not 1 < len(words) // 2 + 1 <= MAX_WORDS:
        return change(place, value)
    # What separates the words is at the odd places.
    return "".join(
        word if number % 2 or not word else change(f"{place}:{number // 2 + 1}", word)
        for number, word in enumerate(words)
    )


def _rewrite_body(content_type: str, body: bytes, change: Change) -> bytes:
    try:
        return _rewrite_text(content_type, body.decode(), change).encode()
    except (ValueError, RecursionError):
        return body


def _rewrite_text(content_type: str, text: str, change: Change) -> str:
    if "json" in content_type or (not content_type and text.lstrip()[:1] in {"{", "["}):
        value = json.loads(text)
        new = _rewrite_leaves("body", value, change)
        return text if new == value else json.dumps(new, separators=(",", ":"))
    if "x-www-form-urlencoded" in content_type:
        return _rewrite_pairs("form", text, change)
    if "html" in content_type:
        return _TAG.sub(lambda tag: _rewrite_tag(tag[1].lower(), tag[0], change), text)
    if (not content_type or "text/plain" in content_type) and 0 < len(text) <= MAX_TEXT:
        return _rewrite_words("body", text, change)
    return text


def _rewrite_leaves(place: str, value: object, change: Change) -> object:
    match value:
        case dict():
            return {key: _rewrite_leaves(f"{place}/{_escaped(key)}", child, change) for key, child in value.items()}
        case list():
            return [_rewrite_leaves(f"{place}/{index}", child, change) for index, child in enumerate(value)]
        case str():
            return _rewrite_words(place, value, change) if value else value
        case bool() | None:
            return value
        case int() | float():
            return _as_number(value, change(place, str(value)))
        case _:
            raise AssertionError(value)


def _as_number(value: float, new: str) -> object:
    if new == str(value):
        return value
    try:
        return type(value)(new)
    except ValueError:
        return new


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")  # as in JSON pointers


def _rewrite_tag(tag: str, text: str, change: Change) -> str:
    attributes = {match[1].lower(): match for match in _ATTRIBUTE.finditer(text)}
    named = attributes.get("name")
    content = attributes.get("content" if tag == "meta" else "value")
    link = attributes.get("action" if tag == "form" else "href")
    if tag in {"input", "meta"} and named and content:
        return _rewrite_attribute(f"input/{_attribute_value(named)}", text, content, change)
    if tag in {"a", "form"} and link:
        path = urlsplit(_attribute_value(link)).path
        return _rewrite_attribute(f"link{mask_segments(path)}", text, link, change)
    return text


def _attribute_value(attribute: re.Match[str]) -> str:
    return unescape(attribute[2] or attribute[3] or attribute[4] or "")


def _rewrite_attribute(place: str, text: str, attribute: re.Match[str], change: Change) -> str:
    value = _attribute_value(attribute)
    new = _rewrite_words(place, value, change) if value else value
    if new == value:
        return text
    return f'{text[: attribute.start()]}{attribute[1]}="{escape(new)}"{text[attribute.end() :]}'
