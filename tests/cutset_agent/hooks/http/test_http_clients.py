"""httpx, requests, urllib3 and aiohttp against a real HTTP server: the same faults, each library's own exceptions."""

import asyncio
import importlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cutset_agent import recording
from cutset_agent.hooks.http.answers import STATUS_ANSWERS

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")

OLD_URLLIB3 = urllib3.__version__.startswith("1.")
ANSWER = json.dumps({"price": 12, "currency": "EUR"}).encode()
BODY = b'{"product": "boots"}'
UNREACHABLE = "https://127.0.0.1:1/orders/17"  # for faults that need TLS and nobody who speaks it


@dataclass
class Shop:
    url: str = ""
    received: list = field(default_factory=list)  # method, path, headers, body


@pytest.fixture(scope="module")
def server():
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.server.shop.received.append((self.command, self.path, dict(self.headers), body))
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def shop(server):
    server.shop = Shop(f"http://127.0.0.1:{server.server_port}/orders/17")
    return server.shop


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

HTTPX = {
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
# What each library's caller sees; None where the fault makes no sense.
EXPECTED = {
    "httpx": HTTPX,
    "httpx-asyncio": HTTPX,
    "requests": {
        "connection-refused": requests.exceptions.ConnectionError,
        "connection-reset": requests.exceptions.ConnectionError,
        "connection-lost": requests.exceptions.ConnectionError,
        "dns-failure": requests.exceptions.ConnectionError,
        "tls-failure": requests.exceptions.SSLError,
        "connect-timeout": requests.exceptions.ConnectTimeout,
        "timeout": requests.exceptions.ReadTimeout,
        "no-answer": requests.exceptions.ReadTimeout,
        "lost-answer": requests.exceptions.ReadTimeout,
        "pool-exhausted": None,
        # urllib3 1 does not compare what it reads with Content-Length.
        "truncated-body": (201, ANSWER[: len(ANSWER) // 2])
        if OLD_URLLIB3
        else requests.exceptions.ChunkedEncodingError,
    },
    "urllib3": {
        "connection-refused": urllib3.exceptions.NewConnectionError,
        "connection-reset": urllib3.exceptions.ProtocolError,
        "connection-lost": urllib3.exceptions.ProtocolError,
        "dns-failure": urllib3.exceptions.NewConnectionError,
        "tls-failure": urllib3.exceptions.SSLError,
        "connect-timeout": urllib3.exceptions.ConnectTimeoutError,
        "timeout": urllib3.exceptions.ReadTimeoutError,
        "no-answer": urllib3.exceptions.ReadTimeoutError,
        "lost-answer": urllib3.exceptions.ReadTimeoutError,
        "pool-exhausted": urllib3.exceptions.EmptyPoolError,
        "truncated-body": urllib3.exceptions.ProtocolError,
    },
    "aiohttp": {
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
    },
}
REALLY_DONE = {"lost-answer", "truncated-body", "empty-body", "wrong-body"}


def endpoint(client, method="POST"):
    return f"rpc/{client.partition('-')[0]}/{method} /orders/*"


@pytest.mark.parametrize("library", ["httpx", "urllib3", "aiohttp"])
def test_every_fault_is_tried(library):
    faults = importlib.import_module(f"cutset_agent.hooks.http.{library}").FAULTS
    assert {*EXPECTED[library], *STATUS_ANSWERS, "empty-body", "wrong-body"} == set(faults)


@pytest.mark.parametrize(
    ("client", "fault"), [(client, fault) for client, table in EXPECTED.items() for fault in table]
)
def test_a_fault_is_the_librarys_own_exception(installed, calls, shop, client, fault):
    expected, send = EXPECTED[client][fault], CLIENTS[client]
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


@pytest.fixture
def failing():
    """The URL of a server that really does what a fault stands for."""

    def answer(connection, fault):
        asked = b""
        while BODY not in asked:
            asked += connection.recv(65536)
        if fault == "truncated-body":
            head = f"HTTP/1.1 201 Created\r\nContent-Length: {len(ANSWER)}\r\n\r\n"
            connection.sendall(head.encode() + ANSWER[: len(ANSWER) // 2])
        if fault == "connection-reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if fault != "no-answer":
            connection.close()

    def serve(fault):
        def accept_one():
            kept.append(listener.accept()[0])
            answer(kept[-1], fault)

        kept.append(listener := socket.create_server(("127.0.0.1", 0)))
        if fault == "connection-refused":
            listener.close()
            return "http://127.0.0.1:1/orders/17"
        threading.Thread(target=accept_one, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/orders/17"

    kept = []
    yield serve
    for each in kept:
        each.close()


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


def test_the_agent_is_off_by_default():
    program = (
        "import cutset_agent, aiohttp, grpc, httpx, sys, urllib3\n"
        "assert not cutset_agent.install()\n"
        "assert 'cutset_agent.hooking' not in sys.modules\n"
        "assert not hasattr(httpx.HTTPTransport.handle_request, '_cutset_hook')\n"
        "assert not hasattr(urllib3.HTTPConnectionPool._make_request, '_cutset_hook')\n"
        "assert not hasattr(aiohttp.ClientSession._request, '_cutset_hook')\n"
    )
    environment = {**os.environ, "CUTSET_AGENT": "", "CUTSET_KEY": "a key"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=60)


def test_urllib3_retries_what_it_is_told_to(installed, calls, shop):
    retries = urllib3.Retry(total=3, status_forcelist=[503], backoff_factor=0, allowed_methods=None)
    with urllib3.PoolManager(retries=retries) as pool:
        with installed.request((endpoint("urllib3"), "status-503", {"attempts": 2})):
            assert pool.request("POST", shop.url, body=BODY).data == ANSWER
        reset = installed.request((endpoint("urllib3"), "connection-reset"))
        with reset, pytest.raises(urllib3.exceptions.MaxRetryError):
            pool.request("POST", shop.url, body=BODY)
    assert [span.get("fault") for span in calls("rpc/")] == [
        "status-503", "status-503", None, *["connection-reset"] * 4,
    ]  # fmt: skip


def test_an_exhausted_pool_is_whole_afterwards(installed, shop):
    with urllib3.PoolManager(maxsize=1, block=True, retries=False) as pool:
        with installed.request((endpoint("urllib3"), "pool-exhausted")):
            for _ in range(3):
                with pytest.raises(urllib3.exceptions.EmptyPoolError):
                    pool.request("POST", shop.url, body=BODY)
        assert pool.request("POST", shop.url, body=BODY, pool_timeout=5).data == ANSWER


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
        timeout, connector = aiohttp.ClientTimeout(total=5), aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
            for fault in ["lost-answer"] * 3 + ["truncated-body"] * 3:
                expected = pytest.raises((aiohttp.ClientError, asyncio.TimeoutError))
                with installed.request((endpoint("aiohttp"), fault)), expected:
                    await (await session.post(shop.url, data=BODY)).read()
            assert await (await session.post(shop.url, data=BODY)).read() == ANSWER

    asyncio.run(main())


def test_a_real_failure_behind_a_lost_answer_is_the_one_that_is_seen(installed, shop):
    with installed.request((endpoint("httpx"), "lost-answer"), (endpoint("aiohttp"), "lost-answer")):
        for client, exception in (("httpx", httpx.ConnectError), ("aiohttp", aiohttp.ClientConnectorError)):
            with pytest.raises(exception):
                CLIENTS[client]("http://127.0.0.1:1/orders/17")


def test_statuses_meet_what_applications_put_above_the_transport(installed, shop):
    def raise_for_status(response):
        response.raise_for_status()

    planned = installed.request((endpoint("httpx"), "status-500"))
    hooked = httpx.Client(event_hooks={"response": [raise_for_status]})
    with hooked as client, planned, pytest.raises(httpx.HTTPStatusError):
        client.post(shop.url)
    with installed.request((endpoint("requests"), "status-500")), pytest.raises(requests.HTTPError):
        requests.post(shop.url, timeout=5).raise_for_status()

    async def main():
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            with installed.request((endpoint("aiohttp"), "status-500")), pytest.raises(aiohttp.ClientResponseError):
                await session.post(shop.url)

    asyncio.run(main())


def test_aiohttp_tries_a_reset_connection_once_more(installed, calls, shop):
    with installed.request((endpoint("aiohttp", "GET"), "connection-reset", {"occurrence": 1})):
        assert with_aiohttp(shop.url, "GET", body=None)[:2] == (201, ANSWER)
    assert [span.get("fault") for span in calls("rpc/")] == ["connection-reset", None]


def test_a_body_that_is_streamed_can_be_cut_too(installed, shop):
    half = len(ANSWER) // 2
    planned = installed.request((endpoint("httpx"), "truncated-body"))
    with planned, httpx.stream("POST", shop.url, content=BODY) as response:
        pieces = response.iter_bytes()
        assert next(pieces) == ANSWER[:half]
        with pytest.raises(httpx.RemoteProtocolError, match=f"received {half} bytes, expected {len(ANSWER)}"):
            next(pieces)


@pytest.mark.skipif(OLD_URLLIB3, reason="urllib3 1 does not compare what it reads with Content-Length")
def test_a_body_that_requests_streams_can_be_cut_too(installed, shop):
    planned = installed.request((endpoint("requests"), "truncated-body"))
    with planned:
        response = requests.post(shop.url, data=BODY, stream=True, timeout=5)
    with response, pytest.raises(requests.exceptions.ChunkedEncodingError):
        list(response.iter_content(1000))


def test_no_answer_without_a_timeout_is_waited_for_until_the_caller_gives_up(installed, calls, shop):
    async def main():
        async with httpx.AsyncClient(timeout=None) as client:
            with installed.request((endpoint("httpx"), "no-answer")), pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.post(shop.url), 0.1)

    asyncio.run(main())
    assert calls("rpc/")[0]["fault"] == "no-answer"
    assert shop.received == []
