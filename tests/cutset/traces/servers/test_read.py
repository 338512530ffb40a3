"""What a server that behaves as Jaeger's does is asked for; how it is asked: `test_client.py`."""

import asyncio
import math
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.errors import TargetError
from cutset.traces.servers import jaeger as jaeger_server
from cutset.traces.servers.client import AnswerLimits
from cutset.traces.servers.read import FIRST_WINDOW_NS, LATE_NS, ServerQuery, read_server
from cutset.traces.tally import ReadTally

MS, SECOND, HOUR = 10**6, 10**9, 3600 * 10**9
NOON = 1_700_000_000 * SECOND
QUICK = AnswerLimits(tries=2, backoff_seconds=0.001)


@dataclass
class FakeJaeger:
    """Traces of one span for each of their services, at the same time."""

    traces: list[tuple[int, tuple[str, ...]]]  # the time of each, and the services in it
    windows: list[tuple[str, int, int]] = field(default_factory=list)  # that were asked for
    largest_answer: float = math.inf  # in traces; above that it fails
    fails_after: float = math.inf  # searches

    async def services(self, _):
        return web.json_response({"data": sorted({name for _, names in self.traces for name in names}) or None})

    async def search(self, request):
        service, start, end, limit = (request.query[name] for name in ("service", "start", "end", "limit"))
        self.windows.append((service, int(start) * 1000, int(end) * 1000))
        found = [
            (number, time, names)
            for number, (time, names) in enumerate(self.traces)
            if service in names and int(start) <= time // 1000 <= int(end)
        ]
        newest = sorted(found, key=lambda trace: trace[1])[-int(limit) :]
        if len(newest) > self.largest_answer:
            return web.json_response({"data": None, "errors": [{"msg": "too large"}]}, status=500)
        if len(self.windows) > self.fails_after:
            return web.Response(status=503)
        return web.json_response({"data": [trace_of(*trace) for trace in newest]})

    @asynccontextmanager
    async def serve(self):
        application = web.Application()
        application.router.add_get("/api/services", self.services)
        application.router.add_get("/api/traces", self.search)
        async with TestServer(application) as server:
            yield f"jaeger+{server.make_url('/')}"


def trace_of(number, time, services):
    return {
        "traceID": trace_id(number),
        "spans": [
            {
                "traceID": trace_id(number),
                "spanID": f"{index:016x}",
                "operationName": "get",
                "references": [],
                "startTime": time // 1000,
                "duration": 5,
                "tags": [],
                "processID": f"p{index}",
            }
            for index, _ in enumerate(services, start=1)
        ],
        "processes": {f"p{index}": {"serviceName": name} for index, name in enumerate(services, start=1)},
    }


def trace_id(number):
    return f"{number + 1:032x}"


async def read(server, query, tally, done_until_ns=0, batches=math.inf):
    """The batches that come, up to a number of them."""
    came = []
    async with (
        server.serve() as url,
        aclosing(read_server(replace(query, url=url), tally, done_until_ns, QUICK)) as coming,
    ):
        async for batch in coming:
            came.append(batch)
            if len(came) >= batches:
                break
    return came


def read_all(server, since_ns=NOON, until_ns=NOON + HOUR, *, tally=None, done_until_ns=0, **query):
    return asyncio.run(read(server, ServerQuery("", since_ns, until_ns, **query), tally or ReadTally(), done_until_ns))


def traces_in(batches):
    return sorted({span.trace_id for spans, _ in batches for span in spans})


def every(number, service="shop", spacing_ns=SECOND):
    return [(NOON + index * spacing_ns, (service,)) for index in range(number)]


def test_all_traces_of_the_range_are_read_and_no_others():
    server = FakeJaeger(every(1000, spacing_ns=5 * SECOND))
    tally = ReadTally()
    batches = read_all(server, NOON + 50 * SECOND, NOON + 3000 * SECOND, tally=tally)
    assert traces_in(batches) == [trace_id(number) for number in range(10, 600)]
    assert tally.spans == sum(len(spans) for spans, _ in batches) == 590
    assert not tally.skipped


def test_a_trace_of_several_services_comes_once():
    server = FakeJaeger([(NOON + index * SECOND, ("shop", "cart", "mail")) for index in range(100)])
    batches = read_all(server)
    spans = [span for spans, _ in batches for span in spans]
    assert len(spans) == len({(span.trace_id, span.span_id) for span in spans}) == 300


def test_a_window_with_more_traces_than_an_answer_holds_is_halved():
    burst = jaeger_server.PAGE * 5
    server = FakeJaeger(every(burst, spacing_ns=10 * MS))
    tally = ReadTally()
    assert len(traces_in(read_all(server, tally=tally))) == burst
    assert not tally.skipped


def test_what_no_window_can_tell_apart_is_counted_as_lost():
    server = FakeJaeger([(NOON, ("shop",))] * (jaeger_server.PAGE + 50))
    tally = ReadTally()
    assert len(traces_in(read_all(server, tally=tally))) == jaeger_server.PAGE
    assert tally.skipped == {"window in which the server has more traces than it returns": 1}
    assert tally.first_at.popitem()[1].startswith("Jaeger, shop, 2023-11-14 22:13:20")


