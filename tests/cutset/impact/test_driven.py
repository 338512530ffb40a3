"""Traffic of our own against a small shop behind a real mesh."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle
from typing import Any

import pytest
from tests.samples.recorded_orders import exchange
from tests.samples.small_shop import PATIENCE_SECONDS, Shop, cut, get, open_shop

from cutset.errors import TargetError
from cutset.impact.driven import DrivenTraffic, Give, User, driven, replaying, requesting
from cutset.model.impact import Group, ImpactWindow, Mark
from cutset.model.request import FunctionStep, Request, Response
from cutset.workload.templates.template import templates_of

LOST = cut("cart/GET /items")
BEFORE, DURING = ImpactWindow.BEFORE, ImpactWindow.DURING
IN_TURN = (0.1, 0.4, 0.9)  # with a share of 0.3: with the fault, control, others


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Awaitable[Any]], Any]]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def shop(run: Callable[[Awaitable[Any]], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    opening = open_shop(tmp_path_factory.mktemp("mesh"))
    yield run(opening.__aenter__())
    run(opening.__aexit__(None, None, None))


def traffic_of(shop: Shop, *users: User, rate: float = 200.0, **changes: Any) -> DrivenTraffic:
    known: dict[str, Any] = {"may_mark": lambda: True, "on_mark": lambda _: None, "coin": cycle(IN_TURN).__next__}
    return DrivenTraffic(shop.bench(), users, LOST, rate=rate, **known | changes)


async def marks_of(traffic: DrivenTraffic, number: int) -> list[Mark]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [await traffic.marks.get() for _ in range(number)]


async def until(holds: Callable[[], object]) -> None:
    """Of what no event tells: users come and go by themselves."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def status_at_entry(shop: Shop, mark: Mark) -> str:
    """As the mesh tells it: its span has the mark's span for a parent."""

    def entry(spans: Any) -> list[Any]:
        return [span for span in spans if span.parent_id == mark.span_id and "cutset.service" in span.attributes]

    spans, arrived = await shop.collector.trace(
        mark.trace_id, lambda spans: bool(entry(spans)), timeout=PATIENCE_SECONDS
    )
    assert arrived
    return str(entry(spans)[0].attributes["http.status_code"])


def test_users_with_the_fault_meet_it_and_as_many_others_carry_an_empty_plan(shop, run) -> None:
    traffic = traffic_of(shop, requesting(shop.bench(), get("/page"), LOST))

    async def scenario() -> Counter[tuple[Group, str]]:
        async with driven(traffic):
            await traffic.start(DURING, 0.3)
            marks = await marks_of(traffic, 40)
            asked = await traffic.stop()
            assert asked >= 59  # a third of them is left alone
            return Counter([(mark.group, await status_at_entry(shop, mark)) for mark in marks])

    assert run(scenario()) == {(Group.FAULT, "500"): 20, (Group.CONTROL, "200"): 20}


def test_before_the_fault_some_are_control_and_nobody_meets_it(shop, run) -> None:
    traffic = traffic_of(shop, requesting(shop.bench(), get("/page"), LOST))

    async def scenario() -> list[tuple[Group, str]]:
        async with driven(traffic):
            await traffic.start(BEFORE, 0.3)
            marks = await marks_of(traffic, 12)
            assert await traffic.stop() >= 17  # every third is left alone
            return [(mark.group, await status_at_entry(shop, mark)) for mark in marks]

    assert run(scenario()) == [(Group.CONTROL, "200")] * 12


def test_after_a_stop_users_go_on_coming_unmarked(shop, run) -> None:
    traffic = traffic_of(shop, requesting(shop.bench(), get("/page"), LOST))

    async def scenario() -> None:
        async with driven(traffic), asyncio.timeout(PATIENCE_SECONDS):
            await traffic.start(DURING, 0.5)
            await marks_of(traffic, 3)
            await traffic.stop()
            while not traffic.marks.empty():
                traffic.marks.get_nowait()
            await until(lambda: traffic.asked >= 5)
            assert traffic.marks.empty()

    run(scenario())


def test_a_slow_system_does_not_slow_the_sending_down(shop, run) -> None:
    never = asyncio.Event()

    async def waiting(give: Give) -> None:
        give(1.0)
        await never.wait()

    traffic = traffic_of(shop, waiting, rate=1000.0, parallel=30)

    async def scenario() -> int:
        async with driven(traffic), asyncio.timeout(PATIENCE_SECONDS):
            await traffic.start(DURING, 0.5)
            marks = await marks_of(traffic, 30)
            await until(lambda: traffic.left_out >= 30)
            assert traffic.marks.empty()
            return len({mark.user for mark in marks})

    assert run(scenario()) == 30


