from hypothesis import given
from hypothesis import strategies as st

from cutset.search.bitset import bits


@given(st.sets(st.integers(0, 200)))
def test_a_set_has_one_bit_for_each_element_the_smallest_first(elements: set[int]) -> None:
    assert list(bits(sum(1 << element for element in elements))) == [1 << element for element in sorted(elements)]
