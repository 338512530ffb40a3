"""What a campaign says of systems that vary, err and are flaky: plain balancing, a cache, wrong values, chance."""

import asyncio
import json
from pathlib import Path

from tests.samples.small_shop import KEY, free_port, open_shop

from cutset.app.check import check_campaign
from cutset.app.explore import explore
from cutset.config.explore import load_config
from cutset.model.event import CampaignEvent
from cutset.model.outcome import Outcome
from cutset.model.proof import CheckedRequest
from cutset.model.summary import RequestSummary, summarise
from cutset.model.target import Receiver

CONFIG = """
target: {{url: "http://{entry}"}}
collector: {{http_port: {http}, grpc_port: {grpc}, export_interval: 0.15}}
requests: [{{path: {path}}}]
limits: {limits}
points: {points}
"""


def explored(
    tmp_path: Path, path: str, *, flakes: float = 0, points: str = "api", **limits: float
) -> tuple[RequestSummary, CheckedRequest]:
    """What the campaign says of the one request, and what the checker does."""

    async def explore_all() -> list[CampaignEvent]:
        receiver = Receiver(http_port=free_port(), grpc_port=free_port())
        async with open_shop(tmp_path, receiver) as shop:
            assert shop.mesh is not None
            text = CONFIG.format(
                entry=shop.mesh.addresses["web"],
                http=receiver.http_port,
                grpc=receiver.grpc_port,
                path=path,
                points=points,
                limits=json.dumps({"max_size": 2} | limits),
            )
            (tmp_path / "cutset.yaml").write_text(text)
            shop.flakes["cart/items"] = flakes
            config = load_config(tmp_path / "cutset.yaml")
            return [event async for event in explore(config, key=KEY, store=tmp_path / "store")]

    (request,) = summarise(asyncio.run(explore_all())).requests
    checked = check_campaign(tmp_path / "store")
    assert checked.refuted == ()
    return request, checked.requests[0]


def found(request: RequestSummary) -> dict[str, Outcome]:
    return {" + ".join(sorted(str(fault.point) for fault in each.cut)): each.outcome for each in request.findings}


def test_each_of_two_replicas_that_are_merely_balanced_fails_its_share_of_requests(tmp_path: Path) -> None:
    request, _ = explored(tmp_path, "/balanced", points="replica")

    assert set(found(request)) == {"balanced/GET /one#1", "balanced/GET /one#2"}
    assert request.complete_up_to == 2
    for replica, outcome in found(request).items():
        assert outcome.is_share
        assert f"those that {replica} serves, {outcome.failures} of {outcome.trials}" in outcome.reason
        assert (set(map(str, outcome.fired)), outcome.healthy_after) == ({replica}, True)


def test_what_a_cache_hides_half_of_the_time_is_found_and_the_report_says_what_may_be_overlooked(
    tmp_path: Path,
) -> None:
    for again in ("once", "twice", "thrice"):  # on a busy machine, all six may miss the cache
        (tmp_path / again).mkdir()
        request, checked = explored(tmp_path / again, "/cached", trials=6)
        if found(request)["currency/GET /convert"].is_share:
            break

    assert set(found(request)) == {"cart/GET /items", "currency/GET /convert"}
    assert (
        "a share of requests: those that call currency/GET /convert" in found(request)["currency/GET /convert"].reason
    )
    assert request.varies.startswith("currency/GET /convert was called in ")
    assert checked.varying


def test_a_tolerated_failure_that_makes_a_value_wrong_is_told(tmp_path: Path) -> None:
    request, _ = explored(tmp_path, "/priced")

    assert set(found(request)) == {"cart/GET /items"}
    (degraded,) = request.degradations
    assert degraded.outcome.reason == "200, but wrong: `total` was 19.99, is 0.0"
    assert request.complete_up_to == 2


def test_flaky_answers_make_no_findings_and_hide_none(tmp_path: Path) -> None:
    request, _ = explored(tmp_path, "/quiet", flakes=0.05, flake_rate=0.05)

    assert set(found(request)) == {"cart/GET /items"}
    assert request.complete_up_to == 2
