import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

from tests.samples.agent_traces import agent_call, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.errors import TargetError
from cutset.experiment.trial import Bench
from cutset.impact.observe import RequestObserver, observing
from cutset.lineage.path import Level
from cutset.model.effect import Effect
from cutset.model.fault import Cut, Fault
from cutset.model.impact import ApiCall, Group, ImpactWindow, Mark, ObservedRequest, RequestsObserved, Tally
from cutset.model.point import Point
from cutset.model.span import Span
from cutset.model.target import Target
from cutset.traces.collector import Collector

PATIENCE_SECONDS = 20
HOME, CHARGE, CART, STORE = map(Point.parse, ("frontend/GET /", "payment/Charge", "cart/Get", "cart>cache/redis/get"))
CUT: Cut = frozenset({Fault(CHARGE)})
DURING = ImpactWindow.DURING


def mark(number: int = 1, group: Group = Group.CONTROL) -> Mark:
    return Mark(f"{number:032x}", f"{number:016x}", group, f"user {number}", float(number))


def of(request: Mark, spans: Sequence[Span]) -> list[Span]:
    """The same trace, as that of this request; ids of spans differ, too."""
    prefix = request.span_id[-4:]

    def moved(span_id: str) -> str:
        return request.span_id if span_id == ROOT else f"{prefix}{span_id[4:]}"

    return [
        replace(each, trace_id=request.trace_id, span_id=moved(each.span_id), parent_id=moved(each.parent_id))
        for each in spans
    ]


def unmarked(number: int, *calls: Made, **entry: int) -> list[Span]:
    """Of a request that nobody marked: no sidecar knows of a plan."""
    return [replace(span, attributes=_without_plan(span)) for span in of(mark(number), trace(*calls, **entry))]


def _without_plan(span: Span) -> dict[str, object]:
    told = {name: value for name, value in span.attributes.items() if name != "cutset.api"}
    return told | ({"http.url": "http://x/"} if told.get("cutset.service") == "frontend" else {})


def bench(collector: Collector, **changes: float) -> Bench:
    made = Bench(
        Target("http://127.0.0.1:1"), b"", collector, None, Level.API, trace_timeout=10.0, export_interval=0.02
    )
    return replace(made, **changes)


def observed(observer: RequestObserver, window: ImpactWindow = DURING) -> list[ObservedRequest]:
    return [each for event in observer.news(window, 0.0) for each in event.requests]


def others(observer: RequestObserver) -> list[Tally]:
    """All that is certain now."""
    events = [*observer.news(DURING, 0.0), *observer.news(DURING, 0.0)]
    return [each for event in events for each in event.others]


def within_patience(test: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await test

    asyncio.run(limited())


async def seen(request: Mark, spans: Sequence[Span], cut: Cut = CUT, **changes: float) -> ObservedRequest:
    collector = Collector()
    async with observing(bench(collector, **changes), cut) as observer:
        observer.expect(request, DURING)
        collector.accept(spans)
        await observer.settle()
        (found,) = observed(observer)
        assert collector.held(request.trace_id) == ()
        return found


def test_a_request_is_all_its_apis_with_what_became_of_each_and_who_called_whom() -> None:
    async def test() -> None:
        calls = Made("cart/Get", [Made("payment/Charge", status=14, flags="FI")], failed_attempts=1), Made("cart/Get")
        request = await seen(mark(1, Group.FAULT), of(mark(), trace(*calls, entry_status=500)))

        assert (request.group, request.user, request.at, request.entry) == (Group.FAULT, "user 1", 1.0, HOME)
        facts = {each.api: (each.failed, each.calls, each.attempts, each.faulted) for each in request.calls}
        assert facts == {HOME: (True, 1, 1, 0), CART: (False, 2, 3, 1), CHARGE: (True, 1, 1, 1)}
        assert request.callers == ((CART, CHARGE), (HOME, CART))

    within_patience(test())


def test_a_call_takes_from_its_first_attempt_to_the_end_of_its_last() -> None:
    async def test() -> None:
        spans = [
            replace(each, start_ns=each.start_ns * 10**9, end_ns=each.end_ns * 10**9)
            for each in of(mark(), trace(Made("cart/Get", failed_attempts=2)))
        ]
        request = await seen(mark(), spans)

        assert {each.api: each.seconds for each in request.calls} == {HOME: 1.0, CART: 3.0}

    within_patience(test())


def test_calls_of_data_stores_are_there_if_an_agent_tells_of_them() -> None:
    async def test() -> None:
        spans = trace(Made("cart/Get"))
        get = agent_call("a" * 16, serving("cart", spans).span_id, "cache/redis/get", error=True, fault="refused")
        request = await seen(mark(), of(mark(), [*spans, get]), frozenset({Fault(STORE)}))

        assert ApiCall(STORE, failed=True, seconds=1e-9, faulted=1) in request.calls
        assert (CART, STORE) in request.callers

    within_patience(test())


def test_spans_that_come_one_by_one_are_waited_for() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector, export_interval=0.2), CUT) as observer:
            observer.expect(mark(), DURING)
            for span in reversed(of(mark(), trace(Made("cart/Get"), Made("payment/Charge")))):
                collector.accept([span])
                await asyncio.sleep(0.01)
            await observer.settle()

            (request,) = observed(observer)
            assert {each.api for each in request.calls} == {HOME, CART, CHARGE}

    within_patience(test())


