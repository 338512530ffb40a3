"""httpx, with threads and with asyncio: its own exceptions, its connections, its streams."""

import asyncio
import os
import subprocess
import sys

import httpx
import pytest
from tests.samples.http_clients import ANSWER, BODY, CLIENTS, check_fault, endpoint

from cutset_agent.hooks.http import httpx as httpx_hook
from cutset_agent.hooks.http.answers import STATUS_ANSWERS

EXPECTED = {
    "connection-refused": httpx.ConnectError,
    "connection-reset": httpx.ReadError,
    "connection-lost": httpx.RemoteProtocolError,
    "dns-failure": httpx.ConnectError,
    "tls-failure": httpx.ConnectError,
    "connect-timeout": httpx.ConnectTimeout,
    "timeout": httpx.ReadTimeout,
    "no-answer": httpx.ReadTimeout,
    "lost-answer": httpx.ReadTimeout,
    "pool-exhausted": httpx.PoolTimeout,
    "truncated-body": httpx.RemoteProtocolError,
}


def test_every_fault_is_tried():
    assert {*EXPECTED, *STATUS_ANSWERS, "empty-body", "wrong-body", "garbled-body"} == set(httpx_hook.FAULTS)


@pytest.mark.parametrize("fault", EXPECTED)
@pytest.mark.parametrize("client", ["httpx", "httpx-asyncio"])
def test_a_fault_is_the_librarys_own_exception(installed, calls, shop, client, fault):
    check_fault(installed, calls, shop, client, fault, EXPECTED[fault])


def test_lost_answers_keep_no_connections(installed, shop):
    with httpx.Client(timeout=5, limits=httpx.Limits(max_connections=1)) as client:
        for fault in ["lost-answer"] * 3 + ["truncated-body"] * 3:
            with installed.request((endpoint("httpx"), fault)), pytest.raises(httpx.TransportError):
                client.post(shop.url, content=BODY)
        assert client.post(shop.url, content=BODY).content == ANSWER


def test_lost_answers_keep_no_connections_with_asyncio(installed, shop):
    async def main():
        async with httpx.AsyncClient(timeout=5, limits=httpx.Limits(max_connections=1)) as client:
            for fault in ["lost-answer"] * 3 + ["truncated-body"] * 3:
                with installed.request((endpoint("httpx"), fault)), pytest.raises(httpx.TransportError):
                    await client.post(shop.url, content=BODY)
            assert (await client.post(shop.url, content=BODY)).content == ANSWER

    asyncio.run(main())


def test_a_real_failure_behind_a_lost_answer_is_the_one_that_is_seen(installed, shop):
    with installed.request((endpoint("httpx"), "lost-answer")), pytest.raises(httpx.ConnectError):
        CLIENTS["httpx"]("http://127.0.0.1:1/orders/17")


def test_statuses_meet_what_applications_put_above_the_transport(installed, shop):
    def raise_for_status(response):
        response.raise_for_status()

    planned = installed.request((endpoint("httpx"), "status-500"))
    hooked = httpx.Client(event_hooks={"response": [raise_for_status]})
    with hooked as client, planned, pytest.raises(httpx.HTTPStatusError):
        client.post(shop.url)


def test_a_body_that_is_streamed_can_be_cut_too(installed, shop):
    half = len(ANSWER) // 2
    planned = installed.request((endpoint("httpx"), "truncated-body"))
    with planned, httpx.stream("POST", shop.url, content=BODY) as response:
        pieces = response.iter_bytes()
        assert next(pieces) == ANSWER[:half]
        with pytest.raises(httpx.RemoteProtocolError, match=f"received {half} bytes, expected {len(ANSWER)}"):
            next(pieces)


def test_no_answer_without_a_timeout_is_waited_for_until_the_caller_gives_up(installed, calls, shop):
    async def main():
        async with httpx.AsyncClient(timeout=None) as client:
            with installed.request((endpoint("httpx"), "no-answer")), pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.post(shop.url), 0.1)

    asyncio.run(main())
    assert calls("rpc/")[0]["fault"] == "no-answer"
    assert shop.received == []


def test_what_a_tracer_has_put_around_the_transport_stays_around_our_hook(shop):
    """In a process of its own, in which OpenTelemetry's instrumentation, which uses wrapt, comes first."""
    script = """
import asyncio, sys
import httpx, wrapt

order = []

def tracing(wrapped, _transport, args, kwargs):
    order.append("tracer")
    return wrapped(*args, **kwargs)

wrapt.wrap_function_wrapper(httpx.HTTPTransport, "handle_request", tracing)
wrapt.wrap_function_wrapper(httpx.AsyncHTTPTransport, "handle_async_request", tracing)
import cutset_agent

assert cutset_agent.install()
for function in (httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request):
    assert hasattr(function.__wrapped__, "_cutset_hook")
assert httpx.get(sys.argv[1]).status_code == 201

async def main():
    async with httpx.AsyncClient() as client:
        return (await client.get(sys.argv[1])).status_code

assert asyncio.run(main()) == 201
assert order == ["tracer", "tracer"], order
"""
    environment = {**os.environ, "CUTSET_AGENT": "1", "CUTSET_KEY": "k" * 40}
    subprocess.run([sys.executable, "-c", script, shop.url], check=True, env=environment)
    assert len(shop.received) == 2
