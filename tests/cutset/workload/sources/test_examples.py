from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.workload.sources.examples import Examples, ExampleValue

NONE = Examples({})


@pytest.mark.parametrize(
    ("schema", "value", "is_given"),
    [
        ({"type": "string", "example": "tea"}, "tea", True),
        ({"type": "string", "examples": ["tea", "coffee"]}, "tea", True),
        ({"type": "integer", "default": 0}, 0, True),
        ({"const": None}, None, True),
        ({"enum": ["a", "b"]}, "a", True),
        ({"type": "integer", "exclusiveMinimum": 4}, 5, False),
        ({"type": ["null", "boolean"]}, True, False),
        ({"type": "string", "format": "date"}, "2026-01-01", False),
        ({"oneOf": [{"enum": [3]}, {"type": "string"}]}, 3, True),
        ({"type": "array", "items": {"type": "string"}}, [], True),
        ({"type": "object"}, {}, True),
        ({}, "1", False),
        (None, "1", False),
    ],
)
def test_a_schema_has_a_value_and_it_is_known_whether_it_was_given(schema, value, is_given):
    assert NONE.of_schema(schema) == ExampleValue(value, is_given)


def test_references_are_followed_within_the_file_and_nowhere_else():
    examples = Examples(
        {"components": {"schemas": {"a/b": {"const": 1}, "loop": {"$ref": "#/components/schemas/loop"}}}}
    )
    assert examples.of_schema({"$ref": "#/components/schemas/a~1b"}).value == 1
    assert not examples.of_schema({"$ref": "#/components/schemas/loop"}).given
    assert not examples.of_schema({"$ref": "http://other.test/schema"}).given


def test_a_schema_that_contains_itself_ends():
    schema: dict[str, Any] = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/s"}}}
    assert "next" in Examples({"s": schema}).of_schema({"$ref": "#/s"}).value


_SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"enum": [1]}, {}]),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "minItems": 1, "items": items}, inner),
        st.builds(lambda one: {"type": "object", "required": ["a"], "properties": {"a": one}}, inner),
        st.builds(lambda one, two: {"allOf": [one, two]}, inner, inner),
    ),
    max_leaves=8,
)


@given(_SCHEMAS)
def test_every_schema_has_some_value(schema):
    assert isinstance(NONE.of_schema(schema), ExampleValue)
