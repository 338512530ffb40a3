"""Checks a document against the schema of a Kubernetes custom resource (a part of OpenAPI 3).

Stricter than an API server, which drops fields that it does not know: here they are problems. Of the rules in
Kubernetes' expression language only the one on durations is checked; Istio's others are about parts that Cutset does
not write.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_DURATION_RULE = "duration(self) >= duration('1ms')"
_DURATION = re.compile(r"(\d+(\.\d+)?(h|m|s|ms))+")


def problems(value: Any, schema: Schema, at: str = "") -> Iterator[str]:
    """Where and how the value differs from what the schema says; nothing if it does not."""
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str):
            yield f"{at}: expected a number or a text, found {value!r}"
        return
    if (kind := schema.get("type")) and not _is(value, kind):
        yield f"{at}: expected {kind}, found {value!r}"
        return
    yield from _value_problems(value, schema, at)
    if isinstance(value, dict):
        yield from _object_problems(value, schema, at)
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{at}[{position}]")
    yield from _combination_problems(value, schema, at)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _value_problems(value: Any, schema: Schema, at: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: expected one of {', '.join(map(str, schema['enum']))}, found {value!r}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at}: expected at least {schema['minimum']}, found {value}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{at}: expected at most {schema['maximum']}, found {value}"
    for limit in ("maxItems", "maxLength", "maxProperties"):
        if limit in schema and len(value) > schema[limit]:
            yield f"{at}: expected at most {schema[limit]}, found {len(value)}"
    rules = [rule["rule"] for rule in schema.get("x-kubernetes-validations", ())]
    if _DURATION_RULE in rules and not _DURATION.fullmatch(value):
        yield f"{at}: expected a duration such as `1.5s`, found {value!r}"


def _object_problems(value: Mapping[str, Any], schema: Schema, at: str) -> Iterator[str]:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: `{name}` is missing"
    for name, inner in value.items():
        if name in known:
            yield from problems(inner, known[name], f"{at}.{name}")
        elif isinstance(rest, Mapping):
            yield from problems(inner, rest, f"{at}.{name}")
        elif "type" in schema and not rest and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{at}.{name}: there is no such field"  # parts of a combination have no type and know only some


def _combination_problems(value: Any, schema: Schema, at: str) -> Iterator[str]:
    for inner in schema.get("allOf", ()):
        yield from problems(value, inner, at)
    for name in ("anyOf", "oneOf"):
        if name in schema:
            fitting = sum(not any(problems(value, inner, at)) for inner in schema[name])
            if not fitting or (name == "oneOf" and fitting > 1):
                yield f"{at}: fits {fitting} of the {len(schema[name])} forms that it may have"
    if "not" in schema and not any(problems(value, schema["not"], at)):
        yield f"{at}: has a form that is not allowed"
