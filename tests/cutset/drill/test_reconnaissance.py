import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

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


def asked(flow: Flow, calls: Callable[[int], list[tuple[str, ...]]]) -> Flow:
    """`calls` gives service, endpoint and perhaps peer of what the n-th run brings about."""
    observer, runs = Observer(), iter(range(100))

    async def send(_client: object, headers: Callable[[int], Mapping[str, str]], _seconds: float) -> list[Sent]:
        trace, run = headers(0)["traceparent"].split("-")[1], next(runs)
        for number, (service, endpoint, *peer) in enumerate(calls(run)):
            attributes = {"cutset.endpoint": endpoint, "cutset.occurrence": str(number + 1), "cutset.verb": "INSERT"}
            attributes |= {"cutset.peer": peer[0], "cutset.peer_occurrence": "1"} if peer else {}
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


def recorded_at(*peers: str) -> Flow:
    at_peers = [
        Operation("cache/redis/get", number, float(number), 0.01, failed=False, peer=peer, peer_occurrence=1)
        for number, peer in enumerate(peers, start=1)
    ]
    (step,) = flow().steps
    return Flow((replace(step, exchange=replace(step.exchange, operations=tuple(at_peers))),), Template("1", ()))


def points_of(found: Flow) -> set[str]:
    return {str(each.test.point) for each in make_plan([found], Selection(faults=("no-answer",))).tests}


TWO_STORES: list[tuple[str, ...]] = [
    ("shop", "cache/redis/get", "sessions:6379/0"),
    ("shop", "cache/redis/get", "prices:6379/0"),
]


def test_two_stores_behind_one_client_are_two_points() -> None:
    expected = {"shop>cache/redis/get sessions:6379/0", "shop>cache/redis/get prices:6379/0"}

    assert points_of(asked(recorded_at("sessions:6379/0", "prices:6379/0"), lambda _: TWO_STORES)) == expected
    assert points_of(asked(flow(), lambda _: TWO_STORES)) == expected


def test_what_was_recorded_without_peers_stays_as_it_is() -> None:
    assert points_of(asked(flow("cache/redis/get"), lambda _: TWO_STORES)) == {"shop>cache/redis/get"}


def test_a_store_that_has_moved_since_is_the_same() -> None:
    found = asked(recorded_at("127.0.0.1:40001/0"), lambda _: [("shop", "cache/redis/get", "127.0.0.1:50002/0")])

    assert points_of(found) == {"shop>cache/redis/get"}


def test_of_several_stores_one_that_is_not_called_any_more_is_left_out() -> None:
    found = asked(recorded_at("sessions:6379/0", "users:6379/0"), lambda _: TWO_STORES)

    assert points_of(found) == {"shop>cache/redis/get sessions:6379/0", "shop>cache/redis/get prices:6379/0"}


def test_calls_that_are_made_only_while_caches_fill_are_left_out() -> None:
    def calls(run: int) -> list[tuple[str, ...]]:
        return [("shop", "cache/redis/get"), *([("shop", "cache/redis/set")] if run == 0 else [])]

    plan = make_plan([asked(flow("cache/redis/get", "cache/redis/set"), calls)], Selection())

    assert {each.test.endpoint for each in plan.tests} == {"cache/redis/get"}
    assert "did not call it when asked now" in plan.pruned[0].reason


def test_a_service_without_an_agent_leaves_the_recording_as_it_is() -> None:
    recorded = flow("cache/redis/get")

    assert asked(recorded, lambda _: []) == recorded
