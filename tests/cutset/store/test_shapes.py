import pickle
import random
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.plain_survey import CALLERS, entry_of, label_of, parents_of, traces_of

from cutset.errors import InputError
from cutset.model.shape import LOST, ROOT, ShapeBatch
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind
from cutset.store.manifest import open_spans
from cutset.store.ranges import trace_ranges
from cutset.store.shapes import Totals, path_counts, shapes, totals
from cutset.store.spans import begin_ingest

HOUR = 3_600_000_000_000


def stored(folder, spans):
    with begin_ingest(folder) as ingest:
        ingest.add("test", spans)
    return open_spans(folder)


def span(trace_id, span_id, parent_id="", start=0, end=None, *, kind=SpanKind.INTERNAL, service="shop", **attributes):
    kept = {key: attributes[name] for key, name in KEPT_ATTRIBUTES.items() if name in attributes}
    end_ns = HOUR + (start + 1 if end is None else end)
    return Span(trace_id, span_id, parent_id, service, "op", kind, HOUR + start, end_ns, False, kept)


def without_path(label):
    return replace(label, url_path="")


def only_shape(folder, *spans):
    (batch,) = [shapes(each, without_path) for each in trace_ranges(stored(folder, spans))]
    (shape,) = batch.shapes
    return [batch.labels[number] for number in shape.labels], shape


def likeness(labels, parents):
    """The plain meaning of being alike: the same tree, whose order counts where something must be guessed."""
    roots = [at for at, parent in enumerate(parents) if parent < 0]
    children = defaultdict(list)
    for at, parent in enumerate(parents):
        children[parent].append(at)

    def below(at, within_call):
        if labels[at].kind is not SpanKind.INTERNAL:
            within_call = labels[at].kind in CALLERS
        found = [below(child, within_call) for child in children[at]]
        return (labels[at], tuple(found if within_call else sorted(found)), 1 + sum(each[-1] for each in found))

    if len(roots) == 1 and (tree := below(roots[0], within_call=False))[-1] == len(labels):
        return parents[roots[0]], tree
    return labels, parents


def plain_shapes(spans, canonical):
    """What `shapes` must find: of each likeness, the longest trace, the number of traces, and their total duration."""
    alike = defaultdict(list)
    for trace_id, trace in traces_of(spans, canonical).items():
        labels, parents = tuple(canonical(label_of(each)) for each in trace), parents_of(trace)
        entry = trace[entry_of(parents)]
        alike[likeness(labels, parents)].append((entry.start_ns - entry.end_ns, trace_id, labels, parents))
    return {
        (labels, parents): (len(found), -sum(ns for ns, *_ in found), -longest, trace_id)
        for found in alike.values()
        for longest, trace_id, labels, parents in [min(found)]
    }


def read_shapes(batch: ShapeBatch):
    return {
        (tuple(batch.labels[number] for number in shape.labels), shape.parents): (
            *(shape.traces, shape.total_ns, shape.longest_ns, shape.longest_trace_id),
        )
        for shape in batch.shapes
    }


def random_traces(seed, count):
    """Small traces of few ids, labels and times: with lost parents, cycles, shared ids and equal starts in plenty."""
    rng = random.Random(seed)
    spans = {}
    for number in range(count):
        for _ in range(rng.randint(1, 5)):
            made = span(
                f"{number:03}",
                rng.choice("1234"),
                rng.choice(["", "1", "2", "3", "4", "9"]),
                rng.randrange(3) * 1000,
                rng.randrange(3, 6) * 1000,
                kind=rng.choice([*SpanKind]),
                service=rng.choice(["cart", "shop"]),
                url_path=rng.choice(["", "/a", "/b"]),
            )
            spans.setdefault((made.trace_id, made.span_id, made.kind, made.service, made.start_ns), made)
    return list(spans.values())


