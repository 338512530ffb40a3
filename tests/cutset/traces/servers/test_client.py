"""The requests themselves; `test_servers.py` is about what is asked for."""

import asyncio
import base64
import gzip
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cutset.errors import TargetError, UsageError
from cutset.model.span import Span, SpanKind
from cutset.traces.servers.client import (
    AT_ONCE,
    AnswerLimits,
    TooMuchError,
    _seconds_to_wait,
    at_once,
    fill,
    get,
    open_client,
    unlike,
)
from cutset.traces.servers.tempo import TEMPO

QUICK = AnswerLimits(tries=3, backoff_seconds=0.001, answer_seconds=5, answer_bytes=1000)

# A certificate for localhost that signs itself, and its key: of no use to anybody.
KEY_AND_CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKzDD5Q7YlPdpLOUC
YJrwzUbSztKscbNmo6m0gJGOaxyhRANCAAQt3kIyoTyDvWfu3UL7zI/ZfDCaAIep
x2mf3LyiRAQdWuG35938KlkDBfV7gdFG8UdiDarTtMB5Nr5DXtUHUn10
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBgjCCASigAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABC3eQjKhPIO9Z+7d
QvvMj9l8MJoAh6nHaZ/cvKJEBB1a4bfn3fwqWQMF9XuB0UbxR2INqtO0wHk2vkNe
1QdSfXSjaTBnMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFH0NQ9W5SdpkGd7S
c4Dvsrmobx1sMB8GA1UdIwQYMBaAFH0NQ9W5SdpkGd7Sc4Dvsrmobx1sMBQGA1Ud
EQQNMAuCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNIADBFAiAO944SNNKNpYc5y0Tk
xhmo9PLzCSP5NIhK342VUdJvggIhAN51L0U4mLkYQ4OMcjw8JJtl47ldAxqq1ZXl
lKF6dqQF
-----END CERTIFICATE-----
"""


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    for name in ("TOKEN", "USER", "PASSWORD", "TENANT", "CA"):
        monkeypatch.delenv(f"CUTSET_TRACES_{name}", raising=False)


@asynccontextmanager
async def served(handler):
    """An address at which all requests go to the handler."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(application) as server:
        yield server.make_url("/")


def ask(handler, *, limits=QUICK, path="/api/search", **options):
    async def asked():
        async with served(handler) as url, open_client(TEMPO, url, limits) as client:
            return await get(client, path, **options)

    return asyncio.run(asked())


def answering(*responses):
    """A handler that gives these answers one after the other, and the list of the requests it got."""
    requests, coming = [], iter(responses)

    async def handler(request):
        requests.append(request)
        return next(coming)()

    return handler, requests


def status(number, **options):
    return lambda: web.Response(status=number, **options)


def json_response():
    return web.json_response({"traces": []})


async def nothing_found(_):
    return json_response()


def test_the_parameters_are_sent_as_they_are():
    handler, requests = answering(json_response)
    answer = ask(handler, parameters={"q": '{ resource.service.name = "a+b & ü" }', "limit": 20})
    assert answer.body == b'{"traces": []}'
    assert dict(requests[0].query) == {"q": '{ resource.service.name = "a+b & ü" }', "limit": "20"}
    assert requests[0].headers["Accept"] == "application/json"


def test_a_path_in_the_address_comes_before_that_of_the_api():
    handler, requests = answering(json_response)

    async def asked():
        async with served(handler) as url, open_client(TEMPO, url / "traces/", QUICK) as client:
            await get(client, "/api/search")

    asyncio.run(asked())
    assert requests[0].path == "/traces/api/search"


