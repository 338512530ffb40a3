import io

import orjson
import pytest

from cutset.model.span import Span, SpanKind, span_of_row
from cutset.traces.files.jaeger import read, read_rows
from cutset.traces.files.json_stream import TRUNCATED
from cutset.traces.tally import ReadTally

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
OTHER = "00f067aa0ba902b7"


def record(**fields):
    return {"traceID": TRACE, "spanID": SPAN, "operationName": "get", "startTime": 1000, "processID": "p1"} | fields


def trace_of(*spans):
    processes = {"p1": {"serviceName": "cart", "tags": []}, "p2": {"serviceName": "shop.default"}}
    return {"traceID": TRACE, "spans": list(spans), "processes": processes, "warnings": None}


def read_all(document, tally=None):
    content = document if isinstance(document, bytes) else orjson.dumps(document)
    return list(read(io.BytesIO(content), tally or ReadTally()))


def the_span(**fields):
    (span,) = read_all({"data": [trace_of(record(**fields))], "total": 0, "errors": None})
    return span


def tags(**values):
    return [{"key": key.replace("__", "."), "type": "string", "value": value} for key, value in values.items()]


def test_reads_an_answer_of_the_query_api():
    span = the_span(
        references=[{"refType": "CHILD_OF", "traceID": TRACE, "spanID": OTHER}],
        startTime=1_563_326_342_252_502,
        duration=113,
        tags=tags(span__kind="server", http__method="GET", http__status_code=200, sampler__type="const"),
        logs=[],
        warnings=None,
    )
    assert span == Span(
        TRACE,
        SPAN,
        OTHER,
        "cart",
        "get",
        SpanKind.SERVER,
        1_563_326_342_252_502_000,
        1_563_326_342_252_615_000,
        attributes={"http.request.method": "GET", "http.response.status_code": "200"},
    )


def test_reads_one_trace_several_and_one_per_line():
    one = trace_of(record())
    assert len(read_all(one)) == 1
    assert len(read_all([one, one])) == 2
    assert len(read_all(b"\n".join([orjson.dumps(one), orjson.dumps({"data": [one, one]})]))) == 3
    assert len(read_all(orjson.dumps({"data": [one, one]}, option=orjson.OPT_INDENT_2))) == 2


def test_short_ids_are_padded_as_their_references_are():
    span = the_span(
        traceID="3CD73EC67BDE24A8",
        spanID="271022fcd05956f",
        references=[{"refType": "CHILD_OF", "traceID": "0000000000000000" + "3cd73ec67bde24a8", "spanID": "F"}],
    )
    assert (span.trace_id, span.span_id, span.parent_id) == (
        "0000000000000000" + "3cd73ec67bde24a8",
        "0271022fcd05956f",
        "f".zfill(16),
    )


@pytest.mark.parametrize(
    ("references", "parent"),
    [
        ([("CHILD_OF", TRACE, OTHER)], OTHER),  # whether or not it is in the trace
        ([("FOLLOWS_FROM", TRACE, OTHER)], OTHER),
        ([("FOLLOWS_FROM", TRACE, SPAN), ("CHILD_OF", TRACE, OTHER)], OTHER),
        ([("CHILD_OF", TRACE, OTHER), ("CHILD_OF", TRACE, SPAN)], OTHER),
        ([("CHILD_OF", "f" * 32, SPAN), ("CHILD_OF", TRACE, OTHER)], OTHER),
        ([("CHILD_OF", "f" * 32, OTHER)], ""),  # of another trace: a link
        ([], ""),
    ],
)
def test_a_parent_is_what_a_span_is_a_child_of_in_its_own_trace(references, parent):
    written = [{"refType": kind, "traceID": trace, "spanID": span} for kind, trace, span in references]
    assert the_span(references=written).parent_id == parent


def test_references_that_hold_whole_spans_and_the_old_field_are_understood():
    nested = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": OTHER, "span": record(spanID=OTHER, references=[])}
    assert the_span(references=[nested]).parent_id == OTHER
    assert the_span(parentSpanID=OTHER).parent_id == OTHER


@pytest.mark.parametrize(
    ("tag", "error"),
    [
        ({"error": True}, True),
        ({"error": "true"}, True),
        ({"error": "True"}, True),
        ({"otel.status_code": "ERROR"}, True),
        ({"http.status_code": 503}, True),
        ({"error": "false"}, False),
        ({"error": False}, False),
        ({"error": None}, False),
        ({"http.status_code": "200"}, False),
        ({}, False),
    ],
)
def test_errors(tag, error):
    assert the_span(tags=tags(**tag)).error is error


