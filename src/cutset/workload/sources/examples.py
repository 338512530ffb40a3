"""Values for what an OpenAPI file describes: its examples, defaults and enumerations, or else the least that fits.

A value is *given* if the file says it, in an example, a default, an enumeration or a constant; all others are guesses.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 6  # of schemas inside each other: they may contain themselves
_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "email": "user@example.com",
    "uri": "http://example.com",
    "ipv4": "127.0.0.1",
    "byte": "eA==",
}
_EMPTY: Mapping[str, Any] = {"boolean": True, "null": None}


@dataclass(frozen=True, slots=True)
class ExampleValue:
    value: Any
    given: bool

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else json.dumps(self.value)


@dataclass(frozen=True, slots=True)
class ExampleBody:
    """One of the three, or none."""

    json: Any = None
    form: Mapping[str, str] | None = None
    text: str | None = None
    content_type: str = ""
    guessed: list[str] = field(default_factory=list)


class Examples:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    def resolved(self, value: Any) -> Any:
        """What a reference within the file stands for; None if it leads nowhere, or elsewhere."""
        for _ in range(MAX_DEPTH):
            if not isinstance(value, dict) or "$ref" not in value:
                return value
            value = self._at(str(value["$ref"]))
        return None

    def _at(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return None
        found: Any = self.document
        for part in reference.removeprefix("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def component(self, kind: str) -> Mapping[str, Any]:
        found = self._at(f"#/components/{kind}")
        return found if isinstance(found, dict) else {}

    def of_parameter(self, parameter: Mapping[str, Any]) -> ExampleValue:
        for value in self._said(parameter):
            return ExampleValue(value, given=True)
        media: Mapping[str, Any] = next(iter((parameter.get("content") or {}).values()), {})
        return self.of_schema(parameter.get("schema") or media.get("schema"))

    def body_of(self, body: Any) -> ExampleBody:
        content = (self.resolved(body) or {}).get("content") or {}
        for content_type, media in content.items():
            if content_type.partition(";")[0].endswith(("/json", "+json")):
                value = self._of_media(media)
                return ExampleBody(json=value.value, guessed=[] if value.given else ["body"])
            if content_type.startswith("application/x-www-form-urlencoded"):
                value = self._of_media(media)
                fields = value.value if isinstance(value.value, dict) else {}
                form = {str(name): ExampleValue(each, given=True).text for name, each in fields.items()}
                return ExampleBody(form=form, guessed=[] if value.given else ["body"])
        if content:
            return ExampleBody(text="", content_type=next(iter(content)), guessed=["body"])
        return ExampleBody()

    def _of_media(self, media: Any) -> ExampleValue:
        media = media if isinstance(media, dict) else {}
        for value in self._said(media):
            return ExampleValue(value, given=True)
        return self.of_schema(media.get("schema"))

    def _said(self, described: Mapping[str, Any]) -> Iterator[Any]:
        if "example" in described:
            yield described["example"]
        examples = described.get("examples")
        for each in examples.values() if isinstance(examples, dict) else examples or ():
            example = self.resolved(each) if isinstance(examples, dict) else each
            if not isinstance(examples, dict):
                yield example
            elif isinstance(example, dict) and "value" in example:
                yield example["value"]

    def of_schema(self, schema: Any, depth: int = 0) -> ExampleValue:
        schema = self.resolved(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return ExampleValue("1", given=False)
        for value in (*self._said(schema), *(schema[name] for name in ("const", "default") if name in schema)):
            return ExampleValue(value, given=True)
        if schema.get("enum"):
            return ExampleValue(schema["enum"][0], given=True)
        for several in ("oneOf", "anyOf"):
            if schema.get(several):
                return self.of_schema(schema[several][0], depth + 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: Mapping[str, Any], depth: int) -> ExampleValue:
        kind = schema.get("type")
        kind = next((each for each in kind if each != "null"), "null") if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema or "allOf" in schema:
            return self._object(schema, depth)
        if kind == "array":
            least = self.of_schema(schema.get("items"), depth + 1)
            number = max(int(schema.get("minItems", 0)), 0)
            return ExampleValue([least.value] * min(number, 10), given=least.given or not number)
        if kind in {"integer", "number"}:
            return ExampleValue(_number(schema), given=False)
        if kind in _EMPTY:
            return ExampleValue(_EMPTY[str(kind)], given=False)
        text = _FORMATS.get(str(schema.get("format")), "1")
        return ExampleValue(text.ljust(min(int(schema.get("minLength", 0)), 1000), "x"), given=False)

    def _object(self, schema: Mapping[str, Any], depth: int) -> ExampleValue:
        """With what must be there, of all the parts that it is put together from."""
        value: dict[str, Any] = {}
        given = True
        for part in (*(self.resolved(each) for each in schema.get("allOf") or ()), schema):
            if not isinstance(part, dict):
                continue
            if part is not schema and "allOf" in part:
                nested = self._object(part, depth + 1) if depth < MAX_DEPTH else ExampleValue({}, given=False)
                value |= nested.value
                given &= nested.given
                continue
            properties = part.get("properties") or {}
            for name in part.get("required") or ():
                each = self.of_schema(properties.get(name), depth + 1)
                value[str(name)] = each.value
                given &= each.given
        return ExampleValue(value, given)


def _number(schema: Mapping[str, Any]) -> Any:
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    least = least if isinstance(least, int | float) and not isinstance(least, bool) else 0
    return max(1, least + 1 if "exclusiveMinimum" in schema else least)
