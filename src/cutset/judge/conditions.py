"""What a user asks of one value of an answer, by its path in a JSON document, or of a header: a small exact grammar.

    path       order.total   items[0].sku   items[].sku (of some element)   items[*].sku (of each, and there is one)
               ["a.b"].c (a key with dots)   $ (the document)
    condition  a text, number, truth value, null or list: exactly that;
               or a mapping, all of which must hold: is, is_not, present, type, count, at_least, at_most, matches

Regular expressions are those of Rust (`pydantic_core` has them): they take linear time whatever an answer holds, and so
know neither look-around nor back-references.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

from cutset.judge.quotes import snippet
from cutset.judge.shape import kind_of

TYPES = ("string", "number", "boolean", "array", "object", "null")

_STEP = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?:(?P<each>\*)|(?P<at>\d{1,6})|\"(?P<key>[^\"]*)\")?\]")
_SOME, _EACH = object(), object()
NOTHING = object()  # what a path leads to that is not there
_LIMITS = ("at_least", "at_most")


def problem_with_path(path: str) -> str:
    """Empty if it is one."""
    return "" if _steps(path) is not None else "a path such as `order.total`, `items[].sku` or `items[0]`"


def problem_with(condition: object) -> str:
    """What was expected instead; empty if it is a condition."""
    if not isinstance(condition, Mapping):
        return ""
    if not condition or condition.keys() - _KEYS.keys():
        return f"a value, or conditions out of {', '.join(f'`{key}`' for key in _KEYS)}"
    return next((f"`{key}` to be {_KEYS[key][0]}" for key, each in condition.items() if not _KEYS[key][1](each)), "")


def problem_with_pattern(pattern: object) -> str:
    if not isinstance(pattern, str) or not pattern:
        return "a regular expression"
    try:
        _pattern(pattern)
    except SchemaError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        return f"a regular expression ({lines[-1].removeprefix('error: ').removeprefix('SchemaError: ')})"
    return ""


def found_in(pattern: str, text: str) -> bool:
    return _pattern(pattern).isinstance_python(text)


def unmet(name: str, path: str, condition: object, document: object) -> str:
    """How a document fails a condition, in words that follow "but"; empty if it holds. `name` is what to call it."""
    steps = _steps(path)
    assert steps is not None, path
    for key, wanted in _conditions(condition):
        if not _holds(document, steps, partial(_met, key, wanted)):
            return _told(name, key, wanted, list(_found(document, steps)))
    return ""


def unmet_text(name: str, condition: object, text: str | None) -> str:
    """The same of a header; None: there is none."""
    return unmet(name, "$", condition, NOTHING if text is None else text)


def _conditions(condition: object) -> Iterator[tuple[str, Any]]:
    yield from condition.items() if isinstance(condition, Mapping) else [("is", condition)]


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[object, ...] | None:
    """None: it is no path."""
    steps: list[object] = []
    position, rest = 0, path[1:].removeprefix(".") if re.match(r"\$(\.|\[|$)", path) else path
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None:
            return None
        position = match.end()
        match match.lastgroup:
            case None:
                steps.append(_SOME)
            case "each":
                steps.append(_EACH)
            case "at":
                steps.append(int(match["at"]))
            case name:
                steps.append(match[name])
    return tuple(steps) if steps or path == "$" else None


def _children(value: object, step: object) -> list[object]:
    """What a step leads to; of what is not there, nothing, so that it can be asked for that."""
    match value:
        case list() if step is _SOME or step is _EACH:
            return value or [NOTHING]
        case list() if isinstance(step, int) and step < len(value):
            return [value[step]]
        case dict() if step in value:
            return [value[step]]
    return [NOTHING]


def _holds(value: object, steps: tuple[object, ...], met: Callable[[object], bool]) -> bool:
    if not steps:
        return met(value)
    within = (_holds(child, steps[1:], met) for child in _children(value, steps[0]))
    return all(within) if steps[0] is _EACH else any(within)


def _found(value: object, steps: tuple[object, ...]) -> Iterator[object]:
    if not steps:
        yield from () if value is NOTHING else (value,)
        return
    for child in _children(value, steps[0]):
        yield from _found(child, steps[1:])


def _met(key: str, wanted: Any, value: Any) -> bool:
    if key == "present":
        return bool((value is not NOTHING) == wanted)
    _, _, is_met = _KEYS[key]
    return value is not NOTHING and bool(is_met(wanted, value))


def _is_same(wanted: object, value: object) -> bool:
    """As JSON: 1 is 1.0, but not true."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, list | tuple) and isinstance(value, list):
        return len(wanted) == len(value) and all(map(_is_same, wanted, value))
    if isinstance(wanted, Mapping) and isinstance(value, dict):
        return wanted.keys() == value.keys() and all(_is_same(wanted[key], value[key]) for key in wanted)
    return wanted == value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        return bool(wanted) and not wanted.keys() - set(_LIMITS) and all(map(_is_whole, wanted.values()))
    return _is_whole(wanted)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _counts(wanted: Any, value: object) -> bool:
    if not isinstance(value, list | dict):
        return False
    limits = wanted if isinstance(wanted, Mapping) else {"at_least": wanted, "at_most": wanted}
    return bool(limits.get("at_least", 0) <= len(value) <= limits.get("at_most", len(value)))


