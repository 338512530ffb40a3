"""Sets of small numbers as the bits of an `int`."""

from collections.abc import Iterator, Sequence


def bits(number: int) -> Iterator[int]:
    """The sets of one element each."""
    while number:
        lowest = number & -number
        yield lowest
        number ^= lowest


def indices(number: int) -> Iterator[int]:
    """The elements."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def transposed(rows: Sequence[int], width: int) -> list[int]:
    """Of each element, the rows that it is in; elements are less than `width`."""
    columns = [0] * width
    for number, row in enumerate(rows):
        bit = 1 << number
        for index in indices(row):
            columns[index] |= bit
    return columns
