"""The request that code works for: where its plan comes from, what it carries on, and how far it reaches."""

import asyncio
import contextvars
import time
from contextlib import contextmanager

import pytest
from tests.cutset_agent.conftest import CALLER_ID, KEY, SERVICE, TRACE_ID, plan_headers

import cutset_agent
from cutset_agent import request, wire

FAULT = ("cache/redis/get", "timeout")
TRACEPARENT = ("traceparent", f"00-{TRACE_ID}-{CALLER_ID}-01")
TARGET = wire.WireTarget(SERVICE, "cache/redis/get")


def entered(headers):
    entry = request.enter(headers, "GET /")
    found = request.current()
    request.leave(entry)
    return found


def planned(found):
    return found is not None and any(part.faults_at(TARGET) for part in found.plan)


def parts(**changes):
    now = time.time()
    signed = {"key": KEY.encode(), "environment": "local", "trace_id": TRACE_ID, "expires": now + 60, "now": now}
    return wire.encode([(TARGET, wire.WireFault("A", 503))], **signed | changes)


@pytest.mark.parametrize(
    "headers",
    [
        {"tracestate": wire.to_tracestate},
        {"Tracestate": lambda parts: f"congo=t61rcWkgMzE, {wire.to_tracestate(parts)} ,x=1"},
        {"baggage": wire.to_baggage},
        {"baggage": lambda parts: f"user=1;p=2,{wire.to_baggage(parts)};property"},
        {"baggage": lambda parts: wire.to_baggage(parts).replace("~", "%7E")},
        {"uberctx-cutset": lambda parts: parts[0]},
        {"x-datadog-tags": wire.to_datadog},
    ],
    ids=["tracestate", "among others", "baggage", "with properties", "escaped", "jaeger", "datadog"],
)
def test_a_plan_is_found_in_every_carrier(installed, headers):
    assert planned(entered([TRACEPARENT, *((name, write(parts())) for name, write in headers.items())]))


@pytest.mark.parametrize(
    "changes",
    [{"key": b"forged" * 6}, {"environment": "production"}, {"expires": 1_000_000_000}, {"trace_id": "12" * 16}],
    ids=str,
)
def test_a_plan_that_is_forged_elsewhere_or_expired_or_of_another_trace_is_none(installed, changes):
    assert entered([TRACEPARENT, ("tracestate", wire.to_tracestate(parts(**changes)))]) is None


def test_nonsense_is_no_plan(installed):
    for value in ("", "cutset", "cutset=", "cutset=2h.x", f"cutset={'1' * 5000}", "cutset=\udcff", "=,=,cutset==="):
        assert entered([TRACEPARENT, ("tracestate", value), ("baggage", value), ("uberctx-cutset", value)]) is None


@pytest.mark.parametrize("junk", ["=junk", " junk", "/x"])
def test_a_plan_with_something_behind_it_is_none(installed, junk):
    value = wire.to_tracestate(parts()) + junk
    assert entered([TRACEPARENT, ("tracestate", value), ("baggage", value), ("uberctx-cutset", value)]) is None


@pytest.mark.parametrize(("before", "counts"), [(40, True), (80, False)])
def test_of_a_request_with_very_many_plans_only_the_first_are_looked_at(installed, before, counts):
    forged = ",".join(f"cutset{n}=2h.{n:07d}A.{'A' * 16}" for n in range(2, before + 2))
    found = entered([TRACEPARENT, ("baggage", f"{forged},{wire.to_baggage(parts())}")])
    assert planned(found) if counts else found is None


def test_the_parts_of_a_large_plan_come_together(installed):
    faults = [(f"cache/redis/command{n}", "timeout") for n in range(200)]
    found = entered(plan_headers(*faults).items())
    assert sum(len(part.faults) for part in found.plan) == 200


def test_without_a_plan_there_is_no_request(installed):
    assert request.current() is None
    assert entered([("traceparent", f"00-{TRACE_ID}-{CALLER_ID}-01"), ("tracestate", "congo=1")]) is None
    assert installed.spans() == []


def test_a_request_without_a_plan_is_not_the_one_that_it_began_in(installed):
    with installed.request(FAULT):
        entry = request.enter([], "mq/nats/handle", "consumer")
        assert request.current() is None
        assert request.outgoing_headers() == {}
        request.leave(entry)
        assert request.current() is not None


def test_the_trace_goes_on(installed):
    with installed.request(FAULT) as found:
        outgoing = request.outgoing_headers()
    assert set(outgoing) == {"traceparent", "tracestate", "baggage"}
    assert planned(entered(outgoing.items()))
    first, second = installed.spans()
    assert (first["traceId"], first["spanId"], first["parentSpanId"]) == (TRACE_ID, found.span_id, CALLER_ID)
    assert (second["traceId"], second["parentSpanId"]) == (TRACE_ID, found.span_id)


