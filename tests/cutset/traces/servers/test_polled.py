"""A stand-in answers as the real ones do; `tests/istio/test_jaeger.py` asks a real Jaeger."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, TracesData
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan

from cutset.errors import TargetError
from cutset.traces.servers import polled as polled_module
from cutset.traces.servers.client import AnswerLimits
from cutset.traces.servers.polled import polled

TRACE = f"{7:032x}"
LONG = 30  # seconds: a limit that no test that passes comes near


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(polled_module, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(polled_module, "LIMITS", AnswerLimits(tries=1, answer_seconds=5))


def json_spans(*numbers, ids=lambda number, digits: f"{number:0{digits}x}"):
    attributes = [{"key": "cutset.service", "value": {"stringValue": "cart"}}]
    spans = [{"traceId": ids(7, 32), "spanId": ids(n, 16), "name": "GET /", "attributes": attributes} for n in numbers]
    return [{"resource": {}, "scopeSpans": [{"spans": spans}]}]


def in_base64(number, digits):
    return base64.b64encode(number.to_bytes(digits // 2, "big")).decode()


def jaeger(*numbers):
    if not numbers:
        return web.Response(status=404, text='{"error":{"httpCode":404,"message":"No traces found"}}')
    return web.Response(text=json.dumps({"result": {"resourceSpans": json_spans(*numbers)}}))


def tempo(*numbers):
    if not numbers:
        return web.Response(status=404, text="trace not found")
    spans = [ProtobufSpan(trace_id=(7).to_bytes(16, "big"), span_id=n.to_bytes(8, "big")) for n in numbers]
    trace = TracesData(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])])
    return web.Response(body=trace.SerializeToString(), content_type="application/protobuf")


def second_tempo(*numbers, status="COMPLETE"):
    trace = {"resourceSpans": json_spans(*numbers, ids=in_base64)}
    return web.json_response({"trace": trace, "status": status, "message": "too large"})


@asynccontextmanager
async def asked(kind, answers):
    """A collector of that kind of server, which answers for each path in turn, the last answer for ever."""
    paths = []

    async def answer(request):
        if request.path.endswith("1"):  # asked for at the beginning, to see what is there
            return jaeger() if kind == "jaeger" else tempo()
        paths.append(request.path)
        version = answers.get(request.path.rpartition("/")[0], [])
        return (version.pop(0) if len(version) > 1 else version[0])() if version else web.Response(status=404)

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    async with TestServer(application) as server, polled(f"{kind}+{server.make_url('/')}") as collector:
        yield collector, paths


def at_least(number):
    return lambda spans: len(spans) >= number


def test_a_trace_is_asked_for_until_it_is_complete_and_each_span_is_told_once():
    async def scenario():
        told = []
        answers = {"/api/v3/traces": [jaeger, lambda: jaeger(1), lambda: jaeger(1, 2)]}
        async with asked("jaeger", answers) as (collector, paths):
            collector.subscribe(told.extend)
            spans, complete = await collector.trace(TRACE, at_least(2), timeout=LONG)

            assert (len(spans), complete) == (2, True)
            assert spans[0].attributes["cutset.service"] == "cart"
            assert [span.span_id for span in told] == [f"{1:016x}", f"{2:016x}"]
            assert paths == [f"/api/v3/traces/{TRACE}"] * 3

    asyncio.run(scenario())


def test_silence_is_an_answer():
    async def scenario():
        async with asked("jaeger", {"/api/v3/traces": [lambda: jaeger(1)]}) as (collector, _):
            spans, complete = await collector.trace(TRACE, at_least(2), timeout=0.05)
            assert (len(spans), complete) == (1, False)
            collector.forget(TRACE)
            assert collector.held(TRACE) == ()

    asyncio.run(scenario())


def test_tempo_gives_protobuf_or_the_second_version_of_its_json():
    async def scenario():
        async with asked("tempo", {"/api/traces": [lambda: tempo(1, 2)]}) as (collector, _):
            assert len((await collector.trace(TRACE, at_least(2), timeout=LONG))[0]) == 2
        answers = {"/api/v2/traces": [lambda: second_tempo(1, 2)]}
        async with asked("tempo", answers) as (collector, _):
            spans, _ = await collector.trace(TRACE, at_least(2), timeout=LONG)
            assert [span.span_id for span in spans] == [f"{1:016x}", f"{2:016x}"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("kind", "answers", "words"),
    [
        ("tempo", {"/api/v2/traces": [lambda: second_tempo(1, status="PARTIAL")]}, "only a part"),
        ("tempo", {"/api/traces": [lambda: web.Response(status=413, text="trace too large")]}, "too large"),
        ("tempo", {"/api/traces": [lambda: web.Response(body=b"\xff", content_type="application/protobuf")]}, "not an"),
        ("jaeger", {"/api/v3/traces": [lambda: web.Response(status=500, text="no storage")]}, "no storage"),
        ("jaeger", {"/api/v3/traces": [lambda: web.Response(status=503)]}, "503"),
        (
            "jaeger",
            {"/api/v3/traces": [lambda: web.Response(text='{"result": {"resourceSpans": 1}}')]},
            "resourceSpans",
        ),
        ("jaeger", {"/api/v3/traces": [lambda: web.Response(text="{")]}, "malformed JSON"),
    ],
)
def test_what_is_no_whole_trace_is_told(kind, answers, words):
    async def scenario():
        async with asked(kind, answers) as (collector, _):
            with pytest.raises(TargetError, match=words):
                await collector.trace(TRACE, at_least(2), timeout=LONG)

    asyncio.run(scenario())


def test_a_server_that_is_no_jaeger_is_told_at_once():
    async def scenario():
        async with TestServer(web.Application()) as server:
            with pytest.raises(TargetError, match="third version"):
                async with polled(f"jaeger+{server.make_url('/')}"):
                    pass

    asyncio.run(scenario())