def test_a_recorded_flow_is_one_user(shop, run) -> None:
    ann = [("authorization", "Bearer masked-0000000000000001")]
    flows = templates_of([exchange(0, "GET /page", headers=ann), exchange(1, "GET /leaf", headers=ann)])
    assert [len(flow.steps) for flow in flows] == [2]
    traffic = traffic_of(shop, replaying(shop.bench(), flows[0], {}, seconds=10.0))

    async def scenario() -> list[Mark]:
        async with driven(traffic):
            await traffic.start(DURING, 0.5)  # the third lot is a control then
            marks = await marks_of(traffic, 30)
            await traffic.stop()
            return marks

    groups: dict[str, list[Group]] = {}
    for mark in run(scenario()):
        groups.setdefault(mark.user, []).append(mark.group)
    assert max(map(len, groups.values())) == 2
    assert all(len(set(each)) == 1 for each in groups.values())


def test_after_a_stop_and_while_the_brake_is_pulled_nobody_is_marked_any_more(shop, run) -> None:
    pulled, reached, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    given: list[object] = []

    async def late(give: Give) -> None:
        reached.set()
        await go_on.wait()
        given.append(give(1.0))

    async def scenario() -> None:
        traffic = traffic_of(shop, late, coin=lambda: 0.0)
        async with driven(traffic), asyncio.timeout(PATIENCE_SECONDS):
            await traffic.start(DURING, 0.5)
            await reached.wait()
            await traffic.stop()
            assert traffic.asked == 0
            go_on.set()
            await until(lambda: given)
        braked = traffic_of(shop, late, coin=lambda: 0.0, may_mark=lambda: not pulled.is_set())
        async with driven(braked), asyncio.timeout(PATIENCE_SECONDS):
            pulled.set()
            await braked.start(DURING, 0.5)
            await until(lambda: braked.asked >= 5)
            assert braked.marks.empty()

    run(scenario())
    assert not any(given)


def test_without_a_line_in_the_audit_log_nothing_is_injected(shop, run) -> None:
    def full(_: Mark) -> None:
        raise OSError("No space left on device")

    traffic = traffic_of(shop, requesting(shop.bench(), get("/page"), LOST), on_mark=full)

    async def scenario() -> None:
        async with driven(traffic), asyncio.timeout(PATIENCE_SECONDS):
            await traffic.start(DURING, 0.3)
            await until(lambda: traffic.asked)
            await traffic.stop()

    with pytest.raises(OSError, match="No space"):
        run(scenario())
    assert traffic.marks.empty()


def test_a_request_whose_set_up_fails_is_told_once_and_not_marked(shop, run) -> None:
    told: list[str] = []
    traffic = traffic_of(
        shop, requesting(shop.bench(), get("/leaf", setup=("/page",)), LOST), rate=50.0, on_note=told.append
    )
    shop.stumbles["cart/items"] = 1000

    async def scenario() -> None:
        async with driven(traffic), asyncio.timeout(PATIENCE_SECONDS):
            await traffic.start(BEFORE, 0.3)
            await until(lambda: told)
            await traffic.stop()

    run(scenario())
    shop.stumbles.clear()
    assert told == [
        "Set-up step 1 of 1 of `GET /leaf`, `GET /page`, was answered 500; the experiment is void",
    ]
    assert traffic.marks.empty()


def test_any_kind_of_request_can_be_sent(shop, run) -> None:
    async def call(headers: Any) -> Response:
        async with shop.session.get(f"{shop.bench().url}/leaf", headers=dict(headers)) as response:
            return Response(response.status)

    request = Request("leaf", FunctionStep("tests:leaf", call))
    traffic = traffic_of(shop, requesting(shop.bench(), request, LOST))

    async def scenario() -> str:
        async with driven(traffic):
            await traffic.start(BEFORE, 0.3)
            (mark,) = await marks_of(traffic, 1)
            await traffic.stop()
            return await status_at_entry(shop, mark)

    assert run(scenario()) == "200"


def test_a_mistake_in_what_is_sent_ends_the_sending_and_is_told(shop, run) -> None:
    made = asyncio.Event()

    async def mistaken(_: Give) -> None:
        made.set()
        raise ValueError("not HTTP")

    traffic = traffic_of(shop, mistaken, requesting(shop.bench(), get("/leaf"), LOST), rate=20.0)

    async def scenario() -> None:
        async with driven(traffic):
            await traffic.start(BEFORE, 0.3)
            await made.wait()
            await asyncio.sleep(0)
            await traffic.stop()

    with pytest.raises((ValueError, TargetError), match="not HTTP"):
        run(scenario())
