import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cutset.errors import TargetError, UsageError
from cutset.traces.servers.client import AnswerLimits
from cutset.traces.servers.read import ServerQuery, read_server
from cutset.traces.servers.zipkin import PAGE
from cutset.traces.tally import ReadTally

NOON = 1_700_000_000 * 10**9


def span_of(number, time_ns):
    return {
        "traceId": f"{number + 1:016x}",
        "id": f"{number + 1:016x}",
        "kind": "SERVER",
        "name": "get /",
        "timestamp": time_ns // 1000,
        "duration": 7000,
        "localEndpoint": {"serviceName": "shop"},
    }


def read(spans, services=("shop",), service=""):
    """The spans that are read from a server that holds these, the searches it was asked for and the tally."""
    requests, tally = [], ReadTally()

    async def list_services(_):
        return web.json_response(services)

    async def search(request):
        requests.append(request)
        end, lookback, limit = (int(request.query[name]) for name in ("endTs", "lookback", "limit"))
        found = [span for span in spans if end - lookback <= span["timestamp"] // 1000 <= end]
        return web.json_response([[span] for span in sorted(found, key=lambda span: -span["timestamp"])[:limit]])

    async def reading():
        application = web.Application()
        application.router.add_get("/api/v2/services", list_services)
        application.router.add_get("/api/v2/traces", search)
        async with TestServer(application) as server:
            query = ServerQuery(f"zipkin+{server.make_url('/')}", NOON, NOON + 100 * 10**9, service)
            return [
                span async for spans, _ in read_server(query, tally, limits=AnswerLimits(tries=1)) for span in spans
            ]

    return asyncio.run(reading()), requests, tally


def test_one_search_finds_the_traces_of_all_services():
    (span,), requests, _ = read([span_of(0, NOON)])
    assert (span.trace_id, span.service, span.start_ns) == (f"{1:032x}", "shop", NOON)
    assert dict(requests[0].query) == {"endTs": "1700000060000", "lookback": "60000", "limit": str(PAGE)}


def test_windows_that_are_full_are_halved():
    spans, _, tally = read([span_of(number, NOON + number * 10**7) for number in range(5 * PAGE)])
    assert len({span.trace_id for span in spans}) == 5 * PAGE
    assert not tally.skipped


def test_a_trace_at_the_border_of_two_windows_comes_once():
    spans, _, _ = read([span_of(0, NOON + 60 * 10**9)])
    assert len(spans) == 1


def test_service_names_are_those_of_zipkin_in_lower_case():
    _, requests, _ = read([], service="SHOP")
    assert {request.query["serviceName"] for request in requests} == {"shop"}
    with pytest.raises(UsageError, match="knows no service `cart`"):
        read([], service="cart")


def test_traces_of_which_no_span_can_be_read_fill_an_answer_all_the_same():
    broken = [
        span_of(number, NOON + number * 10**7) | {"traceId": f"not hex {number}", "id": 7} for number in range(PAGE)
    ]
    spans, _, tally = read([*broken, span_of(PAGE, NOON - 10**6 + 1000 * 10**3)])
    assert len(spans) == 1
    assert tally.skipped


def test_another_kind_of_server_is_recognised():
    with pytest.raises(TargetError, match="does not answer as Zipkin does: its answer is no list"):
        read([], services={"data": ["shop"]})
