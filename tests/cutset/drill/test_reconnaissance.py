import asyncio
from collections.abc import Callable, Mapping

from cutset.drill.observe import Observer
from cutset.drill.plan import Flow, FlowStep, make_plan
from cutset.drill.reconnaissance import with_calls
from cutset.drill.settings import Selection
from cutset.model.exchange import Exchange, Operation
from cutset.model.request import Response
from cutset.model.span import Span, SpanKind
from cutset.workload.replay import Sent
from cutset.workload.templates.template import Template


def flow(*endpoints: str) -> Flow:
    calls = tuple(Operation(endpoint, 1, 1.0, 0.01, failed=False) for endpoint in endpoints)
    recorded = Exchange("1", "shop", "", 1.0, 0.1, "GET", "/", (), b"", 200, operations=calls)
    return Flow((FlowStep("GET /", recorded),), Template("1", ()))


def asked(flow: Flow, calls: Callable[[int], list[tuple[str, str]]]) -> Flow:
    """`calls` gives service and endpoint of what the n-th run brings about."""
    observer, runs = Observer(), iter(range(100))

    async def send(_client: object, headers: Callable[[int], Mapping[str, str]], _seconds: float) -> list[Sent]:
        trace, run = headers(0)["traceparent"].split("-")[1], next(runs)
        for number, (service, endpoint) in enumerate(calls(run)):
            attributes = {"cutset.endpoint": endpoint, "cutset.occurrence": str(number + 1), "cutset.verb": "INSERT"}
            span_id = f"{run}-{number}"
            observer.receive([Span(trace, span_id, "", service, "x", SpanKind.CLIENT, 1, 2, attributes=attributes)])
        return [Sent("GET /", Response(200))]

    return asyncio.run(with_calls(flow, send, None, observer, b"a key for tests that nobody guesses"))  # type: ignore[arg-type]


def test_calls_that_the_recording_lacks_are_added() -> None:
    found = asked(flow("cache/redis/get"), lambda _: [("shop", "cache/redis/get"), ("shop", "db/psycopg/execute")])

    plan = make_plan([found], Selection(faults=("lost-answer",)))
    assert {str(each.test.point) for each in plan.tests} == {
        "shop>cache/redis/get",
        "shop>db/psycopg/execute@2",
    }
    assert {each.test.repeatable for each in plan.tests} == {None, False}


def test_calls_that_are_made_only_while_caches_fill_are_left_out() -> None:
    def calls(run: int) -> list[tuple[str, str]]:
        return [("shop", "cache/redis/get"), *([("shop", "cache/redis/set")] if run == 0 else [])]

    plan = make_plan([asked(flow("cache/redis/get", "cache/redis/set"), calls)], Selection())

    assert {each.test.endpoint for each in plan.tests} == {"cache/redis/get"}
    assert "did not call it when asked now" in plan.pruned[0].reason


def test_a_service_without_an_agent_leaves_the_recording_as_it_is() -> None:
    recorded = flow("cache/redis/get")

    assert asked(recorded, lambda _: []) == recorded
