"""What requests call, seen in a small shop behind a real mesh."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from tests.samples.recorded_orders import exchange
from tests.samples.small_shop import PATIENCE_SECONDS, Shop, get, open_shop, points

from cutset.app import impact_learning
from cutset.app.impact_learning import KnownCalls, calls_of_flows, calls_of_requests, calls_of_users
from cutset.errors import TargetError
from cutset.workload.templates.template import templates_of

Run = Callable[[Coroutine[Any, Any, Any]], Any]
PAGE = KnownCalls(points("cart/GET /items", "ad/GET /ads"), points("web/GET /page"))


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def shop(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    opening = open_shop(tmp_path_factory.mktemp("mesh"))
    yield run(opening.__aenter__())
    run(opening.__aexit__(None, None, None))


def test_requests_are_sent_and_tell_what_they_call(shop: Shop, run: Run) -> None:
    found = run(calls_of_requests(shop.bench(), [get("/page"), get("/stock")]))
    assert found == PAGE | KnownCalls(points("stock/Count"), points("web/GET /stock"))
    assert found.all == found.calls | found.entries


def test_routes_are_learnt_on_the_way(shop: Shop, run: Run) -> None:
    bench = shop.bench()
    found = run(calls_of_requests(bench, [get("/people")]))
    assert points("users/GET /users/*") <= found.calls
    assert bench.routes.known(points("users/GET /users/*")) == points("users/GET /users/alice", "users/GET /users/bob")


def test_a_request_that_cannot_be_made_is_left_out_unless_all_are_such(shop: Shop, run: Run) -> None:
    broken = get("/leaf", setup=("/page",))
    shop.stumbles["web/page"] = 100
    assert run(calls_of_requests(shop.bench(), [broken, get("/stock")])).entries == points("web/GET /stock")
    with pytest.raises(TargetError, match="Set-up step 1 of 1 of `GET /leaf`"):
        run(calls_of_requests(shop.bench(), [broken]))
    shop.stumbles.clear()


def test_recorded_flows_are_sent_and_tell_what_they_call(shop: Shop, run: Run) -> None:
    flows = templates_of([exchange(0, "GET /page", service="web")])
    assert run(calls_of_flows(shop.bench(), flows, {})) == PAGE
    with pytest.raises(TargetError, match="No span of any recorded request arrived"):
        run(calls_of_flows(shop.bench(), [], {}))


def test_what_users_call_is_watched_and_counted(shop: Shop, run: Run) -> None:
    async def scenario() -> KnownCalls:
        async def visit() -> None:
            while True:
                async with shop.session.get(f"{shop.bench().url}/page") as response:
                    await response.read()
                await asyncio.sleep(0.05)

        visiting = asyncio.ensure_future(visit())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await calls_of_users(shop.bench(), lambda known: points("ad/GET /ads") <= known.calls)
        finally:
            visiting.cancel()

    found = run(scenario())
    assert KnownCalls(found.calls, found.entries) == PAGE
    assert 0 < found.per_second <= 20


def test_where_no_user_comes_it_is_said(shop: Shop, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impact_learning, "MOST_WATCHED_SECONDS", 0.6)
    with pytest.raises(TargetError, match="No request of a user was seen") as caught:
        run(calls_of_users(shop.bench(), lambda _: False))
    assert "`--load 20`" in caught.value.hint