@pytest.mark.parametrize("busy", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(busy):
    handler, requests = answering(status(busy), status(busy), json_response)
    assert ask(handler).status == 200
    assert len(requests) == 3


def test_a_server_that_stays_busy_is_left_alone_and_the_error_says_how_to_go_on():
    handler, requests = answering(*[status(503)] * 3)
    with pytest.raises(TargetError, match=r"/api/search` answered 503 \(try 3 of 3\)") as failure:
        ask(handler)
    assert len(requests) == 3
    assert "it goes on from there" in failure.value.hint


def test_retry_after_is_honoured(monkeypatch):
    waits = []
    sleep = asyncio.sleep

    async def note(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    handler, _ = answering(status(429, headers={"Retry-After": "7"}), status(429), json_response)
    ask(handler)
    asked_for, own = [wait for wait in waits if wait]  # aiohttp sleeps for 0 seconds here and there
    assert asked_for == 7
    assert 0.001 <= own <= 0.003


def test_retry_after_may_be_a_date_or_nonsense():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < _seconds_to_wait(later) <= 100
    assert _seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    for nonsense in ("", "soon", "-5", "²", "Thu, 99 Foo 99999 99:99:99 GMT"):
        assert _seconds_to_wait(nonsense) == 0


def test_a_server_that_asks_for_hours_is_not_waited_for():
    handler, requests = answering(status(429, headers={"Retry-After": "86400"}))
    with pytest.raises(TargetError, match=r"answered 429 and asks to wait 86400 s \(try 1 of 3\)"):
        ask(handler)
    assert len(requests) == 1


def test_an_answer_that_breaks_off_is_asked_for_again():
    requests = []

    async def handler(request):
        requests.append(request)
        if len(requests) > 1:
            return json_response()
        response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"traces"')
        request.transport.close()
        return response

    assert ask(handler).body == b'{"traces": []}'
    assert len(requests) == 2


def test_a_connection_that_is_reset_is_tried_again():
    requests = []

    async def handler(request):
        requests.append(request)
        if len(requests) <= 2:
            request.transport.abort()
        return json_response()

    assert ask(handler).status == 200


def test_a_server_that_hangs_is_given_up():
    async def handler(_):
        await asyncio.sleep(60)

    with pytest.raises(TargetError, match=r"gave no whole answer within 0\.02 s \(try 2 of 2\)"):
        ask(handler, limits=AnswerLimits(tries=2, backoff_seconds=0.001, answer_seconds=0.02))


def test_a_server_that_is_not_there_is_said_so_at_once():
    async def asked():
        async with served(nothing_found) as url:
            pass
        async with open_client(TEMPO, url, AnswerLimits()) as client:
            await get(client, "/api/search")

    with pytest.raises(TargetError, match=r"Cannot connect to `http://127\.0\.0\.1:") as failure:
        asyncio.run(asked())
    assert "port 3200" in failure.value.hint


def test_no_more_than_a_few_requests_are_under_way_at_once():
    under_way, most = 0, 0

    async def handler(_):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.005)
        under_way -= 1
        return json_response()

    async def asked():
        async with served(handler) as url, open_client(TEMPO, url, QUICK) as client:
            return await at_once(get(client, "/api/search") for _ in range(20))

    assert len(asyncio.run(asked())) == 20
    assert most == AT_ONCE


def test_an_answer_beyond_all_bounds_is_not_read_to_its_end():
    handler, requests = answering(lambda: web.json_response("x" * 1001))
    with pytest.raises(TooMuchError, match="answers with more than 1,000 bytes"):
        ask(handler)
    assert len(requests) == 1


def test_neither_is_one_that_is_small_only_while_it_is_compressed():
    packed = gzip.compress(b"[" + b" " * 10_000_000 + b"]")
    handler, _ = answering(status(200, body=packed, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(TooMuchError, match="more than 20,000 bytes"):
        ask(handler, limits=AnswerLimits(answer_bytes=20_000))


def test_what_is_too_much_for_the_server_is_told_apart():
    handler, _ = answering(status(500, text="too many buckets"))
    with pytest.raises(TooMuchError, match="answered 500: too many buckets"):
        ask(handler)


@pytest.mark.parametrize("refusal", [401, 403])
def test_a_refusal_names_the_variables_to_set(refusal):
    handler, requests = answering(status(refusal))
    with pytest.raises(TargetError, match=f"refuses us: status {refusal}") as failure:
        ask(handler)
    for name in ("CUTSET_TRACES_TOKEN", "CUTSET_TRACES_USER", "CUTSET_TRACES_PASSWORD", "CUTSET_TRACES_TENANT"):
        assert name in failure.value.hint
    assert len(requests) == 1


def test_something_else_at_that_address_is_recognised():
    handler, _ = answering(status(200, text="<!doctype html>", content_type="text/html"))
    with pytest.raises(
        TargetError, match="does not answer as Tempo does: its answer, text/html, is no JSON"
    ) as failure:
        ask(handler)
    assert "port 3200" in failure.value.hint
    handler, _ = answering(status(404, text="<h1>Not found</h1>", content_type="text/html"))
    with pytest.raises(TargetError, match=r"answered 404$"):
        ask(handler)


def test_tolerated_statuses_are_answers():
    handler, _ = answering(status(404, text="trace not found"))
    assert ask(handler, tolerated={404}).status == 404


def test_the_server_is_quoted_but_briefly_and_without_control_characters():
    handler, _ = answering(status(400, text="bad\nquery: \x1b[31m" + "x" * 900))
    with pytest.raises(TargetError) as failure:
        ask(handler)
    assert "answered 400: bad query: [31mxxx" in failure.value.message
    assert len(failure.value.message) < 300


def test_a_token_goes_to_the_server(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_TOKEN", "s3cret\n")
    monkeypatch.setenv("CUTSET_TRACES_TENANT", "team-a")
    handler, requests = answering(json_response)
    ask(handler)
    assert requests[0].headers["Authorization"] == "Bearer s3cret"
    assert requests[0].headers["X-Scope-OrgID"] == "team-a"


def test_a_user_and_password_go_to_the_server(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_USER", "ann")
    monkeypatch.setenv("CUTSET_TRACES_PASSWORD", "pä:ss")
    handler, requests = answering(json_response)
    ask(handler)
    assert base64.b64decode(requests[0].headers["Authorization"].removeprefix("Basic ")).decode() == "ann:pä:ss"


def test_a_token_that_cannot_be_sent_is_refused_without_showing_it(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_TOKEN", "s3cret\r\nX-Evil: 1")
    with pytest.raises(UsageError) as failure:
        ask(nothing_found)
    assert "s3cret" not in failure.value.message


@pytest.mark.parametrize("number", [400, 401, 403, 404, 413, 500, 503])
def test_credentials_are_never_in_messages_even_if_the_server_repeats_them(monkeypatch, number):
    monkeypatch.setenv("CUTSET_TRACES_USER", "ann")
    monkeypatch.setenv("CUTSET_TRACES_PASSWORD", "s3cret")

    async def handler(request):
        return web.Response(status=number, text=f"{request.headers['Authorization']} of ann:s3cret")

    with pytest.raises(TargetError) as failure:
        ask(handler)
    shown = failure.value.message + failure.value.hint + repr(failure.value)
    assert "s3cret" not in shown
    assert base64.b64encode(b"ann:s3cret").decode() not in shown


def test_a_redirect_on_the_same_server_keeps_the_credentials(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_TOKEN", "s3cret")
    handler, requests = answering(status(301, headers={"Location": "/tempo/api/search"}), json_response)
    ask(handler)
    assert [(request.path, request.headers["Authorization"]) for request in requests] == [
        ("/api/search", "Bearer s3cret"),
        ("/tempo/api/search", "Bearer s3cret"),
    ]


def test_a_redirect_to_another_server_gets_no_credentials(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_TOKEN", "s3cret")
    monkeypatch.setenv("CUTSET_TRACES_TENANT", "team-a")
    elsewhere, requests = answering(status(401))

    async def asked():
        async with served(elsewhere) as there:
            location = there.with_user("eve").with_password("pw").with_path("/login").with_query(ticket="t1cket")
            here, _ = answering(status(302, headers={"Location": str(location)}))
            async with served(here) as url, open_client(TEMPO, url, QUICK) as client:
                await get(client, "/api/search")

    with pytest.raises(
        TargetError, match=r"refuses us: status 401 \(no credentials go to where it redirects\)"
    ) as failure:
        asyncio.run(asked())
    assert requests[0].path == "/login"
    assert not {"Authorization", "X-Scope-OrgID"} & set(requests[0].headers)
    assert "t1cket" not in failure.value.message


def test_redirects_in_circles_and_to_nowhere_end():
    circle = [status(302, headers={"Location": "/api/search"})] * 6
    with pytest.raises(TargetError, match="it redirects more than 5 times"):
        ask(answering(*circle)[0])
    for nowhere in ("file:///etc/passwd", "http://["):
        with pytest.raises(TargetError, match="it redirects to what is no web address"):
            ask(answering(status(302, headers={"Location": nowhere}))[0])


def test_certificates_are_verified_and_a_private_authority_can_be_trusted(monkeypatch, tmp_path):
    certificate = tmp_path / "ca.pem"
    certificate.write_text(KEY_AND_CERTIFICATE)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def asked():
        application = web.Application()
        application.router.add_get("/api/search", nothing_found)
        server = TestServer(application, scheme="https", host="localhost")
        await server.start_server(ssl=context)
        try:
            async with open_client(TEMPO, server.make_url("/"), QUICK) as client:
                return await get(client, "/api/search")
        finally:
            await server.close()

    with pytest.raises(TargetError, match="The TLS certificate of `https://localhost:") as failure:
        asyncio.run(asked())
    assert "CUTSET_TRACES_CA" in failure.value.hint
    monkeypatch.setenv("CUTSET_TRACES_CA", str(certificate))
    assert asyncio.run(asked()).status == 200
    monkeypatch.setenv("CUTSET_TRACES_CA", str(tmp_path / "missing.pem"))
    with pytest.raises(UsageError, match=r"CUTSET_TRACES_CA is `.*missing.pem`, from which no certificate can be read"):
        asyncio.run(asked())


def test_a_server_without_tls_is_not_called_untrusted():
    async def asked():
        async with served(nothing_found) as url, open_client(TEMPO, url.with_scheme("https"), QUICK) as client:
            await get(client, "/api/search")

    with pytest.raises(TargetError, match=r"`https://127.0.0.1:[0-9]+` does not speak TLS"):
        asyncio.run(asked())


def test_an_answer_is_full_of_traces_or_of_one_services_spans():
    spans = [Span("1", str(n), "", "cart", "GET", SpanKind.SERVER, n, n + 1) for n in range(60)]
    assert fill(5, 10, [], service="", since_ns=0, until_ns=100) == 0.5
    assert (
        fill(5, 10, spans, service="", since_ns=0, until_ns=100) == 2.0
    )  # an index of 30 rows would have held half of them
    assert fill(5, 10, spans, service="cart", since_ns=0, until_ns=100) == 2.0
    assert (
        fill(5, 10, spans, service="shop", since_ns=0, until_ns=100) == 0.5
    )  # they were not looked up in the index of carts
    assert (
        fill(5, 10, spans, service="", since_ns=0, until_ns=15) == 0.5
    )  # few of them are in the window that was asked for


def test_an_unlikely_answer_is_reported_with_what_to_do():
    async def reported():
        async with served(nothing_found) as url, open_client(TEMPO, url, QUICK) as client:
            return unlike(client, url / "api", "no list")

    error = asyncio.run(reported())
    assert "does not answer as Tempo does: no list" in error.message
    assert "port 3200" in error.hint
