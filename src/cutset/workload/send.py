"""Sends one request under test, with the steps that must come before it, in a session of its own.

Hundreds of experiments share one client and so one pool of connections. They do not share cookies: requests are built
without the client's cookie jar, and each call of `send` keeps its own.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from cutset.errors import TargetError
from cutset.model.request import Request, Response, Step

BODY_LIMIT = 2 * 1024 * 1024  # bytes kept of an answer; no page that a person reads is longer
SESSION = "{session}"  # in a step: stands for a value that no other experiment has
IDLE_SECONDS = 4.0  # many servers close idle connections after 5 s; a request sent at that instant would be lost
USER_AGENT = "cutset"

_MEANINGS = (
    (httpx.ConnectError, "could not connect"),
    (httpx.RemoteProtocolError, "connection closed without a whole answer"),
    (httpx.NetworkError, "connection lost"),
)


def open_client(connections: int) -> httpx.AsyncClient:
    """A client for `send`: as many connections as experiments in flight, no proxies, no cookies."""
    return httpx.AsyncClient(
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        limits=httpx.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE_SECONDS
        ),
        trust_env=False,
    )


async def send(
    client: httpx.AsyncClient,
    request: Request,
    *,
    base_url: str,
    plan: Mapping[str, str],
    setup_headers: Callable[[], Mapping[str, str]],
    timeout: float,  # noqa: ASYNC109 - a limit for each step, and its expiry is a result, not an exception
    session: str = "",
) -> Response:
    """`plan` holds the headers of the request under test; `setup_headers` is asked anew for each step before it."""
    session = session or secrets.token_hex(8)
    cookies = httpx.Cookies()
    for number, step in enumerate(request.setup, start=1):
        response = await _exchange(client, _build(step, base_url, session, setup_headers(), cookies), timeout, cookies)
        if response.error or response.status >= 400:
            where = f"Set-up step {number} of {len(request.setup)} of `{request.name}`, `{step.method} {step.path}`"
            what = f"got no answer: {response.error}" if response.error else f"was answered {response.status}"
            raise TargetError(
                f"{where}, {what}; the experiment is void",
                hint="Set-up steps carry no faults: see whether the target is healthy and the step is right",
            )
    return await _exchange(client, _build(request.step, base_url, session, plan, cookies), timeout, cookies)


def _build(
    step: Step, base_url: str, session: str, extra_headers: Mapping[str, str], cookies: httpx.Cookies
) -> httpx.Request:
    headers = httpx.Headers({"accept": "*/*", "user-agent": USER_AGENT})
    headers.update({name: _fill(value, session) for name, value in step.headers.items()})
    headers.update(extra_headers)
    own_cookies = headers.pop("cookie", "")
    built = httpx.Request(
        step.method,
        base_url.rstrip("/") + _fill(step.path, session),
        headers=headers,
        data={name: _fill(value, session) for name, value in step.form.items()} if step.form is not None else None,
        json=_fill_json(step.json, session),
        content=_fill(step.body, session) if step.body is not None else None,
        extensions={"timeout": {}},  # httpx would limit each read apart; the whole exchange is limited instead
    )
    if cookies.jar:
        cookies.set_cookie_header(built)
    if own_cookies:
        built.headers["cookie"] = "; ".join(filter(None, (own_cookies, built.headers.get("cookie"))))
    return built


async def _exchange(
    client: httpx.AsyncClient, request: httpx.Request, seconds: float, cookies: httpx.Cookies
) -> Response:
    start = time.perf_counter()
    try:
        async with asyncio.timeout(seconds):
            response = await client.send(request, stream=True, follow_redirects=False)
            body = await _read(response)
    except TimeoutError:
        return Response(seconds=time.perf_counter() - start, error=f"no whole answer within {seconds:g}s")
    except httpx.RequestError as error:
        return Response(seconds=time.perf_counter() - start, error=_meaning(error))
    elapsed = time.perf_counter() - start
    if "set-cookie" in response.headers:
        cookies.extract_cookies(response)
    return Response(response.status_code, response.headers.get("content-type", ""), body, elapsed)


async def _read(response: httpx.Response) -> bytes:
    try:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) >= BODY_LIMIT:
                break
        return bytes(body[:BODY_LIMIT])
    finally:
        await response.aclose()


def _meaning(error: httpx.RequestError) -> str:
    kind = next((meaning for errors, meaning in _MEANINGS if isinstance(error, errors)), type(error).__name__)
    return f"{kind} ({error})" if str(error) else kind


def _fill(text: str, session: str) -> str:
    return text.replace(SESSION, session)


def _fill_json(value: object, session: str) -> object:
    match value:
        case str():
            return _fill(value, session)
        case Mapping():
            return {_fill(str(key), session): _fill_json(child, session) for key, child in value.items()}
        case list() | tuple():
            return [_fill_json(child, session) for child in value]
        case _:
            return value
