import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.stored_spans import HOUR, NOON, contents, files, ingest, listed, many, span, spans_of

from cutset.errors import InputError
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind
from cutset.store.manifest import open_spans
from cutset.store.parquet import END_OF_TIME_NS
from cutset.store.spans import begin_ingest, forget_before
from cutset.store.staging import stage_spans


def test_spans_come_back_as_they_were_with_the_attributes_that_are_kept(tmp_path):
    kept = dict.fromkeys(KEPT_ATTRIBUTES, "x")
    spans = [
        span("t1", "s1", error=True, attributes={**kept, "other": "dropped"}),
        span("t2", "s2", attributes={"http.response.status_code": 503}),
        span("t2", "s3"),
    ]
    ingest(tmp_path, spans)
    assert spans_of(open_spans(tmp_path), ["t1", "t2", "t3"]) == {
        "t1": [replace(spans[0], attributes=kept)],
        "t2": [replace(spans[1], attributes={"http.response.status_code": "503"}), spans[2]],
    }


def test_each_part_holds_traces_of_one_hour_and_the_manifest_describes_it(tmp_path):
    ingest(tmp_path, [span("t2", "s1", NOON + 5), span("t1", "s2", NOON + 7), span("t3", "s3", NOON + HOUR)])
    stored = open_spans(tmp_path)
    assert [(part.hour, part.spans, part.first_ns, part.last_ns) for part in stored.parts] == [
        ("2026-06-22T12", 2, NOON + 5, NOON + 7),
        ("2026-06-22T13", 1, NOON + HOUR, NOON + HOUR),
    ]
    assert [(part.first_trace_id, part.last_trace_id) for part in stored.parts] == [("t1", "t2"), ("t3", "t3")]
    assert (stored.spans, stored.first_ns, stored.last_ns) == (3, NOON + 5, NOON + HOUR)
    assert all(part.file.startswith(f"{part.hour}/") for part in stored.parts)
    assert files(tmp_path) == listed(tmp_path)


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[Span], list[list[list[Span]]]]:
    """Distinct spans, and those spans in some order, some repeatedly, as ingests of batches."""
    identities = st.builds(
        Span,
        trace_id=st.sampled_from("ab"),
        span_id=st.sampled_from("12"),
        parent_id=st.just("0"),
        service=st.sampled_from(["cart", "sh\0p"]),
        name=st.just("gét"),
        kind=st.sampled_from([SpanKind.CLIENT, SpanKind.SERVER]),
        start_ns=st.sampled_from([1, HOUR - 1, HOUR, NOON]),
        end_ns=st.just(NOON + HOUR),
    )
    spans = draw(st.lists(identities, min_size=1, max_size=12, unique=True))
    repeated = draw(st.permutations(spans + draw(st.lists(st.sampled_from(spans), max_size=8))))
    ends = sorted({*draw(st.lists(st.integers(0, len(repeated)), max_size=4)), len(repeated)})
    batches = [repeated[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    middle = draw(st.integers(0, len(batches)))
    return spans, [batches[:middle], batches[middle:]]


@settings(max_examples=12, deadline=None)
@given(deliveries())
def test_however_spans_are_delivered_each_is_stored_once(tmp_path_factory, delivered):
    store = tmp_path_factory.mktemp("store")
    spans, ingests = delivered
    for number, batches in enumerate(ingests):
        with begin_ingest(store) as opened:
            for batch in batches:
                opened.adopt("worker", stage_spans(opened.staging, batch))
                if len(batch) % 2:
                    opened.commit()
            opened.log("worker", format="otlp", spans_read=number, skipped={})
    assert contents(store) == sorted(spans, key=repr)
    assert sum(record.spans_new for record in open_spans(store).log) == len(spans)
    assert files(store) == listed(store)


def test_the_log_says_of_each_source_how_much_of_it_was_new(tmp_path):
    with begin_ingest(tmp_path) as opened:
        opened.add("a.json", many(8))
        opened.add("b.json", many(12))
        opened.add("a.json", many(16))
        opened.log("a.json", format="otlp", spans_read=24, skipped={})
        opened.log("b.json", format="zipkin", spans_read=12, skipped={"spans without an id": 2})
    records = open_spans(tmp_path).log
    assert [(record.source, record.format, record.spans_read) for record in records] == [
        ("a.json", "otlp", 24),
        ("b.json", "zipkin", 12),
    ]
    assert sum(record.spans_new for record in records) == 16
    assert records[1].skipped == {"spans without an id": 2}


def test_a_source_that_was_committed_in_pieces_is_logged_as_a_whole(tmp_path):
    with begin_ingest(tmp_path) as opened:
        opened.add("a.json", many(8))
        opened.commit()
        assert open_spans(tmp_path).spans == 8
        opened.add("a.json", many(12))
        opened.log("a.json", format="otlp", spans_read=20, skipped={})
    assert [record.spans_new for record in open_spans(tmp_path).log] == [12]


def test_large_ingests_are_buffered_and_committed_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("cutset.store.spans._BUFFERED_SPANS", 10)
    monkeypatch.setattr("cutset.store.spans._COMMIT_SPANS", 30)
    with begin_ingest(tmp_path) as opened:
        opened.add("a", iter(many(45)))
        assert open_spans(tmp_path).spans == 30
        opened.add("a", many(45)[40:])
    assert contents(tmp_path) == sorted(many(45), key=repr)


def test_an_ingest_that_raises_leaves_what_was_committed(tmp_path):
    def interrupted() -> None:
        with begin_ingest(tmp_path) as opened:
            opened.add("a", many(8))
            opened.set_cursor("jaeger", 1)
            opened.commit()
            opened.add("a", many(16))
            opened.set_cursor("jaeger", 2)
            opened.adopt("a", stage_spans(opened.staging, many(20)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert contents(tmp_path) == sorted(many(8), key=repr)
    assert open_spans(tmp_path).cursors == {"jaeger": 1}
    assert files(tmp_path) == listed(tmp_path)


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "stored"),
    [
        (0, 0, (0, 0)),
        (-5, 3, (0, 3)),
        (NOON, NOON - 1, (NOON, NOON)),
        (2**70, 2**71, (END_OF_TIME_NS - 1, END_OF_TIME_NS - 1)),
        (-(2**70), 7, (0, 7)),
    ],
)
def test_times_that_cannot_be_are_moved_to_the_nearest_that_can(tmp_path, start_ns, end_ns, stored):
    for _ in range(2):
        ingest(tmp_path, [span(start_ns=start_ns, end_ns=end_ns)])
    assert [(each.start_ns, each.end_ns) for each in contents(tmp_path)] == [stored]


def test_text_that_has_no_utf_8_is_stored_with_marks_for_what_it_lacks(tmp_path):
    ingest(tmp_path, [span(attributes={"url.path": "/a\ud800b\0"}), span(span_id="s2")])
    assert [each.attributes for each in contents(tmp_path)] == [{"url.path": "/a?b\0"}, {}]


def test_a_folder_with_unusual_characters_is_fine(tmp_path):
    store = tmp_path / "it's [1]*? ü"
    ingest(store, many(5))
    ingest(store, many(9))
    assert contents(store) == sorted(many(9), key=repr)


def test_forgetting_drops_the_traces_of_the_hours_that_ended_before(tmp_path):
    ingest(tmp_path, [*many(4, NOON - HOUR), *many(4, NOON, "u"), *many(4, NOON + HOUR, "a")])
    assert forget_before(tmp_path, NOON + HOUR // 2) == 4
    assert forget_before(tmp_path, NOON + HOUR // 2) == 0
    assert forget_before(tmp_path, -1) == 0
    assert [part.hour for part in open_spans(tmp_path).parts] == ["2026-06-22T12", "2026-06-22T13"]
    assert files(tmp_path) == listed(tmp_path)
    assert forget_before(tmp_path, 2**70) == 8
    assert contents(tmp_path) == []


def test_a_trace_is_forgotten_whole(tmp_path):
    ingest(tmp_path, [span("t1", "s1", NOON - 1), span("t2", "s2", NOON - 1), span("t3", "s3", NOON + 1)])
    ingest(tmp_path, [span("t1", "s4", NOON + 1)])
    assert forget_before(tmp_path, NOON) == 3
    assert contents(tmp_path) == [span("t3", "s3", NOON + 1)]


def test_traces_whose_times_count_from_elsewhere_are_not_forgotten(tmp_path):
    relative = [span("t1", "s1", 5), span("t1", "s2", 3 * HOUR)]
    ingest(tmp_path, [*relative, span("t2", "s3", NOON)])
    assert forget_before(tmp_path, NOON + HOUR) == 1
    assert contents(tmp_path) == relative


def test_a_span_without_a_time_is_of_the_hour_of_its_trace(tmp_path):
    ingest(tmp_path, [span("t1", "s1", 0), span("t1", "s2", NOON)])
    assert [part.hour for part in open_spans(tmp_path).parts] == ["2026-06-22T12"]


@pytest.mark.parametrize("damage", [b"", b"PAR1 and then nothing", None])
def test_a_damaged_part_is_named_and_comes_back_after_it_was_deleted(tmp_path, damage):
    ingest(tmp_path, many(8))
    part = tmp_path / "traces" / open_spans(tmp_path).parts[0].file
    part.unlink() if damage is None else part.write_bytes(damage)
    with pytest.raises(InputError, match=part.name) as raised:
        contents(tmp_path)
    assert "`cutset ingest`" in raised.value.hint
    if damage is not None:
        with pytest.raises(InputError, match=part.name):
            ingest(tmp_path, many(9))
        part.unlink()
    ingest(tmp_path, many(8))
    assert contents(tmp_path) == sorted(many(8), key=repr)


def test_a_part_with_a_damaged_middle_is_named(tmp_path):
    ingest(tmp_path, [span(f"t{number}", f"{number * 7919 % 10007:x}") for number in range(3000)])
    part = tmp_path / "traces" / open_spans(tmp_path).parts[0].file
    content = bytearray(part.read_bytes())
    content[100:4000] = bytes(3900)
    part.write_bytes(content)
    with pytest.raises(InputError, match=part.name):
        contents(tmp_path)


CHILD = f"""
import os, resource, signal, sys
from pathlib import Path
import cutset.store.sort_in
from cutset.errors import TargetError
from cutset.model.span import Span, SpanKind
from cutset.store.spans import begin_ingest
spans = [
    Span("t%d" % (i // 4), "s%d" % i, "", "cart", "GetCart", SpanKind.SERVER, {NOON} + i, {NOON} + i + 10)
    for i in range(16)
]
"""

KILLED = """
steps = int(sys.argv[2])
def step(event, *_):
    global steps
    if event in ("os.rename", "fsync"):
        steps -= 1
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sync = os.fsync
os.fsync = lambda descriptor: (step("fsync"), sync(descriptor))
cutset.store.sort_in._SMALL_PARTS = 1  # so that the commit merges, too
with begin_ingest(Path(sys.argv[1])) as ingest:
    ingest.add("a", spans)
    sys.addaudithook(step)
"""


@pytest.mark.parametrize(("step", "spans"), [(1, 8), (3, 8), (5, 8), (7, 8), (8, 8), (9, 16)])
def test_killed_at_any_step_of_a_commit_the_store_is_as_before_or_after_it(tmp_path, step, spans):
    ingest(tmp_path, many(8))
    command = [sys.executable, "-c", CHILD + KILLED, str(tmp_path), str(step)]
    assert subprocess.run(command, check=False, timeout=60).returncode == -9
    assert contents(tmp_path) == sorted(many(spans), key=repr)
    ingest(tmp_path, many(20))
    assert contents(tmp_path) == sorted(many(20), key=repr)
    assert files(tmp_path) == listed(tmp_path)


FULL = """
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    with begin_ingest(Path(sys.argv[1])) as ingest:
        ingest.add("a", spans)
        ingest.log("a", format="otlp", spans_read=16, skipped={"x" * 20_000: 1})
except TargetError as error:
    sys.exit(f"{error.message} / {error.hint}")
"""


@pytest.mark.parametrize("largest_file", [100, 15_000])  # too small for the spans, then only for the manifest
def test_without_room_on_the_disk_the_store_stays_as_it_was(tmp_path, largest_file):
    ingest(tmp_path, many(8))
    command = [sys.executable, "-c", CHILD + FULL, str(tmp_path), str(largest_file)]
    ended = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "kept" in ended.stderr
    assert contents(tmp_path) == sorted(many(8), key=repr)
    assert files(tmp_path) == listed(tmp_path)