def test_a_plan_without_a_trace_is_none(installed):
    assert entered([("tracestate", wire.to_tracestate(parts()))]) is None


def test_a_request_that_names_its_trace_in_another_way_goes_on_in_it(installed):
    ways = [("uber-trace-id", f"{TRACE_ID}:{CALLER_ID}:0:1"), ("x-b3-traceid", TRACE_ID)]
    for way in ways:
        entry = request.enter([way, ("uberctx-cutset", parts()[0])], "GET /")
        assert entry.request.trace_id == TRACE_ID
        outgoing = request.outgoing_headers()
        request.leave(entry)
        assert outgoing[way[0]] == way[1]
        assert planned(entered(outgoing.items()))


def test_repeated_headers_are_carried_as_one(installed):
    first, second = wire.to_tracestate(parts()), "congo=1"
    entry = request.enter([TRACEPARENT, ("tracestate", first), ("tracestate", second)], "GET /")
    assert request.outgoing_headers()["tracestate"] == f"{first},{second}"
    request.leave(entry)


def test_the_report_says_how_a_request_ended(installed):
    for status, error in ((200, None), (503, None), (None, ValueError())):
        request.leave(request.enter(plan_headers().items(), "GET /"), status, error)
    request.leave(request.enter(plan_headers().items(), "mq/nats/handle", "consumer"))
    spans = installed.spans()
    assert [span.get("http.status_code") for span in spans] == ["200", "503", None, None]
    assert [span.get("error") for span in spans] == [None, "true", "true", None]
    assert [span["kind"] for span in spans] == [2, 2, 2, 5]
    assert spans[3]["endpoint"] == "mq/nats/handle"


def test_the_report_says_how_many_calls_were_told_of_before(installed, client):
    with installed.request():
        client.execute("one")
        client.execute("two")
    spans = installed.spans()

    assert [span.get("calls") for span in spans] == ["2", None, None]
    assert {span["agent"] for span in spans} == {cutset_agent.__version__}


@pytest.mark.parametrize("changes", [{"key": b"forged" * 6}, {"environment": "production"}], ids=str)
def test_a_plan_that_is_refused_is_told_of_and_no_plan_is_not(installed, changes):
    entered([TRACEPARENT, ("tracestate", wire.to_tracestate(parts(**changes)))])
    entered([TRACEPARENT, ("tracestate", "congo=t61rcWkgMzE")])

    (span,) = installed.spans()
    assert (span["refused"], span["traceId"], span["parentSpanId"]) == ("1", TRACE_ID, CALLER_ID)


def test_leaving_in_another_context_is_no_error(installed):
    entry = contextvars.copy_context().run(request.enter, plan_headers(FAULT).items(), "GET /")
    request.leave(entry)
    assert request.current() is None


def test_concurrent_requests_do_not_meet(installed):
    async def serve(number):
        with installed.request((f"cache/redis/{number}", "timeout")) as mine:
            for _ in range(5):
                await asyncio.sleep(0)
                assert request.current() is mine

    async def main():
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(serve(number))

    asyncio.run(main())


@pytest.fixture
def opentelemetry_span():
    """Begins a span as an instrumented server does with a request's headers."""
    from opentelemetry import context, propagate
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer("test")

    @contextmanager
    def begin(headers):
        token = context.attach(propagate.extract(headers))
        try:
            with tracer.start_as_current_span("GET /") as span:
                yield span
        finally:
            context.detach(token)

    return begin


def test_opentelemetrys_span_is_the_parent_of_the_entry(installed, opentelemetry_span):
    headers = plan_headers(FAULT)
    with opentelemetry_span(headers) as span:
        request.leave(request.enter(headers.items(), "GET /"))
    (reported,) = installed.spans()
    assert reported["traceId"] == TRACE_ID
    assert reported["parentSpanId"] == f"{span.get_span_context().span_id:016x}"


def test_a_plan_in_opentelemetrys_context_is_enough(installed, opentelemetry_span):
    faults = [(f"cache/redis/command{n}", "timeout") for n in range(200)]  # more than fits tracestate
    with opentelemetry_span(plan_headers(*faults)):
        found = request.current()
        assert sum(len(part.faults) for part in found.plan) == 200
        assert request.current() is found
        assert request.outgoing_headers()["traceparent"].startswith(f"00-{TRACE_ID}-")
    with opentelemetry_span({}):
        assert request.current() is None
    assert request.current() is None


def test_a_foreign_plan_in_opentelemetrys_context_is_none(installed, opentelemetry_span):
    with opentelemetry_span(plan_headers(FAULT, key="forged" * 6, trace_id="ef" * 16)):
        assert request.current() is None
