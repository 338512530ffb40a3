"""The traces of experiments from a team's own Jaeger or Tempo, as if their spans had been sent here.

A trace is asked for again and again while somebody waits for it. What the server has only a part of is no trace, and
whoever waits is told so. Calls in other traces are not seen, since nobody asks for those.
"""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson

from cutset.errors import InputError, TargetError
from cutset.model.span import Span
from cutset.traces.collector import Collector
from cutset.traces.otlp import spans_from_json, spans_from_protobuf
from cutset.traces.servers.address import server_of
from cutset.traces.servers.client import JSON, PROTOBUF, AnswerLimits, Client, get, open_client, unlike
from cutset.traces.servers.tempo import TEMPO

LIMITS = AnswerLimits(tries=4, answer_seconds=30.0)
FIRST_SECONDS = 0.1  # until a trace is asked for again …
LATER = 1.5  # … times as long each time …
LONGEST_SECONDS = 1.0  # … up to this
_NO_TRACE = 404
_ID_FIELDS = ("traceId", "spanId", "parentSpanId")


@asynccontextmanager
async def polled(source: str) -> AsyncIterator[Collector]:
    """Of `jaeger+http://…` or `tempo+https://…`. Raises TargetError if that does not answer as such a server does."""
    server, base = server_of(source)
    async with open_client(server, base, LIMITS) as client:
        collector = _Polled(client)
        await collector.ask("0" * 31 + "1")
        yield collector


class _Polled(Collector):
    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._fetch = _from_tempo if client.server is TEMPO else _from_jaeger

    async def trace(
        self,
        trace_id: str,
        complete: Callable[[Sequence[Span]], bool],
        *,
        timeout: float,  # noqa: ASYNC109 -- as it is there
    ) -> tuple[tuple[Span, ...], bool]:
        asking = asyncio.ensure_future(self._ask_on(trace_id))
        waiting = asyncio.ensure_future(super().trace(trace_id, complete, timeout=timeout))
        either: list[asyncio.Future[Any]] = [asking, waiting]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                asking.result()  # raises: it goes on for ever otherwise
            spans, whole = await waiting
        finally:
            for each in either:
                each.cancel()
                with suppress(asyncio.CancelledError, TargetError):
                    await each
        if not whole:  # the last time that it was asked for may be a while ago
            await self.ask(trace_id)
            spans = self.held(trace_id)
        return spans, complete(spans)

    async def ask(self, trace_id: str) -> None:
        """Once, and keeps what is new."""
        try:
            spans = [span for span in await self._fetch(self._client, trace_id) if span.trace_id == trace_id]
        except InputError as error:
            raise TargetError(f"{self._client.server.name} at `{self._client.base}`: {error.message}") from error
        known = {span.span_id for span in self.held(trace_id)}
        if new := [span for span in spans if span.span_id not in known]:
            self.accept(new)

    async def _ask_on(self, trace_id: str) -> None:
        seconds = FIRST_SECONDS
        while True:
            await self.ask(trace_id)
            await asyncio.sleep(seconds)
            seconds = min(LATER * seconds, LONGEST_SECONDS)


async def _from_jaeger(client: Client, trace_id: str) -> list[Span]:
    """By its third API, as it was sent: not with times that Jaeger would think more likely."""
    answer = await get(client, f"/api/v3/traces/{trace_id}", {"raw_traces": "true"}, tolerated={_NO_TRACE})
    if answer.status == _NO_TRACE and b"httpCode" not in answer.body:
        raise unlike(client, answer.url, "it has no third version of its API")
    document = _object(client, answer.body)
    return [] if answer.status == _NO_TRACE else _spans(document.get("result"))


async def _from_tempo(client: Client, trace_id: str) -> list[Span]:
    answer = await get(client, f"/api/traces/{trace_id}", accept=PROTOBUF, tolerated={_NO_TRACE})
    if answer.status != _NO_TRACE and answer.media_type == PROTOBUF:
        return spans_from_protobuf(answer.body)
    if answer.status == _NO_TRACE:  # so say servers, too, that have only the second version of their API
        answer = await get(client, f"/api/v2/traces/{trace_id}", accept=JSON, tolerated={_NO_TRACE})
        if answer.status == _NO_TRACE:
            return []
    document = _object(client, answer.body)
    if document.get("status") == "PARTIAL":
        raise TargetError(
            f"Tempo has only a part of trace {trace_id}: {document.get('message', '')}",
            hint="Raise its `max_bytes_per_trace`",
        )
    return _spans(document.get("trace") or document)


def _object(client: Client, body: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except ValueError:
        raise unlike(client, client.base, "its answer is malformed JSON") from None
    if not isinstance(document, dict):
        raise unlike(client, client.base, "its answer is no JSON object")
    return document


def _spans(trace: Any) -> list[Span]:
    """Of OTLP/JSON, whose ids some write in base64."""
    if isinstance(trace, dict) and "batches" in trace:
        trace = {"resourceSpans": trace["batches"]}
    _in_hex(trace)
    return spans_from_json(orjson.dumps(trace))


def _in_hex(value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _in_hex(each)
    elif isinstance(value, dict):
        for field, content in value.items():
            if field in _ID_FIELDS and isinstance(content, str) and content.endswith("="):
                with suppress(binascii.Error):
                    value[field] = base64.b64decode(content, validate=True).hex()
            elif isinstance(content, list | dict):
                _in_hex(content)
