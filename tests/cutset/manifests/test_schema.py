import pytest

from cutset.manifests.schema import problems


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        (None, {"type": "string", "nullable": True}, []),
        (None, {"type": "string"}, [": expected string, found None"]),
        (1, {"x-kubernetes-int-or-string": True}, []),
        ([], {"x-kubernetes-int-or-string": True}, [": expected a number or a text, found []"]),
        (1, {"type": "number"}, []),
        (True, {"type": "boolean"}, []),
        ("c", {"enum": ["a", "b"]}, [": expected one of a, b, found 'c'"]),
        (5, {"minimum": 6}, [": expected at least 6, found 5"]),
        (5, {"maximum": 4}, [": expected at most 4, found 5"]),
        ([1, 2], {"type": "array", "maxItems": 1}, [": expected at most 1, found 2"]),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, ["[1]: expected integer, found 'x'"]),
        ({"a": 1}, {"type": "object", "additionalProperties": {"type": "string"}}, [".a: expected string, found 1"]),
        ({"a": 1}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, []),
        ({"a": 1}, {"type": "object"}, [".a: there is no such field"]),
        ({"a": 1}, {"allOf": [{"required": ["b"]}]}, [": `b` is missing"]),
        ({"a": 1}, {"anyOf": [{"required": ["b"]}, {"required": ["a"]}]}, []),
        ({"a": 1}, {"anyOf": [{"required": ["b"]}]}, [": fits 0 of the 1 forms that it may have"]),
        ({"a": 1}, {"oneOf": [{"required": ["a"]}, {}]}, [": fits 2 of the 2 forms that it may have"]),
        ({"a": 1}, {"not": {"required": ["a"]}}, [": has a form that is not allowed"]),
        ({"a": 1}, {"not": {"required": ["b"]}}, []),
    ],
)
def test_each_rule_of_a_schema_is_checked(value: object, schema: dict, found: list[str]) -> None:
    assert list(problems(value, schema)) == found
