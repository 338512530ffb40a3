import asyncio

from cutset.drill.observe import Observer
from cutset.model.drill import Phase, Sample
from cutset.model.span import Span, SpanKind


def span(span_id: str, kind: SpanKind = SpanKind.CLIENT, trace_id: str = "t", **attributes: str) -> Span:
    named = {f"cutset.{name}": value for name, value in attributes.items()}
    return Span(trace_id, span_id, "", "shop", "x", kind, 2_000_000_000, 2_500_000_000, True, named)


def test_only_expected_traces_are_kept_and_what_comes_twice_counts_once() -> None:
    observer = Observer()
    observer.expect("t")
    call = span("1", endpoint="cache/redis/get", occurrence="1")
    observer.receive([call, span("2", trace_id="other", endpoint="cache/redis/get")])
    observer.receive([call])

    assert observer.count == 1
    assert not observer.has_ended("t")
    observer.receive([span("3", SpanKind.SERVER)])
    assert observer.has_ended("t")
    completed = observer.complete(Sample(Phase.FAULT, 0.0, 0.1, ok=True, trace_id="t"), 0)
    assert [operation.endpoint for operation in completed.operations] == ["cache/redis/get"]


def test_it_settles_once_all_that_is_waited_for_has_come() -> None:
    observer = Observer()
    observer.expect("t")

    async def settled() -> bool:
        waiting = asyncio.ensure_future(observer.settle(lambda: observer.has_ended("t")))
        await asyncio.sleep(0)
        before = waiting.done()
        observer.receive([span("1", SpanKind.SERVER)])
        await waiting
        return before

    assert asyncio.run(settled()) is False
    observer.forget_all()
    assert observer.spans("t") == []
