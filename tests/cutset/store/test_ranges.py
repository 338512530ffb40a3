from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.stored_spans import HOUR, NOON, ingest, span

from cutset.model.shape import LOST
from cutset.model.span import Span, SpanLabel
from cutset.store.manifest import SpanStore, open_spans
from cutset.store.parquet import END_OF_TIME_NS
from cutset.store.ranges import TraceRange, trace_ranges
from cutset.store.shapes import shapes
from cutset.store.spans import forget_before


def stored(folder: Path, spans: list[Span]) -> SpanStore:
    ingest(folder, spans)
    return open_spans(folder)


def as_is(label: SpanLabel) -> SpanLabel:
    return label


def traces_in(each: TraceRange) -> int:
    return sum(shape.traces for shape in shapes(each, as_is).shapes)


@pytest.mark.parametrize("name", ["{:032x}", "{}", "same-prefix-{:08}", "ü\0{}"])
def test_ranges_of_one_block_are_balanced_and_hold_every_trace_once(tmp_path: Path, name: str) -> None:
    ids = [name.format(number * 2**114 if "032" in name else number) for number in range(8000)]
    store = stored(tmp_path, [span(trace_id, f"{at}", NOON + at * HOUR) for trace_id in ids for at in range(3)])
    assert len({(part.hour, part.block) for part in store.parts}) == 1
    counts = [traces_in(each) for each in trace_ranges(store, spans_per_range=6000)]
    assert sum(counts) == 8000
    assert len(counts) == 4
    assert max(counts) < 3000


def test_one_trace_with_more_spans_than_a_range_stays_whole(tmp_path: Path) -> None:
    store = stored(tmp_path, [*(span("t1", f"{at}") for at in range(5000)), span("t2", "s")])
    assert [traces_in(each) for each in trace_ranges(store, spans_per_range=1000)] == [2]


def hours(folder: Path, *numbers: int) -> list[set[str]]:
    """The files of the ranges, after a trace of ten spans was added for each of these hours."""
    for number in numbers:
        start = NOON + number * HOUR
        ingest(folder, [span(f"t{number}", f"s{at}", start + at) for at in range(10)])
    return [set(each.files) for each in trace_ranges(open_spans(folder), spans_per_range=40)]


def test_hours_with_little_are_read_together_and_ranges_stay_when_others_are_added_or_forgotten(tmp_path: Path) -> None:
    before = hours(tmp_path, *range(20))
    assert 5 <= len(before) <= 8
    assert sum(map(len, before)) == 20
    after = hours(tmp_path, 20, 21, 22)
    assert len([files for files in before if files not in after]) <= 1
    forget_before(tmp_path, NOON + 5 * HOUR)
    left = hours(tmp_path)
    assert sum(map(len, left)) == 18
    assert len([files for files in left if files not in after]) <= 1


def test_a_window_of_time_selects_spans_by_their_start(tmp_path: Path) -> None:
    early, late = span("t", "1"), replace(span("t", "2", NOON + HOUR), parent_id="1")
    store = stored(tmp_path, [early, late, span("u", "3", NOON + 3 * HOUR)])
    (found,) = trace_ranges(store, since_ns=NOON + HOUR, until_ns=NOON + 2 * HOUR)
    (shape,) = shapes(found, as_is).shapes
    assert (shape.parents, shape.longest_trace_id) == ((LOST,), "t")
    assert len(found.files) == 1
    assert trace_ranges(store, since_ns=NOON + 5 * HOUR) == []


def test_a_window_that_has_all_of_a_range_is_none(tmp_path: Path) -> None:
    store = stored(tmp_path, [span("t", "1"), span("u", "2", NOON + HOUR)])
    windows = {
        (each.since_ns, each.until_ns) for each in trace_ranges(store, 1, since_ns=NOON - 5, until_ns=NOON + HOUR + 1)
    }
    assert windows == {(0, END_OF_TIME_NS)}
    assert Counter(each.since_ns for each in trace_ranges(store, 1, since_ns=NOON)) == {0: 2}
