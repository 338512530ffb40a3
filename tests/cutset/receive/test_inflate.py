import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.receive.inflate import MAX_MEMBERS, inflate


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_all_members_are_read(members: list[bytes]) -> None:
    compressed = b"".join(gzip.compress(member, mtime=0) for member in members)
    assert inflate(compressed, limit=10_000) == b"".join(members)


def test_a_member_that_ends_between_two_steps_is_read() -> None:
    first = gzip.compress(b"a", mtime=0)
    long = bytes(range(256)) * 4000
    compressed = first * 900 + gzip.compress(long, compresslevel=0, mtime=0) + first
    assert inflate(compressed, limit=2_000_000) == b"a" * 900 + long + b"a"


def test_zlib_is_read_too() -> None:
    assert inflate(zlib.compress(b"plain"), limit=5) == b"plain"


def test_the_limit_holds_for_all_members_together() -> None:
    compressed = gzip.compress(bytes(600), mtime=0)
    assert inflate(compressed, limit=600) == bytes(600)
    assert inflate(compressed, limit=599) is None
    assert inflate(compressed + compressed, limit=1199) is None


def test_a_bomb_is_not_inflated_beyond_the_limit() -> None:
    bomb = gzip.compress(bytes(200 * 1024 * 1024), compresslevel=1, mtime=0)
    assert inflate(bomb, limit=1000) is None


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is truncated"),
        (b"not gzip", "is not gzip"),
        (gzip.compress(b"x", mtime=0)[:-1], "is truncated"),
        (gzip.compress(b"x", mtime=0) + gzip.compress(b"y", mtime=0)[:-1], "is truncated"),
        (gzip.compress(b"x", mtime=0) + b"more", "has bytes after its end"),
        (gzip.compress(b"x", mtime=0) * (MAX_MEMBERS + 1), f"has more than {MAX_MEMBERS} members"),
    ],
)
def test_what_cannot_be_read_whole_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        inflate(data, limit=10_000)
