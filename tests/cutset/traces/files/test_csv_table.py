import io

import pytest

from cutset.errors import UsageError
from cutset.model.span import Span, SpanKind
from cutset.traces.files.csv_table import LONGEST_LINE, Mapping, load_mapping, read
from cutset.traces.tally import ReadTally

MAPPING = Mapping(
    trace_id="trace",
    span_id="span",
    service="app",
    name="what",
    start="at",
    parent_id="within",
    duration="took",
    kind="kind",
    error="bad",
    time_unit="ms",
    duration_unit="us",
    delimiter=";",
    root="-",
    attributes={"http.method": "verb", "http.status_code": "status"},
)
HEADER = b"at;took;trace;span;within;app;what;kind;bad;verb;status;other\n"


def read_all(content, mapping=MAPPING, tally=None):
    return list(read(io.BytesIO(content), tally or ReadTally(), mapping))


def test_columns_become_what_the_mapping_says():
    root, child = read_all(
        HEADER
        + b"1700000000000;1500;AB;1;-;shop;GET /;server;no;GET;200;x\n"
        + b"1700000000001.5;10;ab;2;1;shop;call;SPAN_KIND_CLIENT;TRUE;POST;;x\n"
    )
    assert root == Span(
        "ab".zfill(32),
        "1".zfill(16),
        "",
        "shop",
        "GET /",
        SpanKind.SERVER,
        1_700_000_000_000_000_000,
        1_700_000_000_001_500_000,
        attributes={"http.request.method": "GET", "http.response.status_code": "200"},
    )
    assert child.parent_id == root.span_id
    assert child.start_ns == 1_700_000_000_001_500_000
    assert (child.kind, child.error, child.attributes) == (SpanKind.CLIENT, True, {"http.request.method": "POST"})


def test_an_answer_that_says_so_is_an_error_without_a_column_for_it():
    (span,) = read_all(HEADER + b"1;1;a;1;-;shop;x;2;;GET;503;x\n")
    assert span.error


def test_columns_that_the_mapping_leaves_out_are_not_needed():
    mapping = Mapping(trace_id="t", span_id="s", service="a", name="n", start="at", end="until", time_unit="s")
    (span,) = read_all(b"t,s,a,n,at,until\n1,2,shop,x,1.25,2\n", mapping)
    assert (span.parent_id, span.kind, span.error, span.attributes) == ("", SpanKind.INTERNAL, False, {})
    assert (span.start_ns, span.end_ns) == (1_250_000_000, 2_000_000_000)


def test_quotes_line_breaks_and_a_byte_order_mark_are_fine():
    (span,) = read_all(b"\xef\xbb\xbf" + HEADER + b'1;1;a;1;-;"a;b";"say ""hi""\r\nthere";;;;;\r\n')
    assert (span.service, span.name) == ("a;b", 'say "hi"\r\nthere')


def test_an_end_before_the_start_counts_as_no_duration():
    mapping = Mapping(trace_id="t", span_id="s", service="a", name="n", start="at", end="until")
    (span,) = read_all(b"t,s,a,n,at,until\n1,2,shop,x,500,20\n", mapping)
    assert (span.start_ns, span.end_ns) == (500, 500)


def test_bad_lines_are_counted_and_good_ones_after_them_kept():
    tally = ReadTally()
    spans = read_all(
        HEADER
        + b"1;1;a;0;-;shop;x;;;;;\n"
        + b"then;1;a;1;-;shop;x;;;;;\n"
        + b"1;1\n"
        + b'1;1;a;1;-;shop;"' + b"never closed " * 20_000 + b"\n"
        + b"1;1;a;1;-;shop\0;\xff;;;;;\n",
        tally=tally,
    )  # fmt: skip
    assert [(span.service, span.name) for span in spans] == [("shop\ufffd", "\ufffd")]
    assert tally.skipped == {
        "CSV line without ids": 1,
        "CSV line without a start time": 1,
        "CSV line with too few columns": 1,
        "CSV line that cannot be read": 1,
    }


def test_a_line_that_is_too_long_for_memory_is_read_in_pieces():
    tally = ReadTally()
    good = b"1;1;a;1;-;shop;x;;;;;\n"
    assert len(read_all(HEADER + good + b"x" * (3 * LONGEST_LINE) + b"\n" + good, tally=tally)) == 2
    assert tally.skipped == {"CSV line that cannot be read": 3}


def test_the_stream_stays_open():
    stream = io.BytesIO(HEADER)
    list(read(stream, ReadTally(), MAPPING))
    assert not stream.closed


def test_loads_a_mapping(tmp_path):
    path = tmp_path / "columns.yaml"
    path.write_text(
        "trace_id: t\nspan_id: s\nservice: a\nname: n\nstart: at\ntime_unit: us\ndelimiter: '|'\n"
        "attributes:\n  http.route: route\n"
    )
    assert load_mapping(path) == Mapping(
        trace_id="t",
        span_id="s",
        service="a",
        name="n",
        start="at",
        time_unit="us",
        delimiter="|",
        attributes={"http.route": "route"},
    )


NEEDED = "trace_id: t\nspan_id: s\nservice: a\nname: n\nstart: at\n"


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("trace_id: t\nname: n\nservice: a", "columns hold span_id, start", "`start: <name of the column>`"),
        (NEEDED + "parent: p", "`parent` is not known", "Did you mean `parent_id`?"),
        (NEEDED + "qqq: p", "`qqq` is not known", "Known: `trace_id`"),
        (NEEDED + "time_unit: hours", "time_unit: expected one of s, ms, us, ns, found 'hours'", "Correct"),
        (NEEDED + "delimiter: ', '", "delimiter: expected one character", "Correct"),
        (NEEDED + "end: 5", "end: expected a text, found 5", "Correct"),
        (NEEDED + "attributes: [a]", "attributes: expected attributes and the columns", "Correct"),
        (NEEDED + "1: x", "`1` is not known", "Known: `trace_id`"),
        ("- a", "does not map columns", "trace_id"),
        ("a: [", "is not YAML", "Correct"),
        ("a: \0", "is not YAML", "Correct"),
    ],
)
def test_says_what_is_wrong_with_a_mapping(content, message, hint, tmp_path):
    path = tmp_path / "columns.yaml"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        load_mapping(path)
    assert message in caught.value.message
    assert str(path) in caught.value.message
    assert hint in caught.value.hint


def test_says_that_a_mapping_is_missing(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        load_mapping(tmp_path / "columns.yaml")


def test_a_stream_may_be_closed_before_it_is_read_to_its_end():
    stream = io.BytesIO(HEADER + b"1;1;a;1;-;shop;x;;;;;\n" * 2)
    spans = read(stream, ReadTally(), MAPPING)
    next(spans)
    stream.close()
    spans.close()
