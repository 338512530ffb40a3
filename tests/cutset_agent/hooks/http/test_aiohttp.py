"""aiohttp: its own exceptions, its connections, its second attempt."""

import asyncio

import aiohttp
import pytest
from tests.samples.http_clients import ANSWER, BODY, CLIENTS, check_fault, endpoint, with_aiohttp

from cutset_agent.hooks.http import aiohttp as aiohttp_hook
from cutset_agent.hooks.http.answers import STATUS_ANSWERS

EXPECTED = {
    "connection-refused": aiohttp.ClientConnectorError,
    "connection-reset": aiohttp.ClientOSError,
    "connection-lost": aiohttp.ServerDisconnectedError,
    "dns-failure": aiohttp.ClientConnectorDNSError,
    "tls-failure": aiohttp.ClientConnectorCertificateError,
    "connect-timeout": aiohttp.ConnectionTimeoutError,
    "timeout": asyncio.TimeoutError,
    "no-answer": asyncio.TimeoutError,
    "lost-answer": asyncio.TimeoutError,
    "pool-exhausted": aiohttp.ConnectionTimeoutError,
    "truncated-body": aiohttp.ClientPayloadError,
}


def test_every_fault_is_tried():
    assert {*EXPECTED, *STATUS_ANSWERS, "empty-body", "wrong-body", "garbled-body"} == set(aiohttp_hook.FAULTS)


@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_is_the_own_exception_of_aiohttp(installed, calls, shop, fault):
    check_fault(installed, calls, shop, "aiohttp", fault, EXPECTED[fault])


def test_lost_answers_keep_no_connections(installed, shop):
    async def main():
        timeout, connector = aiohttp.ClientTimeout(total=5), aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
            for fault in ["lost-answer"] * 3 + ["truncated-body"] * 3:
                expected = pytest.raises((aiohttp.ClientError, asyncio.TimeoutError))
                with installed.request((endpoint("aiohttp"), fault)), expected:
                    await (await session.post(shop.url, data=BODY)).read()
            assert await (await session.post(shop.url, data=BODY)).read() == ANSWER

    asyncio.run(main())


def test_a_real_failure_behind_a_lost_answer_is_the_one_that_is_seen(installed, shop):
    with installed.request((endpoint("aiohttp"), "lost-answer")), pytest.raises(aiohttp.ClientConnectorError):
        CLIENTS["aiohttp"]("http://127.0.0.1:1/orders/17")


def test_statuses_meet_what_applications_put_above_the_transport(installed, shop):
    async def main():
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            with installed.request((endpoint("aiohttp"), "status-500")), pytest.raises(aiohttp.ClientResponseError):
                await session.post(shop.url)

    asyncio.run(main())


def test_aiohttp_tries_a_reset_connection_once_more(installed, calls, shop):
    with installed.request((endpoint("aiohttp", "GET"), "connection-reset", {"occurrence": 1})):
        assert with_aiohttp(shop.url, "GET", body=None)[:2] == (201, ANSWER)
    assert [span.get("fault") for span in calls("rpc/")] == ["connection-reset", None]
