import pytest

from cutset.errors import InputError
from cutset.traces.json_fields import boolean_in, int64_in, object_in, objects_in, text_in


def test_null_and_absent_are_the_default():
    for holder in ({}, {"a": None}):
        assert object_in(holder, "a", "") == ({}, "a")
        assert list(objects_in(holder, "a", "")) == []
        assert text_in(holder, "a", "") == ""
        assert int64_in(holder, "a", "") == 0


def test_numbers_may_be_texts():
    assert int64_in({"a": "-7"}, "a", "") == int64_in({"a": -7}, "a", "") == -7


def test_items_of_an_array_come_with_their_places():
    assert list(objects_in({"a": [{}, {"b": 1}]}, "a", "top")) == [({}, "top.a[0]"), ({"b": 1}, "top.a[1]")]


def test_a_wrong_value_is_quoted_with_its_place_and_cut():
    with pytest.raises(InputError) as raised:
        boolean_in({"a": "x" * 100}, "a", "top")

    assert raised.value.message == f'top.a: expected true or false, found "{"x" * 59}…'
