"""Sends recorded flows again, as they were or as templates, and counts what came back as it had been recorded.

A request is replayed successfully if its answer has the same class of status (2xx, 3xx, …) as the recorded one, and
every value that an earlier answer was to give was there.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from random import SystemRandom
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from cutset.model.request import Response
from cutset.workload.send import BODY_LIMIT, open_client
from cutset.workload.templates.template import Template, TemplateStep
from cutset.workload.templates.variables import Variable
from cutset.workload.values.fields import Message, fields, request_of, rewrite
from cutset.workload.values.identifiers import MASKED, fresh_like
from cutset.workload.values.times import moved

# Of the connection, of whatever was between the client and the service, or made anew: the replay has its own.
_LEFT_OUT = frozenset(
    {"host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "upgrade", "expect"}
    | {"accept-encoding", "proxy-connection", "via", "forwarded", "x-real-ip"}
    | {"traceparent", "tracestate", "baggage", "b3", "x-request-id"}
)
_LEFT_OUT_PREFIXES = (":", "x-b3-", "x-envoy-", "x-forwarded-", "x-cutset-", "uberctx-")

_fresh = fresh_like(SystemRandom())


@dataclass(frozen=True, slots=True)
class Sent:
    name: str  # the request class
    response: Response
    headers: tuple[tuple[str, str], ...] = ()  # of the answer
    failure: str = ""  # why it was not replayed successfully


@dataclass(slots=True)
class ReplayTally:
    tried: int = 0
    succeeded: int = 0
    failures: Counter[str] = field(default_factory=Counter)


class _UnfilledError(Exception):
    """A value that the request needs is not there; the text says which."""


@dataclass(slots=True)
class _Run:
    values: Mapping[str, str]
    answers: list[Mapping[str, str]] = field(default_factory=list)  # fields of the answer, by step
    cookies: dict[str, str] = field(default_factory=dict)
    invented: dict[str, str] = field(default_factory=dict)  # by the recorded value: the same stays the same


def no_headers(_: int) -> Mapping[str, str]:
    return {}


async def replay(
    templates: Sequence[Template],
    *,
    base_url: str,
    values: Mapping[str, str],
    parallel: int = 8,
    timeout: float = 10.0,  # noqa: ASYNC109 -- of each request; its expiry is a result
) -> dict[str, ReplayTally]:
    """By request class. The requests of a flow follow each other; so many flows run side by side."""
    tallies: dict[str, ReplayTally] = defaultdict(ReplayTally)
    waiting = iter(templates)

    async def work(client: aiohttp.ClientSession) -> None:
        for template in waiting:
            for sent in await send_flow(client, template, base_url=base_url, values=values, timeout=timeout):
                tally = tallies[sent.name]
                tally.tried += 1
                tally.succeeded += not sent.failure
                if sent.failure:
                    tally.failures[sent.failure] += 1

    async with open_client(parallel) as client, asyncio.TaskGroup() as workers:
        for _ in range(parallel):
            workers.create_task(work(client))
    return dict(sorted(tallies.items()))


async def send_flow(
    client: aiohttp.ClientSession,
    template: Template,
    *,
    base_url: str,
    headers: Callable[[int], Mapping[str, str]] = no_headers,
    values: Mapping[str, str] | None = None,
    timeout: float = 10.0,  # noqa: ASYNC109 -- as above
) -> list[Sent]:
    """One result for each step. `headers` are those that a step, counted from 0, carries besides the recorded ones.

    `values` are what `value` variables are looked up in: the environment. A step that cannot be filled in is not sent,
    and fails; those after it are tried all the same.
    """
    run = _Run(values or {})
    results = []
    for index, step in enumerate(template.steps):
        try:
            message = _filled(template, index, run)
        except _UnfilledError as problem:
            run.answers.append({})
            results.append(Sent(step.name, Response(error="not sent"), failure=str(problem)))
            continue
        sent = await _send(client, step, message, url=base_url.rstrip("/"), extra=headers(index), seconds=timeout)
        answer = Message(sent.headers, sent.response.body)
        run.answers.append(fields(answer))
        _keep_cookies(run.cookies, sent.headers)
        results.append(sent)
    return results


def _filled(template: Template, index: int, run: _Run) -> Message:
    step = template.steps[index]
    recorded = request_of(step.exchange)
    if template.verbatim:
        return recorded
    blanks = {blank.place: blank for blank in step.blanks}
    cookies: dict[str, str] = {}

    def change(place: str, value: str) -> str:
        blank = blanks.get(place)
        new = value if blank is None else _value(template, step, blank, value, run)
        if place.startswith("cookie/"):
            cookies[place.removeprefix("cookie/")] = new
        return new

    message = rewrite(recorded, change)
    # As a browser does: what answers have set counts, also where a recording came without its cookies. A masked one
    # that was set before the recording began is worth nothing.
    kept = {name: value for name, value in cookies.items() if not value.startswith(MASKED)} | run.cookies
    headers = tuple(pair for pair in message.headers if pair[0].lower() != "cookie")
    if kept:
        headers += (("Cookie", "; ".join(f"{name}={value}" for name, value in kept.items())),)
    return replace(message, headers=headers)


def _value(template: Template, step: TemplateStep, blank: Variable, recorded: str, run: _Run) -> str:
    match blank.kind:
        case "fresh":
            if recorded not in run.invented:
                run.invented[recorded] = _fresh(recorded)
            return run.invented[recorded]
        case "time":
            return moved(recorded, time.time() - step.exchange.started_at)
        case "chained":
            return _found(
                run.answers[blank.step],
                blank.source,
                f"needs `{blank.source}` of the answer to `{template.steps[blank.step].name}`, which has none",
            )
        case "cookie":
            name = blank.place.removeprefix("cookie/")
            return _found(run.cookies, name, f"needs the cookie `{name}`, which no answer has set")
        case "value":
            return _found(run.values, blank.source, f"needs the environment variable `{blank.source}`")
        case _:
            raise AssertionError(blank)


def _found(values: Mapping[str, str], name: str, problem: str) -> str:
    if name not in values:
        raise _UnfilledError(problem)
    return values[name]


async def _send(
    client: aiohttp.ClientSession,
    step: TemplateStep,
    message: Message,
    *,
    url: str,
    extra: Mapping[str, str],
    seconds: float,
) -> Sent:
    kept = (pair for pair in message.headers if not _is_left_out(pair[0].lower()))
    headers = CIMultiDict((name, _from_here(name.lower(), value, url)) for name, value in kept)
    headers.update(extra)
    start = time.perf_counter()
    try:
        async with (
            asyncio.timeout(seconds),
            client.request(
                step.exchange.method,
                URL(url + message.path, encoded=True),
                headers=headers,
                data=message.body or None,
                allow_redirects=False,
            ) as response,
        ):
            body = await _read(response.content)
    except TimeoutError:
        error = f"no whole answer within {seconds:g}s"
        return Sent(step.name, Response(seconds=time.perf_counter() - start, error=error), failure=error)
    except (aiohttp.ClientError, ValueError) as problem:  # ValueError: what is to be sent is not HTTP
        error = f"no answer: {type(problem).__name__}"
        sent = not isinstance(problem, aiohttp.ClientConnectorError | ValueError)
        return Sent(step.name, Response(seconds=time.perf_counter() - start, error=error, sent=sent), failure=error)
    elapsed = time.perf_counter() - start
    expected, status = step.exchange.status, response.status
    failure = "" if expected // 100 == status // 100 else f"was answered {status} instead of {expected}"
    answer = Response(status, response.headers.get("Content-Type", ""), body, elapsed)
    return Sent(step.name, answer, tuple(response.headers.items()), failure)


def _from_here(name: str, value: str, url: str) -> str:
    """Where a page came from, which servers compare with where they are, is where it comes from now."""
    if name not in {"origin", "referer"} or "://" not in value:
        return value
    return url if name == "origin" else url + urlsplit(value)._replace(scheme="", netloc="").geturl()


def _is_left_out(name: str) -> bool:
    return name in _LEFT_OUT or name.startswith(_LEFT_OUT_PREFIXES)


async def _read(content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    while len(body) < BODY_LIMIT and (chunk := await content.readany()):
        body += chunk
    return bytes(body[:BODY_LIMIT])


def _keep_cookies(cookies: dict[str, str], headers: Sequence[tuple[str, str]]) -> None:
    for value in (value for name, value in headers if name.lower() == "set-cookie"):
        cookie, *attributes = value.split(";")
        name, _, content = cookie.strip().partition("=")
        if content and not any(map(_is_expired, attributes)):
            cookies[name] = content
        else:
            cookies.pop(name, None)


def _is_expired(attribute: str) -> bool:
    name, _, value = (part.strip() for part in attribute.partition("="))
    try:
        if name.lower() == "max-age":
            return int(value) <= 0
        if name.lower() == "expires":
            return parsedate_to_datetime(value).timestamp() <= time.time()
    except ValueError:
        return False
    return False
