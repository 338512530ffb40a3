"""Sends one request under test, with the steps that must come before it, in a session of its own.

Hundreds of experiments share one client and so one pool of connections. They do not share cookies: the client keeps
none, and each call of `send` has its own jar.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.message import Message
from functools import partial
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from types import SimpleNamespace
from typing import cast
from urllib import request as urllib_request
from urllib.parse import quote, urlencode

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from cutset.errors import CutsetError, TargetError
from cutset.model.request import Errand, FunctionStep, Request, Response, Step, WorkloadStep
from cutset.workload.filling import SESSION, fill, fill_json
from cutset.workload.secrets import path_alone, without_secrets
from cutset.workload.taking import taken

BODY_LIMIT = 2 * 1024 * 1024  # bytes kept of an answer; no page that a person reads is longer
HEADER_LIMIT = 64 * 1024  # bytes of one header of an answer; Envoy sends no more than 60 KiB of them together
IDLE_SECONDS = 4.0  # many servers close idle connections after 5 s; a request sent at that instant would be lost
USER_AGENT = "cutset"
URL_CHARACTERS = "%:/?#[]@!$&'()*+,;="  # RFC 3986 §2.2, and %: what the step has quoted stays as it is

_MEANINGS = (
    (aiohttp.ClientConnectorError, "could not connect"),
    (aiohttp.ServerDisconnectedError, "connection closed without a whole answer"),
    (aiohttp.ClientPayloadError, "no whole answer"),
    (aiohttp.ClientConnectionError, "connection lost"),
    (aiohttp.ClientResponseError, "malformed answer"),
)


def open_client(connections: int) -> aiohttp.ClientSession:
    """A client for `send`, to be opened in a running event loop.

    As many connections as experiments in flight; no proxies, no cookies, no headers but those of the step.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("Accept-Encoding", "Content-Type"),
        timeout=aiohttp.ClientTimeout(),  # none of its own: `send` limits the whole exchange
        trace_configs=[_repeat_only_on_kept_connections()],
        max_line_size=HEADER_LIMIT,
        max_field_size=HEADER_LIMIT,
    )


