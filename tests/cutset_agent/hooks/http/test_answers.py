"""httpx, requests, urllib3 and aiohttp against a real HTTP server: what is the same in all of them."""

import re

import pytest
from opentelemetry import context, propagate
from opentelemetry.sdk.trace import TracerProvider
from tests.cutset_agent.conftest import CALLER_ID, TRACE_ID, plan_headers
from tests.samples.http_clients import ANSWER, BODY, CLIENTS, OLD_URLLIB3, endpoint

from cutset_agent import reach, recording, request
from cutset_agent.hooks.http.answers import STATUS_ANSWERS, carry_on
from cutset_agent.hooks.rpc.grpc import carried
from cutset_agent.wire import WireFault, fault_code


@pytest.mark.parametrize(
    "fault", ["connection-refused", "connection-reset", "connection-lost", "truncated-body", "no-answer"]
)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_fault_is_told_from_the_real_failure_by_nothing(installed, shop, failing, client, fault):
    if OLD_URLLIB3 and client == "requests" and fault == "truncated-body":
        pytest.skip("urllib3 1 does not compare what it reads with Content-Length")
    timeout = 0.1 if fault == "no-answer" else 5
    with pytest.raises(Exception) as real:  # noqa: PT011
        CLIENTS[client](failing(fault), timeout=timeout)
    with installed.request((endpoint(client), fault)), pytest.raises(Exception) as made:  # noqa: PT011
        CLIENTS[client](shop.url, timeout=timeout)
    assert type(real.value) is type(made.value)
    if client not in {"httpx-asyncio", "aiohttp"}:  # which word some of them in their own way
        real_text, made_text = (re.sub("port=[0-9]+|0x[0-9a-f]+", "", str(each.value)) for each in (real, made))
        assert real_text == made_text


@pytest.mark.parametrize("client", CLIENTS)
def test_a_status_is_a_response_of_the_library(installed, calls, shop, client):
    for fault, answer in STATUS_ANSWERS.items():
        with installed.request((endpoint(client), fault)):
            status, body, headers = CLIENTS[client](shop.url)
        assert (status, body) == (answer.status, answer.body)
        assert headers["content-type"] == "text/plain"
        assert headers.get("retry-after") == ("1" if status == 429 else None)
    assert [span["status"] for span in calls("rpc/")] == [str(answer.status) for answer in STATUS_ANSWERS.values()]
    assert shop.received == []


@pytest.mark.parametrize("client", CLIENTS)
def test_any_status_can_be_asked_for_with_a_body(installed, calls, shop, client):
    asked = [(418, "", b"I'm a Teapot"), (599, "", b""), (204, "", b""), (503, '{"busy": 1}', b'{"busy": 1}')]
    for status, text, body in asked:
        with installed.request((endpoint(client), WireFault("A", status, text=text))):
            found, content, headers = CLIENTS[client](shop.url)
        assert (found, content.lower()) == (status, body.lower())
        assert headers["content-type"] == ("application/json" if text else "text/plain")
    assert [span["fault"] for span in calls("rpc/")] == ["status-418", "status-599", "status-204", "status-503"]
    assert shop.received == []


@pytest.mark.parametrize("client", CLIENTS)
def test_what_no_http_call_has_is_reported(installed, calls, shop, client):
    for fault in (WireFault("G", 14), WireFault("L", fault_code("deadlock"))):
        with installed.request((endpoint(client), fault)):
            assert CLIENTS[client](shop.url)[0] == 201
    told = [(span.get("fault"), span["not_fired"]) for span in calls("rpc/")]
    assert told == [(None, f"{name} is no fault of this endpoint") for name in ("grpc-14", "deadlock")]


GARBLED = bytes(255 - byte for byte in ANSWER)


@pytest.mark.parametrize(("fault", "left"), [("empty-body", b""), ("wrong-body", b"{}"), ("garbled-body", GARBLED)])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_replaced_body_comes_with_the_real_status_and_type(  # noqa: PLR0917
    installed, calls, shop, client, fault, left
):
    with installed.request((endpoint(client), fault)):
        status, body, headers = CLIENTS[client](shop.url)
    assert (status, body, headers["content-type"], headers["content-length"]) == (
        201, left, "application/json", str(len(left)),
    )  # fmt: skip
    assert len(shop.received) == 1
    assert calls("rpc/")[0]["fault"] == fault


@pytest.mark.parametrize("client", CLIENTS)
def test_calls_have_their_peer(installed, calls, shop, client):
    host = shop.url.split("/")[2]
    with installed.request(
        ((endpoint(client), "quotes.example"), "status-404"), ((endpoint(client), host), "status-503")
    ):
        assert CLIENTS[client](shop.url)[0] == 503
    assert calls("rpc/")[0]["peer"] == host


