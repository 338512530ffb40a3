import re
import string
import uuid
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.workload.values.identifiers import fresh_like, mask_segments, shape_of


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("6f1e1c9e-8f0f-4b62-9c5e-1f0a2b3c4d5e", "uuid"),
        ("6F1E1C9E-8F0F-4B62-9C5E-1F0A2B3C4D5E", "uuid"),
        ("9a8b7c6d5e4f3a2b", "hex"),
        ("deadbeefcafe", "text"),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "token"),
        ("dGhpcyBpcyBhIDEyMyB0b2tlbg==", "token"),
        ("tok_4f9a8b7c6d5e4f3a", "token"),
        ("17", "number"),
        ("ord-1042", "counted"),
        ("ann17@example.com", "counted"),
        ("iphone-15-pro-max-256gb", "counted"),
        ("checkout", "text"),
        ("masked-0123456789abcdef", "secret"),
        ("", "text"),
    ],
)
def test_shapes(value: str, shape: str) -> None:
    assert shape_of(value) == shape


alphabet = string.ascii_letters + string.digits
identifiers = (
    st.uuids().map(str)
    | st.uuids().map(lambda each: each.hex)
    | st.from_regex(r"[0-9A-F]{12,20}", fullmatch=True)
    | st.from_regex(r"[1-9][0-9]{5,11}", fullmatch=True)
    | st.from_regex(r"[a-z]{2,6}[-_][0-9]{6,9}", fullmatch=True)
    | st.text(alphabet, min_size=16, max_size=40)
)


@given(identifiers, st.integers())
def test_a_fresh_identifier_differs_and_has_the_same_shape(value: str, seed: int) -> None:
    fresh = fresh_like(Random(seed))(value)
    assert fresh != value
    digits = re.findall(r"[0-9]+", value)
    if shape_of(value) in {"uuid", "hex", "token"} or (shape_of(value) != "text" and len(digits[-1]) >= 6):
        assert shape_of(fresh) == shape_of(value)
        assert len(fresh) == len(value)
        assert [char.isdigit() for char in fresh] == [char.isdigit() for char in value]


@given(identifiers)
def test_fresh_identifiers_do_not_repeat(value: str) -> None:
    fresh = fresh_like(Random(1))
    assert len({fresh(value) for _ in range(30)}) == 30


def test_numbers_with_few_digits_become_longer_so_that_they_are_nobody_s() -> None:
    fresh = fresh_like(Random(1))
    assert re.fullmatch(r"ann[0-9]{8}@example\.com", fresh("ann17@example.com"))
    assert re.fullmatch(r"[0-9]{8}", fresh("7"))
    assert re.fullmatch(r"ord-[0-9]{6}", fresh("ord-100042"))


@given(st.uuids(version=4))
def test_a_fresh_uuid_is_one_of_the_same_version(value: uuid.UUID) -> None:
    fresh = uuid.UUID(fresh_like(Random(2))(str(value)))
    assert (fresh.version, fresh.variant) == (value.version, value.variant)


@pytest.mark.parametrize(
    ("path", "masked"),
    [
        ("/orders/17/items?x=1", "/orders/*/items"),
        ("/orders/ord_1042", "/orders/*"),
        ("/api/v1/oauth", "/api/v1/oauth"),
        ("/users/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/users/*"),
        ("/reset/masked-0011223344556677", "/reset/*"),
        ("/", "/"),
    ],
)
def test_segments_that_name_one_thing_are_masked(path: str, masked: str) -> None:
    assert mask_segments(path) == masked
