"""What was found out about stored traces, kept beside them: `.cutset/traces/cache/<key>`.

A key names all that a summary depends on, so that nothing there is ever out of date. It is for speed alone: what is
missing, damaged or of no room on the disk is worked out again. Content is JSON, compressed, with a checksum; equal
calls, which summaries are full of, are in it once.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import orjson
import zstandard

from cutset.errors import CutsetError
from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Kinds, Representative, Survey
from cutset.store.place import keep_latest, read_file, replace_file
from cutset_agent import wire

MOST_UNUSED = 1_000  # of other windows of time, other settings, or what was forgotten

# Where it is decided what traces say, and what is concluded from it.
_ROOMS = ("model", "lineage", "select", "store", "survey", "report/survey", "report/drawing")

Content = TypeVar("Content")
Trees = tuple[CallTree, ...]

_COMPONENTS = {component.value: component for component in Component}
_TREE_FIELDS = {each.name: get_type_hints(CallTree)[each.name] for each in fields(CallTree)}
_PLAIN = (str, int, float, bool)
_PLAIN_CLASS_FIELDS = [
    name for name, kind in get_type_hints(ClassSummary).items() if kind in _PLAIN and name != "total_ns"
]
_SURVEY_FIELDS = get_type_hints(Survey)
_PLAIN_SURVEY_FIELDS = [name for name, kind in _SURVEY_FIELDS.items() if kind in _PLAIN]
_NAMES_SURVEY_FIELDS = [name for name, kind in _SURVEY_FIELDS.items() if kind == Mapping[str, frozenset[str]]]


def key_of(*facts: object) -> str:
    """Equal only for facts that look the same, read by the same code."""
    return blake2b("\0".join([_code(), *map(repr, facts)]).encode("utf-8", "replace"), digest_size=16).hexdigest()


@cache
def _code() -> str:
    """A digest of this package: whoever changes how traces are read need not remember that summaries are kept."""
    package = Path(__file__).parent.parent
    rooms = (package / room for room in _ROOMS)
    sources = [*sorted(file for room in rooms for file in room.glob("*.py")), Path(wire.__file__)]
    return blake2b(b"\0".join(file.read_bytes() for file in sources), digest_size=16).hexdigest()


def pack(content: object) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(orjson.dumps(content))


def unpack(packed: bytes) -> Any:
    return orjson.loads(zstandard.ZstdDecompressor().decompress(packed))


def keep(folder: Path, key: str, packed: bytes) -> None:
    with suppress(OSError):
        replace_file(folder, f"cache/{key}", packed)


def recalled(folder: Path, key: str, decode: Callable[[Any], Content]) -> Content | None:
    try:
        return decode(unpack(read_file(folder, f"cache/{key}")))
    except (
        CutsetError,
        OSError,
        zstandard.ZstdError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ):
        return None  # absent, or damaged


def drop_unused(folder: Path, used: Iterable[str]) -> None:
    with suppress(OSError):
        keep_latest(folder, "cache/*", MOST_UNUSED, {f"cache/{key}" for key in used})


def survey_to_content(survey: Survey) -> dict[str, Any]:
    points: dict[Point, int] = {}
    numbers: dict[CallTree, int] = {}
    nodes: list[list[Any]] = []

    def point(each: Point) -> int:
        return points.setdefault(each, len(points))

    def number(tree: CallTree) -> int:
        if tree not in numbers:
            nodes.append([encode(getattr(tree, name)) for name, encode in encoders])
            numbers[tree] = len(numbers)
        return numbers[tree]

    def trees(each: tuple[CallTree, ...]) -> list[int]:
        return [number(tree) for tree in each]

    def counted(kinds: Kinds) -> list[list[int]]:
        return [[number(tree), traces] for tree, traces in kinds.items()]

    by_kind: dict[Any, Callable[[Any], Any]] = {Point: point, Trees: trees}
    encoders = [(name, by_kind.get(kind, _itself)) for name, kind in _TREE_FIELDS.items()]
    classes = [
        {
            "key": key,
            **{name: getattr(each, name) for name in _PLAIN_CLASS_FIELDS},
            "total_ns": str(each.total_ns),  # may be larger than a number of JSON
            "kinds": counted(each.kinds),
            "torn": counted(each.torn),
            "score": each.representative.score,
            "trace_id": each.representative.trace_id,
            "calls": [[caller, number(call)] for caller, call in each.representative.calls],
        }
        for key, each in survey.classes.items()
    ]
    answers = [[point(caller), point(named), [*map(point, found)]] for (caller, named), found in survey.answers.items()]
    return {
        "classes": classes,
        "answers": answers,
        "others": {name: getattr(survey, name) for name in _PLAIN_SURVEY_FIELDS},
        "names": {
            name: {key: list(values) for key, values in getattr(survey, name).items()} for name in _NAMES_SURVEY_FIELDS
        },
        "points": [[each.service, each.api] for each in points],
        "nodes": nodes,
    }


def survey_of_content(content: Mapping[str, Any], known: dict[CallTree, CallTree] | None = None) -> Survey:
    """Trees that are equal to known ones are those: then to compare them takes no time."""
    same = {} if known is None else known
    points = [Point(service, api) for service, api in content["points"]]
    nodes: list[CallTree] = []

    def trees(numbers: Iterable[int]) -> tuple[CallTree, ...]:
        return tuple([nodes[number] for number in numbers])

    def kinds(counted: Iterable[tuple[int, int]]) -> dict[CallTree, int]:
        return {nodes[number]: traces for number, traces in counted}

    by_kind: dict[Any, Callable[[Any], Any]] = {
        Point: points.__getitem__,
        Component: _COMPONENTS.__getitem__,
        Trees: trees,
    }
    decoders = [by_kind.get(kind, _itself) for kind in _TREE_FIELDS.values()]
    for values in content["nodes"]:
        tree = CallTree(*[decode(value) for decode, value in zip(decoders, values, strict=True)])
        nodes.append(same.setdefault(tree, tree))
    classes = {
        each["key"]: ClassSummary(
            representative=Representative(
                each["score"], each["trace_id"], tuple((caller, nodes[call]) for caller, call in each["calls"])
            ),
            kinds=kinds(each["kinds"]),
            torn=kinds(each["torn"]),
            total_ns=int(each["total_ns"]),
            **{name: each[name] for name in _PLAIN_CLASS_FIELDS},
        )
        for each in content["classes"]
    }
    answers = {
        (points[caller], points[named]): frozenset(points[each] for each in found)
        for caller, named, found in content["answers"]
    }
    others: dict[str, Any] = {
        name: {key: frozenset(values) for key, values in found.items()} for name, found in content["names"].items()
    }
    return Survey(classes, answers=answers, **others, **content["others"])


def _itself(value: Any) -> Any:
    return value
