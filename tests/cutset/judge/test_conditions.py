import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.conditions import (
    found_in,
    problem_with,
    problem_with_path,
    problem_with_pattern,
    unmet,
    unmet_text,
)

ORDER = {
    "id": "ord-17",
    "total": 19.99,
    "paid": True,
    "note": None,
    "items": [{"sku": "tea", "price": 5}, {"sku": "mug", "price": 0}],
    "tags": [],
    "a.b": {"c": 1},
}


@pytest.mark.parametrize(
    ("path", "condition"),
    [
        ("id", "ord-17"),
        ("$.id", "ord-17"),
        ("total", {"at_least": 19, "at_most": 20, "type": "number"}),
        ("paid", True),
        ("note", None),
        ("note", {"present": True, "type": "null"}),
        ("coupon", {"present": False}),
        ("items", {"count": 2, "type": "array"}),
        ("items", {"count": {"at_least": 1}}),
        ("items[].sku", "mug"),
        ("items[0].sku", "tea"),
        ("items[*].price", {"at_least": 0}),
        ("tags", []),
        ("tags[]", {"present": False}),
        ('["a.b"].c', 1),
        ("id", {"matches": "^ord-[0-9]+$", "is_not": "ord-18"}),
        ("$", {"type": "object"}),
        ("items[0]", {"is": {"sku": "tea", "price": 5.0}}),
    ],
)
def test_a_condition_that_holds_says_nothing(path: str, condition: object) -> None:
    assert problem_with_path(path) == ""
    assert problem_with(condition) == ""
    assert unmet(path, path, condition, ORDER) == ""


@pytest.mark.parametrize(
    ("path", "condition", "told"),
    [
        ("id", "ord-18", '`id` is "ord-17", not "ord-18"'),
        ("coupon", 5, "`coupon` is missing, not 5"),
        ("coupon", {"present": True}, "`coupon` is missing"),
        ("note", {"present": False}, "`note` is null, not missing"),
        ("total", {"type": "string"}, "`total` is 19.99, not of type string"),
        ("total", {"at_least": 20}, "`total` is 19.99, not at least 20"),
        ("id", {"at_most": 20}, '`id` is "ord-17", not at most 20'),
        ("items", {"count": 9}, "`items` has 2 elements, not 9"),
        ("items", {"count": {"at_least": 3, "at_most": 4}}, "`items` has 2 elements, not at least 3 and at most 4"),
        ("total", {"count": 1}, "`total` is 19.99, not 1 elements"),
        ("items[*].price", {"at_least": 1}, "`items[*].price` is 5, 0, not at least 1"),
        ("tags[*]", {"type": "string"}, "`tags[*]` is missing, not of type string"),
        ("items[7].sku", "tea", '`items[7].sku` is missing, not "tea"'),
        ("paid", 1, "`paid` is true, not 1"),
        ("id", {"matches": "^x"}, '`id` is "ord-17", not like `^x`'),
        ("id", {"is_not": "ord-17"}, '`id` is "ord-17", not other than "ord-17"'),
        ("items[].sku", "pot", '`items[].sku` is "tea", "mug", not "pot"'),
    ],
)
def test_one_that_does_not_hold_is_told_by_its_path(path: str, condition: object, told: str) -> None:
    assert unmet(path, path, condition, ORDER) == told


@pytest.mark.parametrize("path", ["", "a..b", "a[", "a[x]", ".", "a]b", "a."])
def test_what_is_no_path_is_refused(path: str) -> None:
    assert problem_with_path(path) == "a path such as `order.total`, `items[].sku` or `items[0]`"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"size": 1}, "a value, or conditions out of `is`, `is_not`"),
        ({}, "a value, or conditions out of `is`, `is_not`"),
        ({"type": "text"}, "`type` to be one of string, number, boolean, array, object, null"),
        ({"count": -1}, "`count` to be a whole number, or `at_least` and `at_most`"),
        ({"count": {"is": 1}}, "`count` to be a whole number, or `at_least` and `at_most`"),
        ({"at_least": "1"}, "`at_least` to be a number"),
        ({"present": 1}, "`present` to be true or false"),
        ({"matches": "("}, "`matches` to be a regular expression"),
    ],
)
def test_what_is_no_condition_is_refused(condition: object, expected: str) -> None:
    assert problem_with(condition).startswith(expected)


def test_a_pattern_is_refused_with_its_reason() -> None:
    assert problem_with_pattern("(") == "a regular expression (unclosed group)"
    assert "look-around" in problem_with_pattern("a(?=b)")
    assert "size limit" in problem_with_pattern("a{1000}{1000}{1000}")
    assert problem_with_pattern("a+") == ""


def test_a_pattern_that_would_take_a_backtracking_engine_for_ever_takes_no_time() -> None:
    assert not found_in("(a+)+$", "a" * 200_000 + "!")


def test_a_header_is_a_text_or_not_there() -> None:
    assert unmet_text("x-cache", "HIT", "HIT") == ""
    assert unmet_text("x-cache", {"matches": "^H"}, "HIT") == ""
    assert unmet_text("x-cache", "HIT", "MISS") == '`x-cache` is "MISS", not "HIT"'
    assert unmet_text("x-cache", {"present": False}, None) == ""
    assert unmet_text("x-cache", "HIT", None) == '`x-cache` is missing, not "HIT"'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_a_value_is_what_it_is_and_nothing_else(one: object, other: object) -> None:
    assert unmet("$", "$", {"is": one}, one) == ""
    assert bool(unmet("$", "$", {"is": one}, other)) != bool(unmet("$", "$", {"is_not": one}, other))


@given(st.text(max_size=20), JSON)
def test_any_text_is_a_path_or_is_refused(path: str, document: object) -> None:
    if not problem_with_path(path):
        assert (
            unmet(path, path, {"present": True}, document) == ""
            or unmet(path, path, {"present": False}, document) == ""
        )
