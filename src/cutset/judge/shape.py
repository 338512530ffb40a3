"""The parts of an answer that its reader would miss, and the text that its reader would see.

    JSON   `order.items[]: object`   key paths with the kind of value; null and empty differ from filled
    HTML   `section#ads`, `p.price`  elements with an id, and the classes of each tag
    other  `content`                 whether there is any

HTML is read with one regular expression instead of `html.parser`, which is several times slower and can take
quadratic time on hostile input. Every alternative below matches to the end of the document when its closing mark is
missing (as browsers do), so that the scan never steps back.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator

CONTENT = "content"  # the only part of an answer without structure
MALFORMED = "malformed"  # declared as JSON, but is not

JSON_LIMIT = 2 * 1024 * 1024  # bytes; half a document is no JSON, so that a longer one only counts as content
TEXT_LIMIT = 512 * 1024  # bytes of HTML or text that are looked at: some 10 ms of work
NODE_LIMIT = 20_000  # JSON values visited: some 10 ms of work
NAME_LIMIT = 100  # characters of one key, id or class: names are shown to people
PATH_LIMIT = 300  # characters of one key path; nothing below is visited, lest thousands of long paths fill the memory

_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<hidden>script|style|template|noscript)(?=[\s/>]).*?(?:</(?P=hidden)\s*>|\Z)"
    r"|<(?P<tag>[a-z][^\s/>]*)(?P<attributes>(?:[^>=]+|=\s*\"[^\"]*(?:\"|\Z)|=\s*'[^']*(?:'|\Z)|=)*+)(?:>|\Z)"
    r"|<[/!?][^>]*(?:>|\Z)"
    r"|(?P<text>[^<]+|<)",
    re.IGNORECASE | re.DOTALL,
)
_MAIN = re.compile(r"<main(?=[\s/>]).*?(?:</main\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_ID_OR_CLASS = re.compile(
    r"(?:^|\s)(?P<name>id|class)\s*=\s*(?:\"(?P<double>[^\"]*)|'(?P<single>[^']*)|(?P<bare>[^\s\"'>]+))", re.IGNORECASE
)


def shape_of(content_type: str, body: bytes) -> frozenset[str]:
    if not body.strip():
        return frozenset()
    if "json" in content_type.lower():
        return _json_shape(body)
    if "html" in content_type.lower():
        return _landmarks(decoded(body))
    return frozenset({CONTENT})


def visible_text(content_type: str, body: bytes) -> str:
    """What a person would read: no markup, scripts or styles; nothing at all of images and other binary content."""
    kind = content_type.lower()
    if "html" in kind or "xml" in kind:
        return html.unescape(" ".join(match["text"] for match in _HTML.finditer(decoded(body)) if match["text"]))
    if not kind or kind.startswith("text/") or "json" in kind:
        return decoded(body)
    return ""


def main_text(content_type: str, body: bytes) -> str:
    """The visible text without title, menu and footer, where the page says which is its main part."""
    main = _MAIN.search(decoded(body)) if "html" in content_type.lower() else None
    return visible_text(content_type, main[0].encode() if main else body)


def decoded(body: bytes) -> str:
    # The declared charset is left alone: keywords and names are ASCII, and nearly every charset contains that.
    return body[:TEXT_LIMIT].decode("utf-8", errors="replace")


def _json_shape(body: bytes) -> frozenset[str]:
    if len(body) > JSON_LIMIT:
        return frozenset({CONTENT})
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):  # ValueError includes bad UTF-8 and numbers of absurd length
        return frozenset({MALFORMED})
    parts: set[str] = set()
    to_visit: list[tuple[str, object]] = [("", document)]
    for _ in range(NODE_LIMIT):
        if not to_visit:
            break
        path, value = to_visit.pop()
        parts.add(f"{path}: {kind_of(value)}" if path else kind_of(value))
        to_visit.extend(json_children(path, value))
    return frozenset(parts)


def counts_of(content_type: str, body: bytes) -> dict[str, tuple[int, ...]]:
    """How many elements the lists of a JSON document have, by path; how often a page has each kind of element."""
    if "html" in content_type.lower():
        names = Counter(name for names, _ in tags_and_texts(decoded(body)) for name in names)
        return {name: (count,) for name, count in names.items()}
    if "json" not in content_type.lower() or len(body) > JSON_LIMIT:
        return {}
    try:
        to_visit: list[tuple[str, object]] = [("", json.loads(body))]
    except (ValueError, RecursionError):
        return {}
    counts: dict[str, list[int]] = {}
    for _ in range(NODE_LIMIT):
        if not to_visit:
            return {path: tuple(sorted(found)) for path, found in counts.items()}
        path, value = to_visit.pop()
        if isinstance(value, list):
            counts.setdefault(path, []).append(len(value))
        to_visit.extend(json_children(path, value))
    return {}  # a part of the lists would not tell how many there are


def kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string" if value else "empty string"
        case list():
            return "array" if value else "empty array"
        case _:
            return "object" if value else "empty object"


def json_children(path: str, value: object) -> Iterator[tuple[str, object]]:
    if len(path) > PATH_LIMIT:
        return
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        yield from ((f"{prefix}{key[:NAME_LIMIT]}", child) for key, child in value.items())
    elif isinstance(value, list):
        yield from ((f"{path}[]", child) for child in value)


def _landmarks(document: str) -> frozenset[str]:
    # A page repeats few distinct tags many times, so that each distinct one is taken apart once.
    tags: set[tuple[str, str]] = set()
    parts: set[str] = set()
    for match in _HTML.finditer(document):
        if match["tag"]:
            tags.add((match["tag"].lower()[:NAME_LIMIT], match["attributes"]))
        elif match["text"] and not match["text"].isspace():
            parts.add(CONTENT)
    for tag, attributes in tags:
        parts.update(_names(tag, attributes))
    return frozenset(parts)


def tags_and_texts(document: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Tags that have an id or classes, by names such as `section#ads`, and the pieces of text between all tags."""
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    for match in _HTML.finditer(document):
        if match["tag"]:
            key = (match["tag"].lower()[:NAME_LIMIT], match["attributes"])
            if key not in known:
                known[key] = tuple(_names(*key))
            if known[key]:
                yield known[key], ""
        elif match["text"]:
            yield (), match["text"]


def _names(tag: str, attributes: str) -> Iterator[str]:
    for attribute in _ID_OR_CLASS.finditer(attributes):
        mark = "#" if attribute["name"].lower() == "id" else "."
        value = attribute["double"] or attribute["single"] or attribute["bare"] or ""
        yield from (f"{tag}{mark}{name[:NAME_LIMIT]}" for name in html.unescape(value).split())
