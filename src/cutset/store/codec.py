"""Events as JSON and back, by the types of their fields; points, faults and effects are the strings that users see.

One codec for the records of all loops: whoever adds an event to the model adds it to `RECORDED`, and nothing else.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from cutset.errors import InputError
from cutset.model.drill import DrillEvent
from cutset.model.effect import Effect
from cutset.model.event import CampaignEvent
from cutset.model.fault import Fault
from cutset.model.hardening import HardeningEvent
from cutset.model.impact import ImpactEvent
from cutset.model.point import Point
from cutset.model.reproduction.event import ReproductionEvent

RecordedEvent = CampaignEvent | DrillEvent | HardeningEvent | ReproductionEvent | ImpactEvent
RECORDED: Mapping[str, type] = {kind.__name__: kind for kind in get_args(RecordedEvent)}

MOST_NAMES = 65_536  # points, effects and faults, of each, that are remembered
_AS_TEXT = (Point, Effect, Fault, Path)  # `str` of them says it all
_Decode = Callable[[Any], Any]


def event_to_json(event: RecordedEvent) -> tuple[str, str]:
    """The event's kind and its fields."""
    return type(event).__name__, json.dumps(to_jsonable(event), separators=(",", ":"))


def event_from_json(kind: str, text: str) -> RecordedEvent:
    try:
        value = json.loads(text)
        if "\\ud" in text.lower():  # half of a surrogate pair is no text: nobody could hash or print it
            json.dumps(value, ensure_ascii=False).encode()
        return cast("RecordedEvent", from_jsonable(RECORDED[kind], value))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"The ledger holds an event that cannot be read: {kind} {text[:200]} ({error})") from error


def to_jsonable(value: Any) -> Any:  # noqa: PLR0911 -- one for each kind of value
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(map(to_jsonable, value))
    if isinstance(value, tuple | list):
        return list(map(to_jsonable, value))
    if isinstance(value, Mapping):
        return {str(name): to_jsonable(item) for name, item in value.items()}
    if is_dataclass(value):
        items = {each.name: getattr(value, each.name) for each in fields(value)}
        return {name: to_jsonable(item) for name, item in items.items() if not callable(item)}  # code goes by its name
    raise TypeError(f"{type(value).__name__} is not for the ledger")


def from_jsonable(kind: Any, value: Any) -> Any:
    return _decoder(kind)(value)


@cache
def _decoder(kind: Any) -> _Decode:  # noqa: PLR0911 -- one for each kind of type
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        item = _decoder(arguments[0])
        return lambda value: frozenset(map(item, _expect(list, value)))
    if origin is not None and issubclass(origin, Mapping):
        key, item = map(_decoder, arguments)
        return lambda value: {key(name): item(each) for name, each in _expect(dict, value).items()}
    if kind in (Point, Effect, Fault):
        # The same few names stand in every record: so each is read once, and is one object.
        return cast("_Decode", lru_cache(MOST_NAMES)(kind.parse))
    if kind is Path or (isinstance(kind, type) and issubclass(kind, Enum)):
        return cast("_Decode", kind)
    if is_dataclass(kind):
        return _dataclass(cast("type", kind))
    return _plain(kind)


def _plain(kind: Any) -> _Decode:
    if kind is float:
        return lambda value: float(_expect((int, float), value))
    if kind in (str, int, bool):
        return lambda value: _expect(kind, value)
    if kind is NoneType:
        return lambda value: _expect(NoneType, value)
    raise TypeError(f"{kind} is not for the ledger")


def _expect(kind: type | tuple[type, ...], value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind}, found {value!r:.60}")
    return value


def _one_of(kinds: tuple[Any, ...]) -> _Decode:
    """A value or None: a union of several types could not be told apart in JSON."""
    (kind,) = (each for each in kinds if each is not NoneType)
    decode = _decoder(kind)
    return lambda value: None if value is None else decode(value)


def _tuple(kinds: tuple[Any, ...]) -> _Decode:
    if len(kinds) == 2 and kinds[1] is ...:
        item = _decoder(kinds[0])
        return lambda value: tuple(map(item, _expect(list, value)))
    items = tuple(map(_decoder, kinds))
    return lambda value: tuple(decode(each) for decode, each in zip(items, _expect(list, value), strict=True))


def _dataclass(kind: type) -> _Decode:
    hints = get_type_hints(kind)
    decoders = {each.name: _decoder(hints[each.name]) for each in fields(kind)}
    required = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}

    def decode(value: Any) -> Any:
        given = _expect(dict, value)
        if missing := required - given.keys():
            raise KeyError(min(missing))
        return kind(**{name: decoders[name](item) for name, item in given.items()})

    return decode
