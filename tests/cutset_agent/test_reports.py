import asyncio

from cutset.model.span import SpanKind
from cutset.traces.collector import collect
from cutset_agent import reports
from cutset_agent.reports import ReportedSpan

IDS = ("ab" * 16, "cd" * 8, "")


def test_the_collector_of_cutset_understands_what_is_sent():
    received = []

    async def main():
        async with collect() as collector:
            collector.subscribe(received.extend)
            reports.start(collector.http_url)
            attributes = {"cutset.endpoint": "cache/redis/get", "cutset.fault": "käse"}
            reports.report(
                ReportedSpan("orders", "cache/redis/get", "client", IDS, 10**18, 10**18 + 5, True, attributes)
            )
            reports.report(ReportedSpan("orders", "GET /", "server", ("ab" * 16, "ef" * 8, "cd" * 8), 1, 2, False, {}))
            assert await asyncio.to_thread(reports.flush)
            reports.start("")

    asyncio.run(main())
    call, entry = received
    assert (call.trace_id, call.span_id, call.parent_id, call.service) == (*IDS, "orders")
    assert (call.kind, call.error, call.end_ns - call.start_ns) == (SpanKind.CLIENT, True, 5)
    assert call.attributes["cutset.fault"] == "käse"
    assert call.attributes["error"] == "true"
    assert (entry.parent_id, entry.kind, entry.error) == ("cd" * 8, SpanKind.SERVER, False)


def test_without_a_collector_nothing_is_kept():
    reports.start("")
    reports.report(ReportedSpan("orders", "GET /", "server", IDS, 1, 2, False, {}))
    assert reports.flush()
    assert reports.dropped() == 0


def test_errors_are_counted_by_kind_and_the_kinds_are_bounded():
    before = reports.errors.copy()
    reports.errors.clear()
    for number in range(reports.MAX_ERROR_KINDS * 2):
        reports.count_error("somewhere", ValueError(number % 150))
    assert len(reports.errors) == reports.MAX_ERROR_KINDS + 1
    assert sum(reports.errors.values()) == reports.MAX_ERROR_KINDS * 2
    reports.errors.clear()
    reports.errors.update(before)