def test_a_delayed_call_that_nobody_waits_for_is_a_part_of_the_request() -> None:
    async def test() -> None:
        collector = Collector()
        cut = frozenset({Fault(CHARGE, Effect.parse("delay(300ms)"))})
        spans = of(mark(), trace(Made("payment/Charge", flags="DI")))
        entry = [each for each in spans if each.parent_id == mark().span_id]
        async with observing(bench(collector), cut) as observer:
            observer.expect(mark(), DURING)
            collector.accept(entry)
            asyncio.get_running_loop().call_later(0.25, collector.accept, [each for each in spans if each not in entry])
            await observer.settle()

            (request,) = observed(observer)
            assert sum(call.faulted for call in request.calls) == 1

    within_patience(test())


def test_a_request_whose_trace_never_comes_is_one_of_which_nothing_is_known() -> None:
    async def test() -> None:
        inner_only = of(mark(), trace(Made("cart/Get")))[2:]
        for spans in ([], inner_only):
            request = await seen(mark(), spans, trace_timeout=0.1)
            assert (request.trace_id, request.entry, request.calls) == (mark().trace_id, None, ())

    within_patience(test())


def test_a_request_that_went_on_before_its_mark_was_there_tells_of_no_group() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(1, Group.FAULT), DURING)
            collector.accept(unmarked(1, Made("cart/Get")))
            await observer.settle()

            assert observed(observer) == []
            assert observer.late_marks == 1

    within_patience(test())


def test_what_was_under_way_while_spans_were_lost_was_not_seen() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(1), DURING)
            collector.accept(of(mark(1), trace()))
            collector.losses += 1
            await observer.settle()
            observer.expect(mark(2), DURING)
            collector.accept(of(mark(2), trace()))
            await observer.settle()

            assert [len(each.calls) for each in observed(observer)] == [0, 1]

    within_patience(test())


def test_a_memory_that_is_full_loses_spans_too() -> None:
    async def test() -> None:
        collector = Collector(max_spans=3)
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(), DURING)
            collector.accept(of(mark(), trace(Made("cart/Get"))))
            await observer.settle()

            (request,) = observed(observer)
            assert request.calls == ()

    within_patience(test())


def test_requests_belong_to_the_window_in_which_they_were_marked() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(1), ImpactWindow.BEFORE)
            observer.expect(mark(2), DURING)
            collector.accept([*of(mark(1), trace()), *of(mark(2), trace()), *unmarked(3)])
            await observer.settle()

            before, during = observer.news(DURING, 7.0)
            assert [each.trace_id for each in before.requests] == [mark(1).trace_id]
            assert before == RequestsObserved(window=ImpactWindow.BEFORE, at=7.0, requests=before.requests)
            assert [each.trace_id for each in during.requests] == [mark(2).trace_id]
            assert [each.api for each in during.others] == [HOME]
            assert observer.news(DURING, 8.0) == []

    within_patience(test())


def test_others_are_added_up_by_api_and_their_traces_forgotten_at_once() -> None:
    async def test() -> None:
        collector = Collector(max_spans=100)
        async with observing(bench(collector), CUT) as observer:
            for number in range(500):
                collector.accept(unmarked(number, Made("cart/Get", status=14 if number % 5 == 0 else 0)))
                assert collector.held(mark(number).trace_id) == ()

            assert [(each.api, each.requests, each.failed) for each in sorted_sums(others(observer))] == [
                (CART, 500, 100),
                (HOME, 500, 0),
            ]
            assert collector.stats.dropped == 0

    within_patience(test())


def sorted_sums(tallies: Sequence[Tally]) -> list[Tally]:
    apis = sorted({each.api for each in tallies})
    return [
        Tally(
            api,
            sum(each.requests for each in tallies if each.api == api),
            sum(each.failed for each in tallies if each.api == api),
        )
        for api in apis
    ]


def test_slow_answers_of_others_are_counted_and_failures_are_not_slow() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT, slow_seconds=1.0) as observer:
            for number, seconds, status in ((1, 0.5, 200), (2, 1.5, 200), (3, 1.5, 503)):
                (entry, *_) = unmarked(number, entry_status=status)
                collector.accept([replace(entry, start_ns=0, end_ns=int(seconds * 10**9))])

            told = others(observer)
            assert [(each.requests, each.failed, each.slow, each.seconds) for each in told] == [
                (2, 0, 1, 2.0),
                (1, 1, 0, 1.5),
            ]

    within_patience(test())


