"""Sets of small numbers as the bits of an `int`."""

from collections.abc import Iterator


def bits(number: int) -> Iterator[int]:
    """The sets of one element each."""
    while number:
        lowest = number & -number
        yield lowest
        number ^= lowest
