"""The values in an answer: an order whose total has become 0 is answered 200, and has every part that it ought to have.

    JSON   `order.total` 19.99   leaves by their key path, which elements of a list share: their order does not matter
    HTML   `span#total` $19.99   pieces of text by the last tag before them that has an id or a class
    text   `content` a line of it

What a value ought to be is told by answers without a fault: what all of them have. Ids, times, prices that move differ
between them, and so tell nothing.
"""

import html
import json
from collections import Counter
from collections.abc import Iterator

from cutset.judge.quotes import spaced_once
from cutset.judge.shape import CONTENT, JSON_LIMIT, NAME_LIMIT, NODE_LIMIT, decoded, json_children, tags_and_texts

Values = Counter[tuple[str, str]]  # where and what, and how often


def values_of(content_type: str, body: bytes) -> Values:
    """Empty where there is nothing to be read."""
    kind = content_type.lower()
    if "json" in kind:
        return Counter(leaves(body))
    if "html" in kind:
        return Counter(_texts(decoded(body)))
    if kind.startswith("text/"):
        return Counter((CONTENT, line) for line in map(spaced_once, decoded(body).splitlines()) if line)
    return Counter()


def changed_places(usual: Values, content_type: str, body: bytes) -> list[tuple[str, str, str]]:
    """What answers without a fault always have and this one has not: place, what was there, and what is there now."""
    now = values_of(content_type, body)
    gone, come = _by_place(usual - now), _by_place(now - usual)
    if "html" in content_type.lower():  # a notice before it puts a text in another place, and changes nothing of it
        moved = {value for values in come.values() for value in values}
        gone = {
            place: left for place, values in gone.items() if (left := [each for each in values if each not in moved])
        }
    return [(place, _few(values), _few(come.get(place, []))) for place, values in gone.items()]


def _by_place(values: Values) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for place, value in sorted(values.elements()):
        places.setdefault(place, []).append(value)
    return places


def leaves(body: bytes) -> Iterator[tuple[str, str]]:
    """Each value of a JSON document that is neither list nor object, by its path, as JSON."""
    if len(body) > JSON_LIMIT:
        return
    try:
        to_visit: list[tuple[str, object]] = [("", json.loads(body))]
    except (ValueError, RecursionError):
        return
    for _ in range(NODE_LIMIT):
        if not to_visit:
            return
        path, value = to_visit.pop()
        if isinstance(value, dict | list):
            to_visit.extend(json_children(path, value))
        else:
            yield path, json.dumps(value, ensure_ascii=False)


def _texts(document: str) -> Iterator[tuple[str, str]]:
    place = CONTENT
    for names, text in tags_and_texts(document):
        if names:
            place = names[0][:NAME_LIMIT]
        elif text and (piece := spaced_once(html.unescape(text))):
            yield place, piece


def _few(values: list[str]) -> str:
    return ", ".join(values[:3]) + (f" and {len(values) - 3} more" if len(values) > 3 else "") if values else "gone"
