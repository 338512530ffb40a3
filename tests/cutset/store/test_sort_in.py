from tests.samples.stored_spans import HOUR, NOON, contents, files, ingest, listed, many, span

from cutset.model.span import Span, SpanKind
from cutset.store.manifest import open_spans
from cutset.store.sort_in import sort_in
from cutset.store.spans import begin_ingest
from cutset.store.staging import stage_spans


def test_the_same_span_in_a_coarser_format_is_stored_once(tmp_path):
    """Zipkin has names in lower case; it and Jaeger have microseconds."""
    exact = Span("t1", "s", "", "Cart", "GetCart", SpanKind.SERVER, NOON + 1_234_567, NOON + 9_999_999)
    coarse = Span("t1", "s", "", "cart", "getcart", SpanKind.SERVER, NOON + 1_234_000, NOON + 9_999_000)
    ingest(tmp_path, [exact])
    ingest(tmp_path, [coarse])
    assert contents(tmp_path) == [exact]


def test_of_a_span_exported_before_and_after_its_end_one_commit_stores_the_longest(tmp_path):
    ingest(tmp_path, [span(end_ns=NOON + 1), span(end_ns=NOON + 3), span(end_ns=NOON + 2)])
    ingest(tmp_path, [span(end_ns=NOON + 9)])
    assert [each.end_ns for each in contents(tmp_path)] == [NOON + 3]


def test_small_parts_of_one_hour_are_merged_when_they_get_many(tmp_path, monkeypatch):
    monkeypatch.setattr("cutset.store.sort_in._SMALL_PARTS", 4)
    for number in range(7):
        ingest(tmp_path, [*many(40)[number * 2 : number * 2 + 3], span("u1", f"s{number}", NOON + HOUR * (number % 2))])
    stored = open_spans(tmp_path)
    assert [len([part for part in stored.parts if part.hour.endswith(hour)]) for hour in ("12", "13")] == [3, 3]
    assert contents(tmp_path) == sorted(
        [*many(15), *(span("u1", f"s{number}", NOON + HOUR * (number % 2)) for number in range(7))], key=repr
    )
    assert files(tmp_path) == listed(tmp_path)


def test_what_is_not_new_is_counted_by_file(tmp_path):
    ingest(tmp_path, many(8))
    with begin_ingest(tmp_path) as opened:
        known, half, new = (
            stage_spans(opened.staging, many(12)[part]) for part in (slice(4), slice(6, 10), slice(10, 12))
        )
        surplus, parts = sort_in(open_spans(tmp_path), [known, half, new])
    assert surplus == {known.file: 4, half.file: 2}
    assert [part.spans for part in parts] == [8, 2, 2]
