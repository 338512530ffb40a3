import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.traces.files.json_grammar import (
    CONTAINER,
    KEY,
    MAX_DEPTH,
    SCALAR,
    TOO_DEEP,
    DamageError,
    end_of,
    is_whole,
    walk,
    whole_parts,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
VALUES = st.recursive(
    SCALARS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=5), values, max_size=3),
    max_leaves=10,
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=5), VALUES, max_size=3)


@given(CONTAINERS, st.sampled_from([None, 2]), st.sampled_from(["", ",", " {", "\n["]))
def test_a_container_ends_where_its_last_bracket_closes(value: object, indent: int | None, after: str) -> None:
    text = json.dumps(value, indent=indent).encode()
    assert end_of(CONTAINER, text + after.encode(), 0) == len(text)
    assert walk(text + after.encode(), 0, bytearray(), b"[") == (len(text), b"")
    assert is_whole(text)


@given(CONTAINERS, st.data())
def test_a_part_of_a_container_is_not_whole(value: object, data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    assert not is_whole(text[: data.draw(st.integers(1, len(text) - 1))])


@given(SCALARS)
def test_a_scalar_is_seen_to_its_end(value: object) -> None:
    text = json.dumps(value).encode()
    assert end_of(SCALAR, text + b",", 0) == len(text)


@pytest.mark.parametrize("text", [b'{"a" "b"}', b'["a":1]', b"[}", b'["a"x]', b'{"a":1,{}}'])
def test_what_is_out_of_order_is_damage(text: bytes) -> None:
    with pytest.raises(DamageError):
        walk(text, 0, bytearray(), b"[")


def test_what_is_nested_too_deeply_is_damage() -> None:
    with pytest.raises(DamageError, match=TOO_DEEP):
        walk(b"[" * (MAX_DEPTH + 1), 0, bytearray(), b"[")


def test_a_key_ends_behind_its_colon() -> None:
    assert end_of(KEY, b'"a\\"b" : 1', 0) == len(b'"a\\"b" : ')
    assert end_of(KEY, b"7 : 1", 0) == 0


@given(st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=4), st.integers(0, 10**6))
def test_of_a_value_that_was_cut_off_all_whole_parts_are_kept(parts: list[object], cut: int) -> None:
    text = json.dumps({"a": 1, "parts": parts}).encode()
    end = cut % len(text)
    ends = [len(json.dumps({"a": 1, "parts": parts[:number]}).encode()) - 2 for number in range(1, len(parts) + 1)]
    whole = sum(each <= end for each in ends)

    kept = whole_parts(text[:end], 2)

    assert (json.loads(kept)["parts"] if kept else []) == json.loads(json.dumps(parts[:whole]))
