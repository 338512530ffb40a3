import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cutset.errors import TargetError, UsageError
from cutset.traces.servers.client import AnswerLimits
from cutset.traces.servers.read import ServerQuery, read_server
from cutset.traces.tally import ReadTally

NOON = 1_700_000_000 * 10**9
SPAN = {
    "traceID": "3b8e",
    "spanID": "1f",
    "operationName": "GET /",
    "references": [],
    "startTime": NOON // 1000,
    "duration": 7000,
    "tags": [{"key": "span.kind", "type": "string", "value": "server"}],
    "logs": [],
    "processID": "p1",
    "warnings": None,
}
TRACE = {"traceID": "3b8e", "spans": [SPAN], "processes": {"p1": {"serviceName": "shop", "tags": []}}, "warnings": None}


def read(services, traces=None, service=""):
    """The spans that are read from a server with these answers, the searches it was asked for and the tally."""
    requests, tally = [], ReadTally()

    async def list_services(_):
        return web.json_response(services)

    async def search(request):
        requests.append(request)
        return web.json_response({"data": traces, "total": 0, "limit": 0, "offset": 0, "errors": None})

    async def reading():
        application = web.Application()
        application.router.add_get("/ui/api/services", list_services)
        application.router.add_get("/ui/api/traces", search)
        async with TestServer(application) as server:
            query = ServerQuery(f"jaeger+{server.make_url('/ui')}", NOON, NOON + 10**9, service)
            return [
                span async for spans, _ in read_server(query, tally, limits=AnswerLimits(tries=1)) for span in spans
            ]

    return asyncio.run(reading()), requests, tally


def test_spans_come_as_from_a_file():
    (span,), _, tally = read({"data": ["shop"], "errors": None}, [TRACE])
    assert (span.trace_id, span.span_id, span.service, span.name) == (f"{'3b8e':>032}", f"{'1f':>016}", "shop", "GET /")
    assert (span.start_ns, span.end_ns) == (NOON, NOON + 7_000_000)
    assert tally.spans == 1


def test_the_window_is_in_microseconds_and_includes_its_end():
    _, (request,), _ = read({"data": ["shop & co"]}, [TRACE])
    assert dict(request.query) == {
        "service": "shop & co",
        "start": "1700000000000000",
        "end": "1700000000999999",
        "limit": "200",
    }


def test_a_tenant_goes_into_jaegers_own_header(monkeypatch):
    monkeypatch.setenv("CUTSET_TRACES_TENANT", "acme")
    _, (request,), _ = read({"data": ["shop"]}, [TRACE])
    assert request.headers["x-tenant"] == "acme"


def test_a_server_without_services_has_no_traces():
    assert read({"data": None, "errors": None})[0] == []


def test_no_traces_may_be_null():
    assert read({"data": ["shop"]}, None)[0] == []


def test_a_trace_that_cannot_be_read_is_counted_and_the_others_are_kept():
    spans, _, tally = read({"data": ["shop"]}, [{"traceID": "1", "spans": [{"spanID": 7}], "processes": {}}, TRACE])
    assert len(spans) == 1
    assert tally.skipped.total() == 1


def test_an_unknown_service_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match="knows no service `cart`") as refusal:
        read({"data": ["shop", "mail"]}, service="cart")
    assert refusal.value.hint == "It knows `mail`, `shop`"


@pytest.mark.parametrize("answer", [["shop"], {"data": 7}, {"data": "shop"}])
def test_another_kind_of_server_is_recognised(answer):
    with pytest.raises(TargetError, match="does not answer as Jaeger does: its answer holds no list `data`"):
        read(answer)
