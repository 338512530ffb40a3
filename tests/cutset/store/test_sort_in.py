from pathlib import Path

from tests.samples.stored_spans import HOUR, NOON, contents, files, ingest, listed, many, span

from cutset.model.span import Span, SpanKind
from cutset.store.manifest import open_spans
from cutset.store.parquet import connect, reading
from cutset.store.place import address_of
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


def test_small_parts_of_one_block_are_merged_when_they_get_many(tmp_path, monkeypatch):
    monkeypatch.setattr("cutset.store.sort_in._SMALL_PARTS", 4)
    for number in range(7):
        ingest(
            tmp_path,
            [*many(40)[number * 2 : number * 2 + 3], span(f"u{number % 2}", f"s{number}", NOON + HOUR * (number % 2))],
        )
    stored = open_spans(tmp_path)
    assert [len([part for part in stored.parts if part.hour.endswith(hour)]) for hour in ("12", "13")] == [3, 3]
    assert contents(tmp_path) == sorted(
        [*many(15), *(span(f"u{number % 2}", f"s{number}", NOON + HOUR * (number % 2)) for number in range(7))],
        key=repr,
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


def test_a_span_goes_where_others_of_its_trace_are_whenever_it_comes(tmp_path, monkeypatch):
    monkeypatch.setattr("cutset.store.sort_in._BLOCK_SPANS", 8)
    ingest(tmp_path, [*many(7), span("u1", "s1", NOON + HOUR)])
    ingest(tmp_path, [*many(10, prefix="u"), span("t0", "late", NOON + 5 * HOUR)])
    ingest(tmp_path, [*many(2, prefix="a"), span("t1", "late"), span("u2", "late", NOON - HOUR)])
    blocks: dict[str, set[tuple[str, int]]] = {}
    for part in open_spans(tmp_path).parts:
        for each in spans_in(tmp_path, part.file):
            blocks.setdefault(each, set()).add((part.hour[-2:], part.block))
    assert blocks == {
        **{known: {("12", 0)} for known in ("t0", "t1", "u0", "u2")},
        "u1": {("13", 0)},
        "a0": {("12", 1)},  # the first block has enough
    }


def test_a_staged_file_of_one_block_is_a_part_as_it_is(tmp_path):
    with begin_ingest(tmp_path) as opened:
        first, second = (stage_spans(opened.staging, spans) for spans in (many(8), many(16)[6:]))
        opened.adopt("a", first)
        opened.adopt("a", second)  # two spans of it are in the first
    assert Path(first.file).name in {Path(part.file).name for part in open_spans(tmp_path).parts}
    assert contents(tmp_path) == sorted(many(16), key=repr)


def spans_in(store: Path, file: str) -> set[str]:
    with connect(store) as database, reading([address_of(open_spans(store).folder, file)]) as spans:
        return {each for (each,) in database.execute(f"SELECT DISTINCT trace_id FROM {spans}").fetchall()}