@pytest.mark.parametrize("client", CLIENTS)
def test_calls_without_a_plan_do_as_ever(installed, shop, client):
    headers = {"traceparent": "mine"}
    assert CLIENTS[client](shop.url, headers=headers)[:2] == (201, ANSWER)
    assert CLIENTS[client](shop.url, "GET", body=None)[:2] == (201, ANSWER)
    assert [sent["traceparent"] for *_, sent, _ in shop.received if "traceparent" in sent] == ["mine"]
    assert headers == {"traceparent": "mine"}
    assert installed.spans() == []


@pytest.mark.parametrize("client", CLIENTS)
def test_the_plan_goes_on_with_outgoing_calls(installed, calls, shop, client):
    own = {"X-Own": "yes"}
    with installed.request() as request:
        CLIENTS[client](shop.url, headers=own)
    (_, _, headers, body) = shop.received[0]
    (span,) = calls(endpoint(client))
    sent = {name.lower(): value for name, value in headers.items()}
    assert sent["traceparent"] == f"00-{request.trace_id}-{span['spanId']}-01"
    assert (sent["tracestate"], sent["baggage"]) == (request.carried["tracestate"], request.carried["baggage"])
    assert (sent["x-own"], body) == ("yes", BODY)
    assert own == {"X-Own": "yes"}
    assert (span["status"], span["timeout"], len(span["payload"])) == ("201", "5", 16)


@pytest.mark.parametrize("client", CLIENTS)
def test_what_the_application_propagates_itself_stays(installed, shop, client):
    with installed.request() as request:
        CLIENTS[client](shop.url, headers={"TraceParent": "its own"})
    headers = {name.lower(): value for name, value in shop.received[0][2].items()}
    assert headers["traceparent"] == "its own"
    assert headers["tracestate"] == request.carried["tracestate"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_traceparent_that_is_only_handed_on_becomes_the_call_s_own(installed, calls, shop, client):
    with installed.request() as request:
        CLIENTS[client](shop.url, headers={"TraceParent": f"00-{TRACE_ID}-{CALLER_ID}-01"})
        CLIENTS[client](shop.url, headers={"TraceParent": f"00-{TRACE_ID}-{'12' * 8}-01"})  # of a tracer
    sent = [{name.lower(): value for name, value in each[2].items()}["traceparent"] for each in shop.received]
    assert sent == [f"00-{request.trace_id}-{calls('rpc/')[0]['spanId']}-01", f"00-{TRACE_ID}-{'12' * 8}-01"]


@pytest.mark.parametrize("client", CLIENTS)
def test_within_a_span_of_opentelemetry_the_call_s_span_and_the_callee_s_have_the_same_parent(
    installed, calls, shop, client
):
    headers = {}
    token = context.attach(propagate.extract(plan_headers()))
    try:
        with installed.request(), TracerProvider().get_tracer("test").start_as_current_span("POST"):
            propagate.inject(headers)  # as its instrumentation does
            CLIENTS[client](shop.url, headers=headers)
    finally:
        context.detach(token)
    sent = {name.lower(): value for name, value in shop.received[0][2].items()}["traceparent"]
    assert sent == headers["traceparent"]
    assert calls("rpc/")[0]["parentSpanId"] == sent.split("-")[2]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_timeout_needs_a_call_site_that_has_one(installed, calls, shop, client):
    with installed.request((endpoint(client), "timeout")):
        assert CLIENTS[client](shop.url, timeout=None)[:2] == (201, ANSWER)
    assert calls("rpc/")[0]["not_fired"] == "timeout: the call site has no timeout"


@pytest.mark.parametrize("client", CLIENTS)
def test_bodies_are_recorded_and_still_read(installed, calls, shop, client, recorded):
    with installed.request() as request:
        assert CLIENTS[client](shop.url)[:2] == (201, ANSWER)
    (operation,) = request.operations
    assert recording.is_on()
    assert (operation["request"], operation["response"]) == (BODY, ANSWER)
    assert calls("rpc/")


def test_a_plan_that_does_not_count_goes_no_further_whoever_has_set_it(installed, monkeypatch):
    with installed.request():
        monkeypatch.setattr(reach, "GRACE_SECONDS", -1.0)
        request.current().reach.end()
        headers = {"Accept": "*/*", "tracestate": "congo=1,cutset=x", "baggage": "cutset=x", "Traceparent": "00-1"}
        carry_on(headers)
        assert headers == {"Accept": "*/*", "tracestate": "congo=1", "Traceparent": "00-1"}
        given = (("tracestate", "cutset=x"), ("baggage", "a=1,cutset=x"), ("bytes-bin", b"cutset"), ("empty", ""))
        assert carried(given) == (("baggage", "a=1"), ("bytes-bin", b"cutset"), ("empty", ""))