def test_istios_spans_tell_their_sides_although_both_say_client():
    def sidecar(**fields):
        proxy = {"component": "proxy", "span.kind": "client", "http.status_code": "403"}
        return {"processID": "p2", "operationName": "x"} | fields | {"tags": tags(**proxy | fields["tags"])}

    outbound = "outbound|9080|v1|ratings.default.svc.cluster.local"
    called = "ratings.default.svc.cluster.local:9080/*"
    caller = the_span(**sidecar(operationName=called, tags={"upstream_cluster": outbound}))
    callee = the_span(**sidecar(tags={"upstream_cluster": "inbound|9080|http|shop.default.svc.cluster.local"}))
    answered_itself = the_span(**sidecar(operationName="shop.default.svc.cluster.local:9080/*", tags={}))
    assert (caller.kind, caller.error, caller.attributes["peer.service"]) == (SpanKind.CLIENT, True, "ratings.default")
    assert caller.name == called
    assert (callee.kind, callee.error) == (SpanKind.SERVER, False)
    assert answered_itself.kind is SpanKind.SERVER


def test_a_service_that_is_not_told_is_unknown():
    assert the_span(processID="p9").service == "unknown_service"
    assert the_span(processID=None).service == "unknown_service"
    assert the_span(processID=None, process={"serviceName": "inline"}).service == "inline"


def test_what_is_malformed_is_counted_and_the_rest_kept():
    tally = ReadTally()
    broken = [record(spanID=None), record(traceID="0"), record(startTime="soon"), record(startTime=-1), 17, None]
    document = {"data": [trace_of(*broken, record()), {"traceID": TRACE}, 5, trace_of(record())]}
    assert len(read_all(document, tally)) == 2
    assert tally.skipped == {
        "Jaeger span without ids": 2,
        "Jaeger span without a start time": 2,
        "Jaeger span that is not an object": 2,
        "Jaeger trace without spans": 2,
    }
    assert tally.first_at["Jaeger span without ids"] == "data[0].spans[0]"


def test_a_malformed_tag_costs_that_tag_alone():
    span = the_span(tags=[{"key": "http.method", "value": "GET"}, {"key": []}, None, {"key": "error", "value": [True]}])
    assert span.attributes == {"http.request.method": "GET"}
    assert not span.error


@pytest.mark.parametrize("duration", [None, -5, "x", 1e300, []])
def test_a_nonsensical_duration_counts_as_none(duration):
    span = the_span(duration=duration)
    assert span.start_ns == span.end_ns == 1_000_000


def test_of_a_torn_file_the_whole_traces_are_kept():
    tally = ReadTally()
    content = orjson.dumps({"data": [trace_of(record()), trace_of(record())]})
    assert len(read_all(content[:-60], tally)) == 1
    assert tally.skipped["truncated JSON"] == 1


def test_sidecars_are_told_apart_from_gateways_and_ours_speak_for_their_service():
    assert the_span(tags=tags(node_id="sidecar~10.1.1.1~cart-5f~shop.svc")).attributes["cutset.sidecar"] == "true"
    assert "cutset.sidecar" not in the_span(tags=tags(node_id="router~10.1.1.1~gateway-5f~shop.svc")).attributes
    ours = the_span(tags=tags(**{"cutset.service": "cart", "cutset.attempt": "1"}))
    assert (ours.service, ours.attributes["cutset.sidecar"]) == ("cart", "true")


def read_in_batches(content, tally):
    return [span_of_row(row) for rows, _ in read_rows(io.BytesIO(content), tally) for row in rows]


@pytest.mark.parametrize("reader", [read_all, read_in_batches])
@pytest.mark.parametrize("wrapped", [True, False])
def test_of_a_trace_that_was_cut_off_spans_are_kept_whose_process_is_known(reader, wrapped):
    """Jaeger writes processes behind the spans: of the last trace they may be lost, in part or all."""
    spans = [
        record(),
        record(spanID=OTHER, processID="p2"),
        record(spanID="1" * 16, processID=None, process={"serviceName": "own"}),
    ]
    trace = orjson.dumps(trace_of(*spans))
    before = b'{"data":[' + orjson.dumps(trace_of(record(spanID="2" * 16))) + b"," if wrapped else b""
    cuts = {
        b'"processes"': (["own"], 2),
        b',"p2":': (["cart", "own"], 1),
        b',"processID":"p2"': ([], 1),
    }
    for cut, (services, lost) in cuts.items():
        tally = ReadTally()
        found = reader(before + trace[: trace.index(cut)], tally)

        assert [span.service for span in found] == ["cart"] * wrapped + services
        assert tally.skipped == {TRUNCATED: 1, "Jaeger span whose process is not in the file": lost}


def test_of_a_trace_that_was_cut_off_before_its_first_span_was_over_nothing_is_told_twice():
    tally = ReadTally()
    content = orjson.dumps({"data": [trace_of(record()), trace_of(record(), record())]})
    found = read_all(content[: content.rindex(b'"operationName"', 0, content.rindex(b'"spanID"'))], tally)

    assert len(found) == 1
    assert tally.skipped == {TRUNCATED: 1}
