"""Replay of recorded flows against a shop that refuses what is stale, used before, or somebody else's."""

import asyncio
from dataclasses import replace

from tests.samples.strict_shop import (
    PASSWORD,
    PASSWORD_RULE,
    Shop,
    recorded_by,
    recorded_visits,
    replayed,
    served,
    total,
)

from cutset.model.exchange import Exchange
from cutset.workload.replay import ReplayTally, replay, send_flow
from cutset.workload.send import open_client
from cutset.workload.templates.template import templates_of, verbatim


def test_templates_succeed_where_a_naive_replay_is_refused() -> None:
    async def scenario() -> tuple[dict[str, ReplayTally], dict[str, ReplayTally]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=4), (PASSWORD_RULE,))
        values = {"SHOP_PASSWORD": PASSWORD}
        return (
            await replayed(shop, [verbatim(template) for template in templates], values),
            await replayed(shop, templates, values),
        )

    naive, templated = asyncio.run(scenario())
    assert {name for name, tally in naive.items() if tally.succeeded} == {
        "GET /login",
        "GET /products",
        "GET /products/*",
    }
    assert total(naive) == (12, 40)
    assert total(templated) == (40, 40), templated


def test_a_template_can_be_replayed_again_and_again() -> None:
    async def scenario() -> list[dict[str, ReplayTally]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,))
        return [await replayed(shop, templates, {"SHOP_PASSWORD": PASSWORD}) for _ in range(3)]

    assert [total(tallies) for tallies in asyncio.run(scenario())] == [(20, 20)] * 3


def test_a_client_s_own_id_is_new_in_each_flow_and_the_same_within_it() -> None:
    async def scenario() -> Shop:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,))
        await replayed(shop, templates, {"SHOP_PASSWORD": PASSWORD})
        return shop

    assert len(set(asyncio.run(scenario()).tracking_seen)) == 4


def test_what_is_missing_is_named() -> None:
    async def scenario() -> dict[str, ReplayTally]:
        shop = Shop()
        return await replayed(shop, templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,)), {})

    tallies = asyncio.run(scenario())
    assert list(tallies["POST /login"].failures) == ["needs the environment variable `SHOP_PASSWORD`"]
    assert list(tallies["GET /me"].failures) == [
        "needs `body/access_token` of the answer to `POST /login`, which has none"
    ]


def test_each_step_can_carry_headers_of_its_own() -> None:
    async def scenario() -> tuple[list[str], list[Exchange]]:
        shop = Shop()
        template = max(templates_of(await recorded_visits(shop, visits=1)), key=lambda each: len(each.steps))
        again: list[Exchange] = []
        async with served(recorded_by(shop, shop.application(), again)) as url, open_client(1) as client:
            sent = await send_flow(client, template, base_url=url, headers=lambda step: {"x-step": str(step)})
        return [each.name for each in sent], again

    names, again = asyncio.run(scenario())
    assert len(names) == 9
    assert dict(again[0].request_headers)["x-step"] == "0"
    assert dict(again[1].request_headers)["x-step"] == "1"


def test_a_replay_comes_from_the_pages_of_the_server_that_it_goes_to() -> None:
    async def scenario() -> tuple[str, dict[str, str]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=1), (PASSWORD_RULE,))
        shop.clock_offset, again = 0.0, []
        async with served(recorded_by(shop, shop.application(), again)) as url:
            await replay(templates, base_url=url, values={"SHOP_PASSWORD": PASSWORD})
        return url, dict(next(each for each in again if each.path == "/me").request_headers)

    url, headers = asyncio.run(scenario())
    assert headers["origin"] == url
    assert headers["referer"] == f"{url}/login?next=/me"


def test_a_server_that_is_gone_is_a_failure_of_each_request() -> None:
    async def scenario() -> dict[str, ReplayTally]:
        templates = templates_of(await recorded_visits(Shop(), visits=1))
        return await replay([verbatim(each) for each in templates], base_url="http://127.0.0.1:1", values={})

    assert {reason for tally in asyncio.run(scenario()).values() for reason in tally.failures} == {
        "no answer: ClientConnectorError"
    }


def test_cookies_that_a_recording_came_without_are_sent_as_a_browser_does() -> None:
    async def scenario() -> dict[str, ReplayTally]:
        shop = Shop()
        without = [
            replace(each, request_headers=tuple(pair for pair in each.request_headers if pair[0] != "cookie"))
            for each in await recorded_visits(shop, visits=2)
        ]
        return await replayed(shop, templates_of(without, (PASSWORD_RULE,)), {"SHOP_PASSWORD": PASSWORD})

    assert asyncio.run(scenario())["GET /me"].succeeded == 2
