import asyncio
import base64

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, TracesData
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan

from cutset.errors import TargetError
from cutset.traces.servers import tempo as tempo_server
from cutset.traces.servers.client import AnswerLimits
from cutset.traces.servers.read import ServerQuery, read_server
from cutset.traces.tally import ReadTally

NOON = 1_700_000_000 * 10**9
SHOP = KeyValue(key="service.name", value=AnyValue(string_value="shop"))


def protobuf(number, time):
    span = ProtobufSpan(
        trace_id=number.to_bytes(16, "big"), span_id=number.to_bytes(8, "big"), name="GET /", start_time_unix_nano=time
    )
    resource_spans = ResourceSpans(resource=Resource(attributes=[SHOP]), scope_spans=[ScopeSpans(spans=[span])])
    return web.Response(
        body=TracesData(resource_spans=[resource_spans]).SerializeToString(), content_type="application/protobuf"
    )


def json_batches(number, time):
    span = {
        "traceId": base64.b64encode(number.to_bytes(16, "big")).decode(),
        "spanId": base64.b64encode(number.to_bytes(8, "big")).decode(),
        "name": "GET /",
        "kind": "SPAN_KIND_SERVER",
        "startTimeUnixNano": str(time),
        "endTimeUnixNano": str(time + 5),
    }
    attribute = {"key": "service.name", "value": {"stringValue": "shop"}}
    return [{"resource": {"attributes": [attribute]}, "scopeSpans": [{"spans": [span]}]}]


def version_1(number, time):
    return web.json_response({"batches": json_batches(number, time)})


def version_2(number, time):
    return web.json_response({"trace": {"resourceSpans": json_batches(number, time)}, "status": "COMPLETE"})


def not_found(*_):
    return web.Response(status=404, text="trace not found")


def read(times, *, first=protobuf, second=not_found, seconds=100, answer=None, service=""):
    """The spans that are read from a server with a trace at each of these times, its requests and the tally."""
    requests, tally = [], ReadTally()

    async def search(request):
        requests.append(request)
        start, end, limit = (int(request.query[name]) for name in ("start", "end", "limit"))
        found = [number for number, time in enumerate(times, start=1) if start <= time / 10**9 <= end]
        # Tempo does not write the leading zeros of an id.
        return web.json_response(answer or {"traces": [{"traceID": f"{number:x}"} for number in found[:limit]]})

    async def fetch(request, response_of):
        requests.append(request)
        number = int(request.match_info["id"], 16)
        return response_of(number, times[number - 1])

    async def reading():
        application = web.Application()
        application.router.add_get("/api/search", search)

        async def fetch_first(request):
            return await fetch(request, first)

        async def fetch_second(request):
            return await fetch(request, second)

        application.router.add_get("/api/traces/{id}", fetch_first)
        application.router.add_get("/api/v2/traces/{id}", fetch_second)
        async with TestServer(application) as server:
            query = ServerQuery(f"tempo+{server.make_url('/')}", NOON, NOON + seconds * 10**9, service)
            return [
                span async for spans, _ in read_server(query, tally, limits=AnswerLimits(tries=1)) for span in spans
            ]

    return asyncio.run(reading()), requests, tally


@pytest.mark.parametrize(("first", "second"), [(protobuf, not_found), (version_1, not_found), (not_found, version_2)])
def test_traces_are_read_in_each_form_that_tempo_gives_them(first, second):
    (span,), _, tally = read([NOON], first=first, second=second)
    assert (span.trace_id, span.span_id, span.service, span.start_ns) == (f"{1:032x}", f"{1:016x}", "shop", NOON)
    assert not tally.skipped


def test_the_search_is_in_seconds_and_traceql():
    _, (everything, *_), _ = read([])
    assert dict(everything.query) == {
        "q": "{}",
        "start": "1700000000",
        "end": "1700000060",
        "limit": "500",
        "spss": "1",
    }
    _, (one_service, *_), _ = read([], service='sh"op')
    assert one_service.query["q"] == '{ resource.service.name = "sh\\"op" }'


def test_each_trace_is_fetched_once_also_from_windows_that_were_halved():
    times = [NOON + number * 10**7 for number in range(3000)]  # 100 in a second
    spans, requests, tally = read(times, seconds=30)
    fetched = [request.match_info["id"] for request in requests if "id" in request.match_info]
    assert len(fetched) == len(set(fetched)) == len(spans) == 3000
    assert not tally.skipped


def test_a_second_with_more_traces_than_a_page_is_searched_with_a_larger_one(monkeypatch):
    spans, _, tally = read([NOON + 5 * 10**9] * (tempo_server.PAGE + 1), seconds=10)
    assert len(spans) == tempo_server.PAGE + 1
    assert not tally.skipped
    monkeypatch.setattr(tempo_server, "PAGE_OF_A_SECOND", tempo_server.PAGE + 1)
    spans, _, tally = read([NOON + 5 * 10**9] * (tempo_server.PAGE + 9), seconds=10)
    assert len(spans) == tempo_server.PAGE + 1
    assert "window in which the server has more traces than it returns" in tally.skipped


def test_traces_that_are_gone_or_too_large_are_counted_and_the_others_kept():
    def response_of(number, time):
        return {1: not_found(), 2: web.Response(status=500, text="too large")}.get(number) or protobuf(number, time)

    spans, _, tally = read([NOON, NOON, NOON], first=response_of)
    assert [span.trace_id for span in spans] == [f"{3:032x}"]
    assert tally.skipped == {"trace that was found, but is gone": 1, "trace that the server could not give": 1}


def test_ids_that_are_none_are_not_asked_for():
    _, requests, tally = read([], answer={"traces": [{"traceID": "../../admin"}, {"traceID": 7}, 7]}, seconds=1)
    assert len(requests) == 1
    assert tally.skipped == {"trace with a malformed id": 3}


@pytest.mark.parametrize("answer", [["x"], {"traces": 7}])
def test_another_kind_of_server_is_recognised(answer):
    with pytest.raises(TargetError, match="does not answer as Tempo does: its answer holds no list `traces`"):
        read([], answer=answer)
