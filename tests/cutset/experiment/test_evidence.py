from dataclasses import replace

import pytest
from tests.samples.agent_traces import agent_call, agent_request, serving
from tests.samples.small_shop import cut
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.experiment.evidence import evidence_of_trial, kept_answer
from cutset.experiment.trial import Bench, Trial
from cutset.lineage.path import Level, read_lineage
from cutset.model.evidence import LONGEST_NAME, MOST_ANSWER, MOST_SPANS, EvidenceKept, Teller
from cutset.model.fault import BASELINE, Cut
from cutset.model.request import Response
from cutset.model.span import Span, SpanKind

ADS = cut("ad/GetAds")


def kept(spans: list[Span], faults: Cut = ADS, *, answers: bool = True) -> EvidenceKept:
    trial = Trial(
        trace_id="t" * 32,
        root_id=ROOT,
        response=Response(200, "text/plain", b"no ads today", seconds=0.2),
        lineage=read_lineage(spans, ROOT, faults, Level.API),
        spans=tuple(spans),
        traced=True,
        missing="",
        abandoned=False,
    )
    bench = Bench(None, b"", None, None, Level.API, trace_timeout=1, export_interval=1)  # type: ignore[arg-type]
    return evidence_of_trial(bench, "GET /", faults, trial, answers=answers)


def test_the_fault_is_marked_at_the_call_that_the_mesh_says_it_happened_to() -> None:
    evidence = kept(trace(Made("cart/GetCart"), Made("ad/GetAds", status=14, flags="FI")))

    assert (evidence.request, evidence.cut, evidence.trace_id) == ("GET /", ADS, "t" * 32)
    (faulted,) = (span for span in evidence.spans if span.fault)
    assert (faulted.teller, faulted.service, faulted.name) == (Teller.MESH, "ad", "GetAds")
    assert (faulted.fault, faulted.status, faulted.error) == ("ad/GetAds:abort(503)", "grpc 14", True)
    first = evidence.spans[0]
    assert (first.service, first.name, first.status, first.parent, first.start) == ("frontend", "GET /", "200", "", 0)


def test_a_call_of_a_data_store_is_told_by_the_agent_and_what_else_it_says_is_no_call() -> None:
    spans = trace(Made("cart/GetCart"))
    around = serving("cart", spans).span_id
    spans += [
        agent_call("x", around, "cache/redis/get", peer="sessions/0", fault="timeout", error=True),
        agent_call("y", around, "db/psycopg_pool/getconn"),
        agent_request("z", around),
    ]

    evidence = kept(spans, cut("cart>cache/redis/get sessions/0:timeout"))

    told = {span.id: span for span in evidence.spans}
    assert (told["x"].teller, told["x"].service, told["x"].name) == (Teller.AGENT, "cart", "cache/redis/get sessions/0")
    assert told["x"].fault == "cart>cache/redis/get sessions/0:timeout"
    assert {told["y"].teller, told["z"].teller, told[around].teller} == {Teller.SERVICE}


def test_names_are_bounded_and_neither_queries_nor_attributes_are_kept() -> None:
    secret = {"http.request.header.authorization": "hunter2", "tracestate": "plan", "rpc.grpc.status_code": 13}
    entry, *_ = spans = trace()
    spans += [
        Span("t", "1", entry.span_id, "s" * 999, "n" * 999, SpanKind.CLIENT, 5, 4, attributes=secret),
        Span("t", "2", "gone", "web", "GET /x?token=hunter2", SpanKind.CLIENT, 5, 6),
    ]

    evidence = kept(spans, BASELINE)

    long, short = (span for span in evidence.spans if span.id in "12")
    assert (len(long.service), len(long.name), long.status, long.duration) == (LONGEST_NAME, LONGEST_NAME, "grpc 13", 0)
    assert (short.name, short.parent) == ("GET /x", "")
    assert "hunter2" not in repr(evidence)
    assert "plan" not in repr(evidence)


def test_times_are_microseconds_since_the_first_span_began() -> None:
    entry, served = (replace(span, start_ns=1_000_000, end_ns=9_000_000) for span in trace())

    evidence = kept([replace(served, start_ns=3_500_000), entry], BASELINE)

    assert [(span.start, span.duration) for span in evidence.spans] == [(0, 8000), (2500, 5500)]


def test_spans_beyond_the_limit_are_counted_and_nobody_has_one_of_them_for_a_parent() -> None:
    entry, *_ = trace()
    many = [
        replace(entry, span_id=str(n), parent_id=str(n + 1), start_ns=entry.start_ns + n, attributes={})
        for n in range(MOST_SPANS + 7)
    ]

    evidence = kept([entry, *many], BASELINE)

    assert (len(evidence.spans), evidence.left_out) == (MOST_SPANS, 8)
    assert evidence.spans[-1].parent == ""


def test_whoever_does_not_want_answers_kept_has_none() -> None:
    answer = kept(trace()).answer

    assert answer is not None
    assert (answer.status, answer.text, answer.seconds) == (200, "no ads today", 0.2)
    assert kept(trace(), answers=False).answer is None


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("application/json; charset=utf-8", b'{"a": 1}', '{"a": 1}'),
        ("application/problem+json", b"{}", "{}"),
        ("text/html", b"<p>caf\xc3\xa9", "<p>café"),
        ("text/html", b"\xff", "�"),
        ("image/svg+xml", b"<svg/>", "<svg/>"),
        ("image/png", b"\x89PNG", ""),
        ("application/octet-stream", b"text", ""),
        ("", b"plain", "plain"),
        ("", b"\xff\xfe", ""),
    ],
)
def test_only_what_is_text_is_kept_as_text(content_type: str, body: bytes, text: str) -> None:
    answer = kept_answer(Response(200, content_type, body))

    assert (answer.text, answer.length, answer.is_text, answer.left_out) == (text, len(body), bool(text), 0)


def test_a_long_answer_is_cut_off_and_says_by_how_much() -> None:
    answer = kept_answer(Response(200, "text/plain", b"x" * (MOST_ANSWER + 5)))

    assert (len(answer.text), answer.left_out, answer.length) == (MOST_ANSWER, 5, MOST_ANSWER + 5)


def test_of_no_answer_it_is_kept_why_there_was_none() -> None:
    assert kept_answer(Response(error="no answer within 10 s")).error == "no answer within 10 s"