def test_a_call_of_others_that_is_tried_again_is_one_request_however_its_spans_arrive() -> None:
    async def test() -> None:
        for status, failed in ((0, 0), (14, 1)):
            collector = Collector()
            async with observing(bench(collector), CUT) as observer:
                tried = [
                    each
                    for each in unmarked(1, Made("cart/Get", status=status, failed_attempts=2))
                    if each.attributes.get("cutset.service") == "cart"
                ]
                told = []
                for span in tried:
                    collector.accept([span])
                    told += [each for event in observer.news(DURING, 0.0) for each in event.others]
                told += others(observer)

                assert [(each.requests, each.failed) for each in told] == [(1, failed)]

    within_patience(test())


def test_late_spans_of_a_marked_request_and_experiments_of_others_are_nobodys_requests() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(1), DURING)
            collector.accept(of(mark(1), trace()))
            await observer.settle()
            late = unmarked(1, Made("cart/Get", status=14))
            collector.accept(late)
            collector.accept(of(mark(2), trace(Made("payment/Charge", status=14, flags="FI"))))

            assert others(observer) == []
            assert collector.held(mark(1).trace_id) == collector.held(mark(2).trace_id) == ()

    within_patience(test())


def test_requests_that_share_a_trace_are_told_apart_by_their_parents() -> None:
    async def test() -> None:
        collector = Collector()
        first, second = mark(1), replace(mark(2), trace_id=mark(1).trace_id)
        async with observing(bench(collector), CUT) as observer:
            observer.expect(first, DURING)
            observer.expect(second, DURING)
            spans = [*of(first, trace(Made("cart/Get"))), *of(second, trace(Made("payment/Charge"), entry_status=500))]
            collector.accept([replace(span, trace_id=first.trace_id) for span in spans])
            await observer.settle()

            found = {each.user: {call.api: call.failed for call in each.calls} for each in observed(observer)}
            assert found == {"user 1": {HOME: False, CART: False}, "user 2": {HOME: True, CHARGE: False}}
            assert collector.held(first.trace_id) == ()

    within_patience(test())


def test_two_requests_of_one_span_are_observed_once() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(1), DURING)
            observer.expect(mark(1), DURING)
            collector.accept(of(mark(1), trace()))
            await observer.settle()

            assert len(observed(observer)) == 1

    within_patience(test())


def test_thousands_may_be_under_way() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector, export_interval=0.5), CUT) as observer:
            marks = [mark(number) for number in range(1, 3001)]
            for each in marks:
                observer.expect(each, DURING)
            assert observer.waiting == 3000
            for each in marks:
                collector.accept(of(each, trace()))
            await observer.settle()

            assert [len(each.calls) for each in observed(observer)] == [1] * 3000
            assert observer.waiting == 0

    within_patience(test())


class _Server(Collector):
    """Of a team's own, which is asked for traces."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = self.most = 0

    async def trace(self, *asked: Any, **how: Any) -> tuple[tuple[Span, ...], bool]:
        self.asking += 1
        self.most = max(self.most, self.asking)
        await asyncio.sleep(0.005)
        self.asking -= 1
        return await super().trace(*asked, **how)


def test_a_server_is_asked_for_few_traces_at_a_time() -> None:
    async def test() -> None:
        server = _Server()
        async with observing(bench(server), CUT, lookups=3) as observer:
            for number in range(1, 31):
                observer.expect(mark(number), DURING)
                server.accept(of(mark(number), trace()))
            await observer.settle()

            assert [len(each.calls) for each in observed(observer)] == [1] * 30
            assert server.most == 3

    within_patience(test())


def test_a_server_that_does_not_answer_any_more_is_told_of() -> None:
    class Gone(Collector):
        async def trace(self, *_: Any, **__: Any) -> tuple[tuple[Span, ...], bool]:
            raise TargetError("Jaeger does not answer")

    async def test() -> None:
        async with observing(bench(Gone()), CUT) as observer:
            observer.expect(mark(), DURING)
            await observer.settle()

            assert observer.problem == "Jaeger does not answer"
            assert [each.calls for each in observed(observer)] == [()]

    within_patience(test())


def test_nothing_is_watched_once_it_is_over() -> None:
    async def test() -> None:
        collector = Collector()
        async with observing(bench(collector), CUT) as observer:
            observer.expect(mark(), DURING)
        collector.accept(unmarked(2))

        assert observer.waiting == 0
        assert others(observer) == []
        assert observer.apis == set()

    within_patience(test())
