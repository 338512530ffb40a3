"""Asks trace servers over HTTP: few requests at once, patience with a server that is busy, care with credentials.

What a kind of server has to offer to be read (`Server`) is here too; `cutset.traces.servers.read` reads any of them.

Credentials come from the environment alone and go to the server that was named, never along a redirect to another one.
Servers may repeat what they were sent, so their words are quoted without it.
"""

import asyncio
import base64
import os
import random
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import aiohttp
import orjson
from yarl import URL

from cutset.errors import TargetError, UsageError
from cutset.model.span import Span
from cutset.traces.tally import ReadTally

TOKEN, USER, PASSWORD = "CUTSET_TRACES_TOKEN", "CUTSET_TRACES_USER", "CUTSET_TRACES_PASSWORD"
TENANT, CA = "CUTSET_TRACES_TENANT", "CUTSET_TRACES_CA"

AT_ONCE = 4  # requests: others use the server too
JSON, PROTOBUF = "application/json", "application/protobuf"
MAX_REDIRECTS = 5
MAX_QUOTED = 200  # characters of a server's words in an error message
CONNECT_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 300.0  # who asks us to wait longer than that is closed for now

_BUSY = frozenset({429, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Some storages look up `limit` times this many spans in an index, and so find fewer traces than there are (Cassandra's,
# in Jaeger's and in Zipkin's server alike).
_INDEX_ROWS_PER_TRACE = 3

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    tries: int = 6
    backoff_seconds: float = 0.5  # before the second try, give or take; twice that before the third, and so on
    answer_seconds: float = 120.0
    answer_bytes: int = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server found in a window of time: the traces themselves, or only their ids."""

    spans: list[Span] = field(default_factory=list)
    trace_ids: tuple[str, ...] = ()
    fill: float = 0.0  # the share of what one answer can hold; from 1 on, there may be more than was found


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of trace server. Windows of time are in nanoseconds, and without their end."""

    name: str
    hint: str  # where its API usually is
    tenant_header: str  # "" if it knows no tenants
    finest_ns: int  # windows are not made smaller than that
    services: Callable[["Client", str], Awaitable[Sequence[str]]]  # each is searched for its own; a filter, or ""
    search: Callable[["Client", str, int, int, ReadTally], Awaitable[ServerAnswer]]
    fetch: Callable[["Client", Sequence[str], ReadTally], Awaitable[list[Span]]]  # the traces that have these ids


@dataclass(slots=True)
class Client:
    session: aiohttp.ClientSession
    server: Server
    base: URL
    headers: Mapping[str, str]  # only for `base`: they hold the credentials
    secrets: Collection[str]
    limits: AnswerLimits
    permits: asyncio.Semaphore
    reached: bool = False  # whether the server was ever there: if not, its address may be wrong


@dataclass(frozen=True, slots=True)
class Answer:
    url: URL
    status: int
    media_type: str
    body: bytes
    retry_after: str = ""


class TooMuchError(TargetError):
    """The server, or we, could not bear the whole answer: ask for less at a time."""


class _BusyError(Exception):
    """No answer yet, but there may be one soon."""

    def __init__(self, problem: str, asks_to_wait: float = 0.0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.asks_to_wait = asks_to_wait


@asynccontextmanager
async def open_client(server: Server, base: URL, limits: AnswerLimits) -> AsyncIterator[Client]:
    headers, secrets = _credentials()
    tenant = os.environ.get(TENANT, "").strip()
    if tenant and server.tenant_header:
        headers[server.tenant_header] = tenant
    for header, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"What {TOKEN} or {TENANT} holds cannot be sent as `{header}`: it is not printable ASCII")
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=AT_ONCE, ssl=_trust()),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": "cutset"},
        timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),  # `get` limits the whole exchange
    ) as session:
        yield Client(session, server, base, headers, secrets, limits, asyncio.Semaphore(AT_ONCE))


