"""httpx, requests, urllib3 and aiohttp against a real HTTP server: what is the same in all of them."""

import re

import pytest
from tests.samples.http_clients import ANSWER, BODY, CLIENTS, OLD_URLLIB3, endpoint

from cutset_agent import reach, recording, request
from cutset_agent.hooks.http.answers import STATUS_ANSWERS, carry_on
from cutset_agent.hooks.rpc.grpc import carried


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


@pytest.mark.parametrize(("fault", "left"), [("empty-body", b""), ("wrong-body", b"{}")])
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