def _type_of(value: object) -> str:
    return kind_of(value).removeprefix("empty ")


def _matches(wanted: str, value: object) -> bool:
    return found_in(wanted, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


# Key -> what it takes, whether a value is that, and whether a value of the answer meets it.
_KEYS: Mapping[str, tuple[str, Callable[[Any], object], Callable[[Any, Any], object]]] = {
    "is": ("a value", lambda _: True, _is_same),
    "is_not": ("a value", lambda _: True, lambda wanted, value: not _is_same(wanted, value)),
    "present": ("true or false", lambda wanted: isinstance(wanted, bool), lambda _, __: True),
    "type": (f"one of {', '.join(TYPES)}", lambda wanted: wanted in TYPES, lambda wanted, v: _type_of(v) == wanted),
    "count": ("a whole number, or `at_least` and `at_most`", _is_count, _counts),
    "at_least": ("a number", _is_number, lambda wanted, value: _is_number(value) and value >= wanted),
    "at_most": ("a number", _is_number, lambda wanted, value: _is_number(value) and value <= wanted),
    "matches": ("a regular expression", lambda wanted: not problem_with_pattern(wanted), _matches),
}


def _told(name: str, key: str, wanted: Any, found: list[object]) -> str:
    if not found:
        return f"`{snippet(name)}` is missing" + ("" if key == "present" else f", not {_words(key, wanted)}")
    lists = [each for each in found if isinstance(each, list | dict)]
    if key == "count" and lists:
        numbers = ", ".join(str(len(each)) for each in lists[:3])
        return f"`{snippet(name)}` has {numbers} elements, not {_words(key, wanted).removesuffix(' elements')}"
    here = snippet(", ".join(json.dumps(each, ensure_ascii=False) for each in found[:3]))
    return f"`{snippet(name)}` is {here}, not {_words(key, wanted)}"


def _words(key: str, wanted: Any) -> str:
    shown = snippet(wanted if key == "matches" else json.dumps(wanted, ensure_ascii=False))
    words = {
        "present": "missing",
        "type": f"of type {wanted}",
        "count": f"{_limits(wanted)} elements",
        "at_least": f"at least {wanted}",
        "at_most": f"at most {wanted}",
        "matches": f"like `{shown}`",
        "is_not": f"other than {shown}",
    }
    return words.get(key, shown)


def _limits(wanted: Any) -> str:
    if not isinstance(wanted, Mapping):
        return str(wanted)
    return " and ".join(f"{key.replace('_', ' ')} {value}" for key, value in wanted.items())


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