def trees_of_spans(seed, count):
    """Traces with one root and few kinds of calls, which come in any order, and clocks that are off."""
    rng = random.Random(seed)
    return [
        span(
            f"u{number:03}",
            f"{at}",
            f"{rng.randrange(at)}" if at else "",
            rng.randrange(4) * 1000,
            5000,
            kind=rng.choice([SpanKind.SERVER, SpanKind.CLIENT, SpanKind.INTERNAL]) if at else SpanKind.SERVER,
        )
        for number in range(count)
        for at in range(rng.choice([3, 4, 5]))
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("canonical", [without_path, lambda label: label])
def test_shapes_are_what_plain_python_finds(tmp_path, seed, canonical):
    spans = [*random_traces(seed, 200), *trees_of_spans(seed, 200)]
    (batch,) = [shapes(each, canonical) for each in trace_ranges(stored(tmp_path, spans))]
    assert read_shapes(batch) == plain_shapes(spans, canonical)
    assert list(batch.labels) == sorted(set(batch.labels))


def test_shapes_of_ranges_add_up_to_the_shapes_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr("cutset.store.sort_in._BLOCK_SPANS", 1)
    spans = [*random_traces(7, 100), *trees_of_spans(7, 100)]
    random.Random(7).shuffle(spans)
    for number in range(4):
        store = stored(tmp_path, spans[number::4])
    ranges = trace_ranges(store, spans_per_range=1)
    assert len(ranges) >= 4
    traces, total = Counter(), Counter()
    for each in ranges:
        for structure, (count, ns, *_) in read_shapes(shapes(pickle.loads(pickle.dumps(each)), without_path)).items():
            traces[likeness(*structure)] += count
            total[likeness(*structure)] += ns
    expected = plain_shapes(spans, without_path)
    assert traces == {likeness(*structure): count for structure, (count, *_) in expected.items()}
    assert total == {likeness(*structure): ns for structure, (_, ns, *_) in expected.items()}


def test_what_happens_at_the_same_time_comes_in_any_order_unless_it_is_below_one_call(tmp_path):
    def shop(trace, within, *order):
        return [
            span(trace, "1", end=90, kind=SpanKind.SERVER),
            span(trace, "2", "1", start=1, kind=within),
            *(span(trace, name, "2", start=at, service=name) for at, name in enumerate(order, 2)),
        ]

    orders = [("a", "b"), ("b", "a")]
    for within, expected in ((SpanKind.INTERNAL, [2]), (SpanKind.CLIENT, [1, 1])):
        spans = [each for number, order in enumerate(orders) for each in shop(f"{number}", within, *order)]
        (batch,) = [shapes(each, without_path) for each in trace_ranges(stored(tmp_path / within, spans))]
        assert [shape.traces for shape in batch.shapes] == expected


def test_a_record_of_a_known_id_without_a_kind_and_a_time_is_no_span(tmp_path):
    """Zipkin's collectors get what is added to a span later as a record of its own."""
    added = [replace(span("t", name, "1"), start_ns=0, end_ns=0) for name in ("2", "9")]
    labels, shape = only_shape(
        tmp_path,
        span("t", "1", kind=SpanKind.SERVER, end=90),
        span("t", "2", "1", start=1, kind=SpanKind.CLIENT),
        span("t", "2", "1", start=2, kind=SpanKind.SERVER, service="cart"),
        span("t", "3", "2", start=3, service="cart"),
        *added,  # of the second nothing else is known, so that it is a span
    )
    assert [label.service for label in labels] == ["shop", "shop", "shop", "cart", "cart"]
    assert shape.parents == (1, ROOT, 1, 2, 3)


def test_a_trace_that_is_too_deep_or_too_long_for_numbers_is_read_like_any_other(tmp_path):
    deep = [span(trace, f"{at}", f"{at - 1}" if at else "", at) for trace in "ab" for at in range(600)]
    (batch,) = [shapes(each, without_path) for each in trace_ranges(stored(tmp_path / "deep", deep))]
    (shape,) = batch.shapes
    assert (shape.parents, shape.traces) == ((ROOT, *range(599)), 2)
    long = [replace(span(trace, "1"), end_ns=2**63 - 2) for trace in "abc"]
    _, shape = only_shape(tmp_path / "long", *long)
    assert shape.total_ns == 3 * (2**63 - 2 - HOUR)


def test_the_halves_of_a_call_that_share_an_id_are_parent_and_child(tmp_path):
    labels, shape = only_shape(
        tmp_path,
        span("t", "1", start=0, end=90, kind=SpanKind.SERVER, service="front"),
        span("t", "2", "1", start=1, kind=SpanKind.CLIENT, service="front"),
        span("t", "2", "1", start=2, kind=SpanKind.SERVER, service="cart"),
        span("t", "3", "2", start=3, service="cart"),
    )
    assert shape.parents == (ROOT, 0, 1, 2)
    assert (shape.traces, shape.total_ns, shape.longest_ns, shape.longest_trace_id) == (1, 90, 90, "t")
    assert [label.service for label in labels] == ["front", "front", "cart", "cart"]


def test_a_clock_that_runs_ahead_puts_a_parent_after_its_child(tmp_path):
    _, shape = only_shape(tmp_path, span("t", "1", start=5, end=25), span("t", "2", "1", start=2))
    assert shape.parents == (1, ROOT)
    assert shape.longest_ns == 20


def test_of_a_trace_without_a_root_the_first_span_with_a_lost_parent_is_the_entry(tmp_path):
    _, shape = only_shape(tmp_path, span("t", "1", "2", 0, 1), span("t", "2", "1", 1, 2), span("t", "3", "x", 2, 9))
    assert shape.parents == (1, 0, LOST)
    assert shape.longest_ns == 7


def test_traces_that_differ_only_in_paths_are_one_shape_and_the_smaller_id_of_the_longest_represents_them(tmp_path):
    paths = [("b", "/cart/1", 10), ("a", "/cart/2", 10), ("c", "/cart/3", 4)]
    _, shape = only_shape(tmp_path, *(span(trace, "1", url_path=path, end=end) for trace, path, end in paths))
    assert (shape.traces, shape.total_ns, shape.longest_ns, shape.longest_trace_id) == (3, 24, 10, "a")


def test_an_empty_store_has_no_ranges_and_no_totals(tmp_path):
    store = open_spans(tmp_path)
    assert trace_ranges(store) == []
    assert totals(store) == Totals(0, 0, (), ())


def test_a_window_without_spans_has_no_shapes(tmp_path):
    store = stored(tmp_path, [span("t", "1"), span("t", "2", start=100)])
    assert [shapes(each, without_path) for each in trace_ranges(store, since_ns=HOUR + 5, until_ns=HOUR + 50)] == [
        ShapeBatch((), ())
    ]


def test_paths_are_counted_where_there_is_no_route(tmp_path):
    cart = {"http_method": "GET", "url_path": "/cart/1"}
    store = stored(
        tmp_path,
        [
            span("t", "1", **cart),
            span("u", "1", **cart),
            span("u", "2", **cart, http_route="/cart/{id}"),
            span("u", "3", http_method="GET"),
            span("u", "4", service="pay", url_path="/pay"),
        ],
    )
    (everything,) = trace_ranges(store)
    assert path_counts(everything) == [("pay", "", "/pay", 1), ("shop", "GET", "/cart/1", 2)]


def test_totals_count_traces_spans_services_and_hours(tmp_path):
    failed = replace(span("u", "3", service="cart"), error=True)
    store = stored(tmp_path, [span("t", "1"), span("v", "2", start=HOUR), failed])
    assert totals(store) == Totals(3, 3, (("shop", 2, 0), ("cart", 1, 1)), (("1970-01-01T01", 2), ("1970-01-01T02", 1)))


def test_a_part_that_vanished_is_named(tmp_path):
    store = stored(tmp_path, [span("t", "1")])
    (everything,) = trace_ranges(store)
    part = Path(everything.files[0])
    part.unlink()
    with pytest.raises(InputError, match=part.name):
        shapes(everything, without_path)
