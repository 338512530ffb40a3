from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.jaeger_payloads import BATCH, BINARY, COMPACT

from cutset.errors import InputError
from cutset.traces.thrift import MAX_DEPTH, read_message, read_struct


def test_both_encodings_of_a_message_say_the_same():
    assert read_message(COMPACT) == read_message(BINARY)
    name, arguments = read_message(BINARY)
    assert name == "emitBatch"
    assert arguments == {1: read_struct(BATCH)}


def test_values_of_all_types_are_read():
    first, _second = read_struct(BATCH)[2]
    assert (first[1], first[3], first[5], first[8]) == (-2, -3, b"GET", 1_700_000_000_000_000)
    assert [tag.get(3, tag.get(4, tag.get(5, tag.get(6)))) for tag in first[10]] == [b"client", b"GET", 8080, 0.5, True]


def test_a_message_of_the_encoding_without_versions_is_read():
    head = (9).to_bytes(4, "big") + b"emitBatch" + b"\x04" + (0).to_bytes(4, "big")
    assert read_message(head + BINARY.partition(b"emitBatch\0\0\0\0")[2]) == read_message(BINARY)


def test_maps_sets_and_small_numbers_are_read_past():
    one = b"\x00\x01"
    fields = b"\x03\x00\x01\xff" + b"\x06\x00\x02\xff\xfe" + b"\x0d\x00\x03\x03\x08\0\0\0\x01\x05\0\0\0\x06"
    fields += b"\x0e\x00\x04\x02\0\0\0\x02" + one
    assert read_struct(fields + b"\0") == {1: -1, 2: -2, 3: [5, 6], 4: [False, True]}
    compact = (
        b"\x82\x81\x00\x01x" + b"\x13\xff" + b"\x14\x03" + b"\x1b\x01\x35\x05\x0c" + b"\x1b\x00" + b"\x1a\x21\x01\x02"
    )
    assert read_message(compact + b"\0")[1] == {1: -1, 2: -2, 3: [5, 6], 4: [], 5: [True, False]}


@pytest.mark.parametrize("payload", [BATCH[:-1], BATCH + b"x", b"", b"\x01\x00\x01", BATCH.replace(b"web", b"")])
def test_what_is_not_whole_is_refused_with_the_place(payload):
    with pytest.raises(InputError, match=r"The payload of \d+ bytes is not Thrift: .*, at byte \d+"):
        read_struct(payload)


def test_what_announces_more_than_it_has_costs_nothing():
    with pytest.raises(InputError, match="2147483647 values are announced"):
        read_struct(b"\x0f\x00\x01\x0c\x7f\xff\xff\xff")
    with pytest.raises(InputError, match="a number does not end"):
        read_message(b"\x82\x81" + b"\xff" * 20)


def test_nesting_is_bounded():
    with pytest.raises(InputError, match=f"nested deeper than {MAX_DEPTH}"):
        read_struct(b"\x0c\x00\x01" * 100_000)
    with pytest.raises(InputError, match=f"nested deeper than {MAX_DEPTH}"):
        read_struct(b"\x0f\x00\x01" + b"\x0f\0\0\0\x01" * 100_000)


@given(st.sampled_from([BINARY, COMPACT]), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6))
def test_damage_is_read_or_refused_and_nothing_else(payload, changes):
    damaged = bytearray(payload)
    for at, byte in changes:
        damaged[at % len(damaged)] = byte
    with suppress(InputError):
        read_message(bytes(damaged))