def test_windows_get_wider_where_little_happens():
    server = FakeJaeger([(NOON, ("shop",)), (NOON + 100 * HOUR, ("shop",))])
    assert len(traces_in(read_all(server, NOON, NOON + 101 * HOUR))) == 2
    widths = [end - start for _, start, end in server.windows]
    assert widths[0] < FIRST_WINDOW_NS
    assert len(widths) < 25
    assert widths[:-1] == sorted(widths[:-1])


def test_a_busy_service_does_not_make_windows_narrow_for_the_many_others():
    others = tuple(f"quiet-{number}" for number in range(10))
    server = FakeJaeger([*every(3000, spacing_ns=SECOND), *[(NOON + index * HOUR // 4, others) for index in range(4)]])
    assert len(traces_in(read_all(server))) == 3004
    asked = [service for service, _, _ in server.windows]
    assert asked.count("quiet-1") < asked.count("shop") / 2


def test_an_answer_that_is_too_large_for_the_server_is_asked_for_in_halves():
    server = FakeJaeger(every(100), largest_answer=30)
    assert len(traces_in(read_all(server))) == 100


def test_one_that_stays_too_large_is_an_error():
    server = FakeJaeger([(NOON, tuple(f"service-{number}" for number in range(30)))], largest_answer=0)
    with pytest.raises(TargetError, match=r"answered 500: .*too large"):
        read_all(server)
    assert len(server.windows) < 150  # not one for each millisecond


def test_only_the_traces_of_one_service_are_read():
    server = FakeJaeger([*every(10, "shop"), *every(5, "cart")])
    assert len(traces_in(read_all(server, service="cart"))) == 5
    assert {service for service, _, _ in server.windows} == {"cart"}


def test_reading_stops_at_the_limit_and_the_cursor_does_not_pass_what_was_left_out():
    server = FakeJaeger(every(100, spacing_ns=2 * SECOND))
    batches = read_all(server, limit=42)
    assert len(traces_in(batches)) == 42
    rest = read_all(server, done_until_ns=batches[-1][1])
    assert len(traces_in(batches + rest)) == 100


def test_an_empty_range_and_an_empty_server_give_nothing():
    assert read_all(FakeJaeger([])) == []
    assert read_all(FakeJaeger(every(5)), NOON, NOON) == []
    assert traces_in(read_all(FakeJaeger(every(5)), NOON - HOUR, NOON)) == []


def test_the_cursor_goes_up_to_the_end_of_the_range_and_everything_before_it_was_read():
    server = FakeJaeger(every(500, spacing_ns=7 * SECOND))
    batches = read_all(server)
    cursors = [cursor for _, cursor in batches]
    assert cursors == sorted(cursors)
    assert cursors[-1] == NOON + HOUR
    for count, cursor in enumerate(cursors, start=1):
        read_by_then = set(traces_in(batches[:count]))
        assert all(trace_id(number) in read_by_then for number, (time, _) in enumerate(server.traces) if time < cursor)


def test_reading_that_went_on_from_a_cursor_reads_again_what_may_have_come_late():
    server = FakeJaeger(every(5))
    batches = read_all(server, done_until_ns=NOON + HOUR // 2)
    assert min(start for _, start, _ in server.windows) == NOON + HOUR // 2 - LATE_NS
    assert min(cursor for _, cursor in batches) >= NOON + HOUR // 2
    server.windows.clear()
    read_all(server, done_until_ns=NOON + 1)
    assert min(start for _, start, _ in server.windows) == NOON


@settings(max_examples=15, deadline=None)
@given(stopped_after=st.integers(1, 40), service=st.sampled_from(["", "shop"]))
def test_reading_that_was_killed_anywhere_misses_nothing_when_it_goes_on(stopped_after, service):
    server = FakeJaeger([*every(600, spacing_ns=3 * SECOND), *every(50, "cart", 60 * SECOND)])
    query = ServerQuery("", NOON, NOON + HOUR, service)
    first = asyncio.run(read(server, query, ReadTally(), batches=stopped_after))
    rest = asyncio.run(read(server, query, ReadTally(), first[-1][1]))
    assert len(traces_in(first + rest)) == (600 if service else 650)


def test_what_was_read_before_the_server_failed_has_been_handed_out():
    server = FakeJaeger(every(600, spacing_ns=5 * SECOND), fails_after=4)

    came = []

    async def reading():
        async with server.serve() as url:
            async for batch in read_server(ServerQuery(url, NOON, NOON + HOUR), ReadTally(), limits=QUICK):
                came.append(batch)  # noqa: PERF401 - the error comes in between

    with pytest.raises(TargetError, match=r"answered 503 \(try 2 of 2\)"):
        asyncio.run(reading())
    server.fails_after = math.inf
    assert 0 < len(traces_in(came)) < 600
    assert len(traces_in(came + read_all(server, done_until_ns=came[-1][1]))) == 600
