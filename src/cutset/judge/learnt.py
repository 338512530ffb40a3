"""What is the same in every good answer is learnt from answers without a fault: parts, types, counts and values.

An answer in which one of these is not so is degraded: a part is missing, or something in it is wrong. Only what never
varied counts. In JSON a difference is told once, at the outermost path that shows it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import and_
from typing import TypeVar

from cutset.judge.quotes import snippet
from cutset.judge.shape import MALFORMED, counts_of, shape_of
from cutset.judge.values import Values, changed_places, values_of
from cutset.model.difference import Difference, DifferenceKind
from cutset.model.request import Response

SHOWN = 3  # differences of one sort that are named in a reason; more would not fit a line
VALUE_LENGTH = 60  # characters of a value that are quoted: what it was and what it is fit a line
MOST_KEPT = 10  # differences that are recorded

Said = TypeVar("Said")

_EMPTY = {"null": "null", "empty string": "empty", "empty array": "empty", "empty object": "empty"}


@dataclass(frozen=True, slots=True)
class Usual:
    parts: frozenset[str] = frozenset()
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of values, by path of JSON
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # of lists by path, of elements of a page
    values: Values = field(default_factory=Values)


def usual_of(responses: Sequence[Response]) -> Usual:
    shapes = [shape_of(each.content_type, each.body) for each in responses]
    return Usual(
        frozenset.intersection(*shapes) - {MALFORMED},
        _agreed([_kinds(each, shape) for each, shape in zip(responses, shapes, strict=True)]),
        _agreed([counts_of(each.content_type, each.body) for each in responses]),
        reduce(and_, (values_of(each.content_type, each.body) for each in responses)),
    )


def narrowed(usual: Usual, response: Response) -> Usual:
    """By one more answer without a fault: what it has otherwise varies, and tells nothing. Parts must be there."""
    kinds = _kinds(response, shape_of(response.content_type, response.body))
    return Usual(
        usual.parts,
        _agreed([usual.kinds, kinds]),
        _agreed([usual.counts, counts_of(response.content_type, response.body)]),
        usual.values & values_of(response.content_type, response.body),
    )


def differences(usual: Usual, response: Response) -> list[Difference]:
    parts = shape_of(response.content_type, response.body)
    if MALFORMED in parts and usual.parts:
        return [Difference(DifferenceKind.UNREADABLE, "")]
    if not usual.kinds:
        return _of_page(usual, response, parts)
    # The first of these that sees a difference at a place tells it best.
    sorts = (_other_counts(usual, response), _other_kinds(usual, response, parts), _other_values(usual, response))
    found: dict[str, Difference] = {}
    for each in chain(*sorts):
        found.setdefault(each.at, each)
    return sorted(each for each in found.values() if found.keys().isdisjoint(_around(each.at)))


def in_words(found: Sequence[Difference]) -> str:
    """What follows "but"."""
    if any(each.kind is DifferenceKind.UNREADABLE for each in found):
        return "its JSON is malformed"
    missing = [each for each in found if each.kind is DifferenceKind.MISSING]
    wrong = [each for each in found if each.is_wrong]
    lost = [_lost(each) for each in found if each.kind is DifferenceKind.WRITE]
    named = [_few(_names(missing), ", ", "missing "), _few([_wrong(each) for each in wrong], "; ", "wrong: ")]
    return "; ".join(filter(None, [*named, _few(lost, "; ", "")]))


def _few(words: Sequence[str], between: str, before: str) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return before + between.join(words[:SHOWN]) + more if words else ""


def _names(missing: Sequence[Difference]) -> list[str]:
    # An id names a part of a page better than the classes that go with it.
    named = [each for each in missing if "#" in each.at and not each.was] or missing
    return sorted(snippet(f"{each.at}: {each.was}" if each.at and each.was else each.at or each.was) for each in named)


def _wrong(each: Difference) -> str:
    had, has = ("had", "has") if each.kind is DifferenceKind.COUNT else ("was", "is")
    return f"`{snippet(each.at)}` {had} {each.was}, {has} {each.now}"


def _lost(each: Difference) -> str:
    return f"`{snippet(each.at)}` {f'({each.was}) ' if each.was else ''}{each.now}"


def _kinds(response: Response, shape: frozenset[str]) -> dict[str, frozenset[str]]:
    if "json" not in response.content_type.lower() or MALFORMED in shape:
        return {}
    return _by_path(shape)


def _by_path(parts: Iterable[str]) -> dict[str, frozenset[str]]:
    paths: dict[str, set[str]] = {}
    for part in parts:
        path, _, kind = part.rpartition(": ")
        paths.setdefault(path, set()).add(kind)
    return {path: frozenset(kinds) for path, kinds in paths.items()}


def _agreed(told: Sequence[Mapping[str, Said]]) -> dict[str, Said]:
    """What all say alike."""
    return {key: said for key, said in told[0].items() if all(each.get(key) == said for each in told[1:])}


def _other_kinds(usual: Usual, response: Response, parts: frozenset[str]) -> Iterator[Difference]:
    now = _kinds(response, parts)
    always = _by_path(usual.parts)
    for path, kinds in always.items():
        found = now.get(path, frozenset())
        new = found - usual.kinds[path] if path in usual.kinds else frozenset()
        other = new - _EMPTY.keys() - {kind.removeprefix("empty ") for kind in kinds}
        gone = ", ".join(sorted(kinds - found)) or ", ".join(sorted(kinds))
        if not found:
            yield Difference(DifferenceKind.MISSING, path, gone)
        elif other and not kinds <= {"null"}:  # what is no longer null is another value
            yield Difference(DifferenceKind.TYPE, path, ", ".join(map(_a, sorted(kinds))), _a(min(other)))
        elif kinds - found or new & _EMPTY.keys() - kinds:
            empty = {_EMPTY[kind] for kind in new & _EMPTY.keys()}
            if not kinds <= _EMPTY.keys():
                yield Difference(DifferenceKind.MISSING, path, gone, min(empty, default=""))


def _a(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeo' else 'a'} {kind}"


def _other_counts(usual: Usual, response: Response) -> Iterator[Difference]:
    now = counts_of(response.content_type, response.body)
    for path, counts in usual.counts.items():
        if path in now and now[path] != counts:
            was, found = Counter(counts), Counter(now[path])
            if any(now[path]) or not any(counts):
                yield Difference(DifferenceKind.COUNT, path, _elements(was - found), _numbers(found - was))
            else:
                yield Difference(DifferenceKind.MISSING, path, _elements(was), "empty")


def _numbers(counts: Counter[int]) -> str:
    return ", ".join(map(str, sorted(counts.elements())[:SHOWN])) or "none"


def _elements(counts: Counter[int]) -> str:
    return f"{_numbers(counts)} {'element' if counts == {1: 1} else 'elements'}"


def _other_values(usual: Usual, response: Response) -> Iterator[Difference]:
    for place, was, now in changed_places(usual.values, response.content_type, response.body):
        shown = (snippet(each, quotes="`", length=VALUE_LENGTH) for each in (was, now))
        yield Difference(DifferenceKind.VALUE, place, *shown)


def _of_page(usual: Usual, response: Response, parts: frozenset[str]) -> list[Difference]:
    """Parts of a page have no paths: where one is missing, so are the texts in it, in places that do not say so."""
    if missing := usual.parts - parts:
        return [Difference(DifferenceKind.MISSING, part) for part in sorted(missing)]
    now = counts_of(response.content_type, response.body)
    fewer = [  # more may be a notice that says what is wrong
        Difference(DifferenceKind.COUNT, name, _elements(Counter(counts)), str(now[name][0]))
        for name, counts in sorted(usual.counts.items())
        if name in now and now[name] < counts
    ]
    return fewer or list(_other_values(usual, response))


def _around(path: str) -> list[str]:
    """The paths that lead to this one."""
    return [""] + [path[: match.start()] for match in re.finditer(r"[.\[]", path)] if path else []
