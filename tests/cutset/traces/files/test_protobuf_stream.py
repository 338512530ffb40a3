import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.traces.files import protobuf_stream
from cutset.traces.files.protobuf_stream import MALFORMED, TOO_LARGE, TRUNCATED, fields, first_fields
from cutset.traces.tally import ReadTally


def field(number, content):
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def read(content):
    tally = ReadTally()
    return list(first_fields(io.BytesIO(content), tally)), dict(tally.skipped)


def test_first_fields_come_with_their_place_and_others_are_passed_over():
    others = b"\x10\x96\x01" + b"\x19" + bytes(8) + b"\x25" + bytes(4) + field(6, b"other")

    assert read(field(1, b"a") + others + field(1, b"b")) == (
        [(b"a", True, "byte 0"), (b"b", True, f"byte {3 + len(others)}")],
        {},
    )


def test_messages_may_have_their_lengths_before_them():
    first, second = field(1, b"a"), field(1, b"b") + field(1, b"c")

    found, skipped = read(len(first).to_bytes(4) + first + bytes(4) + len(second).to_bytes(4) + second)

    assert [content for content, _, _ in found] == [b"a", b"b", b"c"]
    assert not skipped


@pytest.mark.parametrize(
    ("tail", "expected", "reason"),
    [
        (b"\x0a", [], TRUNCATED),
        (b"\x0a\x05ab", [(b"ab", False)], TRUNCATED),
        (b"\x08", [], TRUNCATED),
        (b"\x0f", [], MALFORMED),
        (b"\x08" + b"\xff" * 11, [], MALFORMED),
    ],
)
def test_what_comes_before_the_damage_is_read(tail, expected, reason):
    found, skipped = read(field(1, b"good") + tail)

    assert [(content, is_whole) for content, is_whole, _ in found] == [(b"good", True), *expected]
    assert skipped == {reason: 1}


def test_a_damaged_message_with_a_length_costs_no_other():
    bad, good = b"\x0f\x0f", field(1, b"good")

    found, skipped = read(len(bad).to_bytes(4) + bad + len(good).to_bytes(4) + good + b"\0\0")

    assert [content for content, _, _ in found] == [b"good"]
    assert skipped == {MALFORMED: 1, TRUNCATED: 1}


def test_what_is_too_large_is_passed_over(monkeypatch):
    monkeypatch.setattr(protobuf_stream, "MAX_FIELD_BYTES", 9)
    large, good = field(1, b"x" * 10), field(1, b"good")

    assert [content for content, is_whole, _ in read(large + good)[0] if is_whole] == [b"good"]
    assert read(large + good)[1] == {TOO_LARGE: 1}
    assert read(len(large).to_bytes(4) + large + len(good).to_bytes(4) + good) == (
        [(b"good", True, "byte 20")],
        {TOO_LARGE: 1},
    )
    assert read(b"\x7f\xff\xff\xff") == ([], {TOO_LARGE: 1})


@given(st.binary(max_size=60))
def test_arbitrary_bytes_never_raise(content):
    read(content)
    assert sum(len(piece) for _, piece, _ in fields(content)) <= len(content)
