import random
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from cutset.report.drawing.layout import DENSE, Arc, Layout, lay_out


@given(st.data())
def test_boxes_never_overlap_and_lines_pass_between_them(data):
    services = data.draw(st.integers(1, 30))
    ends = st.integers(0, services - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=60))
    layout = laid_out(pairs, services)
    assert_no_overlap(layout)
    for (caller, callee), way in zip(pairs, layout.ways, strict=True):
        if caller != callee:
            assert layout.boxes[caller].top < way[0][1] < layout.boxes[caller].top + DENSE.box_height
            assert layout.boxes[callee].top < way[-1][1] < layout.boxes[callee].top + DENSE.box_height
        for (x, y), (to_x, _) in list(pairwise(way))[1::2]:  # the straight parts, inside columns
            left, right = min(x, to_x), max(x, to_x)
            in_column = [box for box in layout.boxes if left <= box.left and box.right <= right]
            assert not [box for box in in_column if box.top < y < box.top + box.height]


def test_boxes_of_a_large_graph_do_not_overlap():
    chance = random.Random(3)
    assert_no_overlap(laid_out([(chance.randrange(200), chance.randrange(200)) for _ in range(500)], services=200))


def laid_out(pairs: list[tuple[int, int]], services: int) -> Layout:
    return lay_out([80 + each % 40 for each in range(services)], {0}, [Arc(*pair, "always") for pair in pairs], DENSE)


def assert_no_overlap(layout: Layout) -> None:
    for one, other in combinations(layout.boxes, 2):
        apart = one.right < other.left or other.right < one.left
        assert apart or abs(one.top - other.top) > DENSE.box_height
    for box in layout.boxes:
        assert 0 <= box.left <= box.right <= layout.width
        assert -0.01 <= box.top <= box.top + box.height <= layout.height + 0.01


@given(st.data())
def test_boxes_of_different_heights_keep_their_distance_and_their_columns_a_limited_height(data):
    heights = data.draw(st.lists(st.sampled_from([18.0, 60.0, 300.0]), min_size=1, max_size=30))
    ends = st.integers(0, len(heights) - 1)
    arcs = [Arc(*pair, "") for pair in data.draw(st.lists(st.tuples(ends, ends), max_size=60))]
    layout = lay_out([80.0] * len(heights), {0}, arcs, DENSE, heights)
    assert [box.height for box in layout.boxes] == heights
    for one, other in combinations(layout.boxes, 2):
        apart = one.right < other.left or other.right < one.left
        assert apart or one.top >= other.top + other.height or other.top >= one.top + one.height
    for box in layout.boxes:
        assert -0.01 <= box.top <= box.top + box.height <= layout.height + 0.01


def test_a_box_that_is_higher_than_any_column_has_one_to_itself():
    layout = lay_out([80.0] * 12, {0}, [Arc(0, each, "") for each in range(1, 12)], DENSE, [18.0] * 11 + [9000.0])
    (tall,) = [box for box in layout.boxes if box.height == 9000]
    assert [box for box in layout.boxes if box.left == tall.left] == [tall]


def test_heights_that_are_those_of_the_density_change_nothing():
    chance = random.Random(5)
    arcs = [Arc(chance.randrange(60), chance.randrange(60), "") for _ in range(120)]
    widths = [80.0 + each % 40 for each in range(60)]
    assert lay_out(widths, {0}, arcs, DENSE, [DENSE.box_height] * 60) == lay_out(widths, {0}, arcs, DENSE)


def test_callers_are_left_of_callees():
    layout = laid_out([(0, 1), (1, 2), (0, 2)], services=3)
    assert [box.left for box in layout.boxes] == sorted(box.left for box in layout.boxes)


def test_a_gateway_with_150_callees_is_no_strip():
    layout = laid_out([(0, callee) for callee in range(1, 151)], services=151)
    assert layout.height < layout.width


def test_unconnected_services_fill_several_columns():
    layout = laid_out([], services=100)
    assert 4 < len({box.left for box in layout.boxes}) < 20


def test_cycles_and_self_calls_have_ways_of_their_own():
    layout = laid_out([(0, 1), (1, 0), (1, 1)], services=2)
    there, back, itself = layout.ways
    first, second = layout.boxes
    assert (there[0][0], there[-1][0]) == (first.right, second.left)
    assert (back[0][0], back[-1][0]) == (second.left, first.right)
    assert there[0][1] != back[-1][1]
    assert not itself


def test_nothing_has_no_size():
    assert lay_out([], set(), [], DENSE).boxes == []