async def get(
    client: Client,
    path: str,
    parameters: Mapping[str, str | int] | None = None,
    accept: str = JSON,
    tolerated: Collection[int] = (),
) -> Answer:
    """The server's answer, if its status is 200 or one of the tolerated."""
    url = client.base.with_path(client.base.path.rstrip("/") + path).with_query(parameters)
    problem = ""
    async with client.permits:  # also while waiting, so that a busy server does not get others' requests instead
        for attempt in range(1, client.limits.tries + 1):
            try:
                answer = await _whole_answer(client, url, accept)
                return _accepted(client, answer, accept, tolerated)
            except _BusyError as busy:
                problem = f"{busy.problem} (try {attempt} of {client.limits.tries})"
                if attempt == client.limits.tries or busy.asks_to_wait > LONGEST_WAIT_SECONDS:
                    break
                jitter = random.uniform(0.5, 1.5)  # noqa: S311 - no secret
                backoff = client.limits.backoff_seconds * 2 ** (attempt - 1) * jitter
                await asyncio.sleep(max(busy.asks_to_wait, backoff))
    raise TargetError(
        f"`{_shown(client, url)}` {problem}",
        hint="What was read until now is kept: run the same command again later, and it goes on from there",
    )


async def at_once(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Their results in order; when one fails, the others are cancelled. (`get` limits how many requests that makes.)"""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def unlike(client: Client, url: URL, what: str) -> TargetError:
    """The error for an answer that this kind of server does not give."""
    return TargetError(
        f"`{_shown(client, url)}` does not answer as {client.server.name} does: {what}", hint=client.server.hint
    )


async def fetch_nothing(_: Client, __: Sequence[str], ___: ReadTally) -> list[Span]:
    """For servers whose searches find whole traces."""
    return []


async def get_list(
    client: Client, path: str, parameters: Mapping[str, str | int] | None = None, key: str = ""
) -> list[Any]:
    """The list that is the server's answer, or that its answer has under `key`, where null and absent mean none."""
    answer = await get(client, path, parameters)
    try:
        document = orjson.loads(answer.body)
    except ValueError:
        raise unlike(client, answer.url, "its answer is malformed JSON") from None
    found = document
    if key:
        found = (document.get(key) or []) if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise unlike(client, answer.url, f"its answer holds no list `{key}`" if key else "its answer is no list")
    return found


def check_service(client: Client, service: str, known: Collection[str]) -> None:
    if service not in known:
        some = ", ".join(f"`{name}`" for name in sorted(known)[:20]) or "none at all"
        raise UsageError(
            f"{client.server.name} at `{client.base}` knows no service `{service}`",
            hint=f"It knows {some}{', …' if len(known) > 20 else ''}",
        )


def fill(traces: int, page: int, spans: Iterable[Span], *, service: str, since_ns: int, until_ns: int) -> float:
    """The share of a page of `page` traces that an answer took, or of the index rows that it was looked up in.

    The index is that of the service that was asked for; without one, all services' are looked up.
    """
    rows = Counter(
        span.service for span in spans if since_ns <= span.start_ns < until_ns and service in {"", span.service}
    )
    return max(traces / page, max(rows.values(), default=0) / (page * _INDEX_ROWS_PER_TRACE))


async def _whole_answer(client: Client, url: URL, accept: str) -> Answer:
    try:
        async with asyncio.timeout(client.limits.answer_seconds):
            answer = await _exchange(client, url, accept)
    except TimeoutError:
        raise _BusyError(f"gave no whole answer within {client.limits.answer_seconds:g} s") from None
    except aiohttp.ClientError as error:
        raise _BusyError(_meaning(client, url, error)) from None
    client.reached = True
    if answer.status in _BUSY:
        seconds = _seconds_to_wait(answer.retry_after)
        raise _BusyError(f"answered {answer.status}" + f" and asks to wait {seconds:.0f} s" * bool(seconds), seconds)
    return answer


async def _exchange(client: Client, url: URL, accept: str) -> Answer:
    for _ in range(MAX_REDIRECTS + 1):
        own = client.headers if url.origin() == client.base.origin() else {}
        async with client.session.get(url, headers={"Accept": accept, **own}, allow_redirects=False) as response:
            if response.status in _REDIRECTS and "Location" in response.headers:
                url = _redirected(client, url, response.headers["Location"])
                continue
            body = await _read(client, url, response)
            media_type, retry_after = response.content_type, response.headers.get("Retry-After", "")
            return Answer(url, response.status, media_type, body, retry_after)
    raise unlike(client, url, f"it redirects more than {MAX_REDIRECTS} times")


def _redirected(client: Client, url: URL, location: str) -> URL:
    try:
        target = url.join(URL(location))
        if target.scheme in {"http", "https"} and target.host:
            return target.with_user(None)
    except ValueError:
        pass
    raise unlike(client, url, "it redirects to what is no web address")


async def _read(client: Client, url: URL, response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > client.limits.answer_bytes:
            raise TooMuchError(
                f"`{_shown(client, url)}` answers with more than {client.limits.answer_bytes:,} bytes",
                hint="Ask for one service with `--service`, so that fewer traces start at the same time",
            )
    return bytes(body)


def _accepted(client: Client, answer: Answer, accept: str, tolerated: Collection[int]) -> Answer:
    if answer.status in tolerated:
        return answer
    shown, words = _shown(client, answer.url), _quoted(client, answer)
    if answer.status in {401, 403}:
        elsewhere = "" if answer.url.origin() == client.base.origin() else " (no credentials go to where it redirects)"
        raise TargetError(
            f"`{shown}` refuses us: status {answer.status}{elsewhere}",
            hint=f"Set {TOKEN}, or {USER} and {PASSWORD}"
            + f"; {TENANT} names a tenant" * bool(client.server.tenant_header),
        )
    if answer.status in {413, 500}:
        raise TooMuchError(f"`{shown}` answered {answer.status}{words}", hint=f"See the log of {client.server.name}")
    if answer.status != 200:
        raise TargetError(f"`{shown}` answered {answer.status}{words}", hint=client.server.hint)
    if accept == JSON and answer.body[:64].lstrip()[:1] not in {b"{", b"["}:
        raise unlike(client, answer.url, f"its answer, {answer.media_type}, is no JSON object or array")
    return answer


def _meaning(client: Client, url: URL, error: aiohttp.ClientError) -> str:
    """What went wrong, if it may be better at the next try."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        raise TargetError(
            f"The TLS certificate of `{url.origin()}` is not trusted",
            hint=f"If it was issued by a private authority, put the path of that authority's certificate into {CA}",
        ) from None
    if isinstance(error, aiohttp.ClientSSLError):
        raise TargetError(f"`{url.origin()}` does not speak TLS as we do", hint="Is it `http://`?") from None
    if isinstance(error, aiohttp.ClientConnectorError) and not client.reached:
        problem = error.os_error.strerror or "no connection"
        raise TargetError(f"Cannot connect to `{url.origin()}`: {problem}", hint=client.server.hint) from None
    if isinstance(error, aiohttp.ClientPayloadError):
        return "broke off its answer"
    if isinstance(error, aiohttp.ClientConnectionError):
        return "closed the connection"
    return "gave an answer that is not HTTP"


def _seconds_to_wait(retry_after: str) -> float:
    """What Retry-After asks for, as a number of seconds or as a date; 0 if it says nothing that we understand."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        return max(0.0, (parsedate_to_datetime(retry_after).astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return 0.0


def _credentials() -> tuple[dict[str, str], tuple[str, ...]]:
    """The headers that carry them, and what no message may show."""
    token, user = os.environ.get(TOKEN, "").strip(), os.environ.get(USER, "")
    if token:
        return {"Authorization": f"Bearer {token}"}, (token,)
    if user:
        password = os.environ.get(PASSWORD, "")
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        return {"Authorization": f"Basic {encoded}"}, tuple(filter(None, (encoded, password)))
    return {}, ()


def _trust() -> ssl.SSLContext:
    path = os.environ.get(CA)
    try:
        return ssl.create_default_context(cafile=path or None)
    except (OSError, ValueError) as error:
        raise UsageError(f"{CA} is `{path}`, from which no certificate can be read: {error}") from None


def _shown(client: Client, url: URL) -> str:
    """An address for messages. What a redirect put behind its `?` may be secret."""
    return str(url if url.origin() == client.base.origin() else url.with_query(None).with_fragment(None))


def _quoted(client: Client, answer: Answer) -> str:
    if answer.media_type == "text/html":
        return ""
    words = answer.body[: 10 * MAX_QUOTED].decode(errors="replace")
    for secret in client.secrets:
        words = words.replace(secret, "…")
    words = " ".join(words.split())
    printable = "".join(filter(str.isprintable, words[:MAX_QUOTED]))
    return f": {printable}" if printable else ""
