from hypothesis import given
from hypothesis import strategies as st

from cutset.search.bitset import bits, indices, transposed


@given(st.sets(st.integers(0, 200)))
def test_a_set_has_one_bit_for_each_element_the_smallest_first(elements: set[int]) -> None:
    assert list(bits(sum(1 << element for element in elements))) == [1 << element for element in sorted(elements)]


@given(st.sets(st.integers(0, 200)))
def test_the_elements_of_a_set_come_in_their_order(elements: set[int]) -> None:
    assert list(indices(sum(1 << element for element in elements))) == sorted(elements)


@given(st.lists(st.integers(0, 2**12 - 1), max_size=12))
def test_an_element_is_in_the_rows_that_have_it(rows: list[int]) -> None:
    columns = transposed(rows, 12)

    assert all(
        (row >> element & 1) == (columns[element] >> number & 1)
        for number, row in enumerate(rows)
        for element in range(12)
    )
    assert transposed(columns, len(rows)) == rows