def _repeat_only_on_kept_connections() -> aiohttp.TraceConfig:
    """aiohttp sends a request again, unless it is a POST or PATCH, when its connection breaks before the answer.

    That is right for a kept connection, which the server may have closed before the request arrived. On a new one the
    server has dropped this very request: that is the outcome, and a second request would make it another experiment.
    """

    async def note_new(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.on_new_connection = True

    async def refuse_after_new(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        if hasattr(context, "on_new_connection"):
            raise aiohttp.ServerDisconnectedError

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_start.append(refuse_after_new)
    tracing.on_connection_create_end.append(note_new)
    tracing.on_connection_reuseconn.append(refuse_after_new)
    return tracing


@dataclass(frozen=True, slots=True)
class _Session:
    client: aiohttp.ClientSession
    base_url: str
    seconds: float  # for each exchange
    values: dict[str, str]  # that `{name}` stands for
    cookies: CookieJar = field(default_factory=CookieJar)

    @property
    def kept(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.cookies}


async def send(
    client: aiohttp.ClientSession,
    request: Request,
    *,
    base_url: str,
    plan: Callable[[], Mapping[str, str]],
    setup_headers: Callable[[], Mapping[str, str]],
    timeout: float,  # noqa: ASYNC109 - a limit for each step, and its expiry is a result, not an exception
    session: str = "",
) -> Response:
    """`plan` gives the headers of the request under test when it is sent, `setup_headers` those of each step before.

    What the request carries is not in what is returned, whatever the server repeats of it.
    """
    own = _Session(client, base_url.rstrip("/"), timeout, {SESSION: session or secrets.token_hex(8)})
    for number, step in enumerate(request.setup, start=1):
        response = await _sent(own, step, setup_headers(), setup_headers, under_test=False)
        if problem := _problem(own, step, response):
            label = f"{step.method} {path_alone(step.path)}" if isinstance(step, Step) else step.name
            hidden = without_secrets(Response(error=problem), request, base_url, _secrets(own))
            raise TargetError(
                f"Set-up step {number} of {len(request.setup)} of `{request.name}`, `{label}`, {hidden.error}; "
                "the experiment is void",
                hint="Set-up steps carry no faults: see whether the target is healthy and the step is right",
            )
    response = await _sent(own, request.step, plan(), setup_headers, under_test=True)
    return without_secrets(response, request, base_url, _secrets(own))


def _secrets(session: _Session) -> list[str]:
    """What answers gave; the session's own name is another each time, and no secret."""
    return [*session.kept.values(), *(value for name, value in session.values.items() if name != SESSION)]


def _problem(session: _Session, step: Step | WorkloadStep, response: Response) -> str:
    """Why there is no going on after a step; else what it gives is kept."""
    if response.error:
        return f"got no answer: {response.error}"
    if response.status >= 400:
        return f"was answered {response.status}"
    for name, place in step.take.items():
        value = taken(place, response, session.kept)
        if value is None:
            return f"was answered {response.status} without `{place}`, which `{{{name}}}` stands for"
        session.values[name] = value
    return ""


async def _sent(
    session: _Session,
    step: Step | FunctionStep | WorkloadStep,
    extra_headers: Mapping[str, str],
    setup_headers: Callable[[], Mapping[str, str]],
    *,
    under_test: bool,
) -> Response:
    if isinstance(step, Step):
        return await _exchange(session, step, extra_headers)
    if isinstance(step, FunctionStep):
        return await _called(step.run(extra_headers), session.seconds + step.patience)
    sending = partial(_exchange, session, extra_headers=extra_headers)
    errand = Errand(
        session.base_url, extra_headers, session.values, session.seconds, sending, setup_headers, under_test=under_test
    )
    return await _called(step.run(errand), session.seconds + step.patience)


async def _called(answer: Awaitable[Response], seconds: float) -> Response:
    """Of code that may send any number of requests."""
    start = time.perf_counter()
    try:
        async with asyncio.timeout(seconds) as limit:
            response = await answer
    except CutsetError:
        raise
    except Exception as error:  # noqa: BLE001 -- whatever a user's code raises is what the user sees
        what = f"no answer within {seconds:g}s" if limit.expired() else f"{type(error).__name__}: {error}"
        response = Response(error=what.removesuffix(": "))
    return replace(response, seconds=response.seconds or time.perf_counter() - start)


async def _exchange(session: _Session, step: Step, extra_headers: Mapping[str, str]) -> Response:
    url = session.base_url + quote(fill(step.path, session.values), safe=URL_CHARACTERS)
    content_type, content = _content(step, session.values)
    headers = _headers(step, session, url, content_type, extra_headers)
    start = time.perf_counter()
    try:
        async with (
            asyncio.timeout(session.seconds),
            session.client.request(
                step.method, URL(url, encoded=True), headers=headers, data=content, allow_redirects=False
            ) as response,
        ):
            body = await _read(response.content)
    except TimeoutError:
        problem = f"no whole answer within {session.seconds:g}s"
        return Response(seconds=time.perf_counter() - start, error=problem, exchanges=1)
    except (aiohttp.ClientError, ValueError) as error:  # ValueError: what is to be sent is not HTTP
        sent = not isinstance(error, aiohttp.ClientConnectorError | ValueError)
        return Response(seconds=time.perf_counter() - start, error=_meaning(error), sent=sent, exchanges=1)
    elapsed = time.perf_counter() - start
    _keep_cookies(session.cookies, url, response.headers.getall("Set-Cookie", ()))
    told = tuple(response.headers.items())
    return Response(response.status, response.headers.get("Content-Type", ""), body, elapsed, headers=told, exchanges=1)


def _content(step: Step, values: Mapping[str, str]) -> tuple[str, bytes | None]:
    """The body and the type that it has unless the step says otherwise."""
    if step.body is not None:
        return "", fill(step.body, values).encode()
    if step.form is not None:
        form = {name: fill(value, values) for name, value in step.form.items()}
        return "application/x-www-form-urlencoded", urlencode(form).encode()
    if step.json is not None:
        filled = fill_json(step.json, values)
        text = json.dumps(filled, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return "application/json", text.encode()
    return "", None


def _headers(
    step: Step, session: _Session, url: str, content_type: str, extra_headers: Mapping[str, str]
) -> CIMultiDict[str]:
    headers = CIMultiDict({"Accept": "*/*", "User-Agent": USER_AGENT})
    if content_type:
        headers["Content-Type"] = content_type
    headers.update({name: fill(value, session.values) for name, value in step.headers.items()})
    headers.update(extra_headers)
    if kept := _kept_cookies(session.cookies, url):
        headers["Cookie"] = "; ".join(filter(None, (headers.get("Cookie"), kept)))
    return headers


async def _read(content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    while len(body) < BODY_LIMIT and (chunk := await content.readany()):
        body += chunk
    return bytes(body[:BODY_LIMIT])


def _kept_cookies(jar: CookieJar, url: str) -> str:
    if not len(jar):
        return ""
    request = urllib_request.Request(url)  # noqa: S310 - is not opened: it is how `http.cookiejar` is told of the URL
    jar.add_cookie_header(request)
    return request.get_header("Cookie", "")


def _keep_cookies(jar: CookieJar, url: str, set_cookies: Sequence[str]) -> None:
    if not set_cookies:
        return
    message = Message()
    for set_cookie in set_cookies:
        message["Set-Cookie"] = set_cookie
    response = cast("HTTPResponse", SimpleNamespace(info=lambda: message))
    jar.extract_cookies(response, urllib_request.Request(url))  # noqa: S310 - as above


def _meaning(error: Exception) -> str:
    kind = next((meaning for errors, meaning in _MEANINGS if isinstance(error, errors)), type(error).__name__)
    detail = " ".join(_detail(error).split())  # some of aiohttp's messages have several lines
    return f"{kind} ({detail})" if detail else kind


def _detail(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error)
    if isinstance(error.__cause__, HttpProcessingError):
        return error.__cause__.message
    return str(error)
