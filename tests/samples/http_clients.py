"""One request, sent with each of the HTTP clients that the agent hooks, and what all their faults have in common."""

import asyncio
import json

import aiohttp
import httpx
import pytest
import requests
import urllib3

OLD_URLLIB3 = urllib3.__version__.startswith("1.")


ANSWER = json.dumps({"price": 12, "currency": "EUR"}).encode()


BODY = b'{"product": "boots"}'


UNREACHABLE = "https://127.0.0.1:1/orders/17"  # for faults that need TLS and nobody who speaks it


def with_httpx(url, method="POST", timeout=5, headers=None, body=BODY):
    with httpx.Client(timeout=timeout, limits=httpx.Limits(max_connections=1)) as client:
        response = client.request(method, url, content=body, headers=headers)
    return response.status_code, response.content, response.headers


def with_httpx_asyncio(url, method="POST", timeout=5, headers=None, body=BODY):
    async def main():
        async with httpx.AsyncClient(timeout=timeout, limits=httpx.Limits(max_connections=1)) as client:
            response = await client.request(method, url, content=body, headers=headers)
            return response.status_code, response.content, response.headers

    return asyncio.run(main())


def with_requests(url, method="POST", timeout=5, headers=None, body=BODY):
    with requests.Session() as session:
        response = session.request(method, url, data=body, headers=headers, timeout=timeout)
        return response.status_code, response.content, response.headers


def with_urllib3(url, method="POST", timeout=5, headers=None, body=BODY):
    with urllib3.PoolManager(maxsize=1, block=True) as pool:
        response = pool.request(method, url, body=body, headers=headers, timeout=timeout, retries=False)
        return response.status, response.data, response.headers


def with_aiohttp(url, method="POST", timeout=5, headers=None, body=BODY):
    async def main():
        limit = aiohttp.ClientTimeout(total=timeout, connect=timeout)
        async with (
            aiohttp.ClientSession(timeout=limit, connector=aiohttp.TCPConnector(limit=1)) as session,
            session.request(method, url, data=body, headers=headers) as response,
        ):
            return response.status, await response.read(), response.headers

    return asyncio.run(main())


CLIENTS = {
    "httpx": with_httpx,
    "httpx-asyncio": with_httpx_asyncio,
    "requests": with_requests,
    "urllib3": with_urllib3,
    "aiohttp": with_aiohttp,
}


REALLY_DONE = {"lost-answer", "truncated-body", "empty-body", "wrong-body"}


def endpoint(client, method="POST"):
    return f"rpc/{client.partition('-')[0]}/{method} /orders/*"


def check_fault(installed, calls, shop, client, fault, expected):  # noqa: PLR0917
    """`expected`: the exception that the caller sees, or the answer; None where the fault makes no sense."""
    send = CLIENTS[client]
    url = UNREACHABLE if fault == "tls-failure" else shop.url
    timeout = 0.1 if fault == "no-answer" else 5
    with installed.request((endpoint(client), fault)):
        if isinstance(expected, type):
            with pytest.raises(expected):
                send(url, timeout=timeout)
        else:
            assert send(url)[:2] == (expected or (201, ANSWER))
    (span,) = calls("rpc/")
    assert (span["endpoint"], span.get("fault")) == (endpoint(client), fault if expected else None)
    assert len(shop.received) == (1 if fault in REALLY_DONE or not expected else 0)
    assert send(shop.url)[:2] == (201, ANSWER)
