"""A scripted list of pods stands for the API server; `tests/istio/test_rollout.py` rolls out a real Deployment."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from cutset.errors import TargetError
from cutset.experiment import pods as pods_module
from cutset.experiment.liveness import UNDISTURBED
from cutset.experiment.pods import UNREACHABLE, PodWatch
from cutset.model.cluster import Resource

SERVICES = {("shop", "cart-v1"): "cart", ("shop", "ad"): "ad"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_module, "GATHER_SECONDS", 0)
    monkeypatch.setattr(pods_module, "POLL_SECONDS", 0)
    monkeypatch.setattr(pods_module, "SETTLE_SECONDS", 0)


def pod(name: str, workload: str = "cart-v1", *, ready: bool = True, restarts: int = 0, **metadata: Any) -> Resource:
    labels = {"service.istio.io/workload-name": workload}
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid of {name}", "labels": labels, **metadata},
        "spec": {"containers": []},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{"restartCount": restarts}],
        },
    }


def deployment(name: str, *, wanted: int = 1, updated: int = 1, observed: int = 1) -> Resource:
    status = {
        "observedGeneration": observed,
        "updatedReplicas": updated,
        "replicas": wanted,
        "availableReplicas": updated,
    }
    metadata = {"name": name, "namespace": "shop", "generation": 1}
    return {"metadata": metadata, "spec": {"replicas": wanted}, "status": status}


class Listed:
    def __init__(self, *pods: Resource) -> None:
        self.pods = list(pods)
        self.deployments = [deployment("cart-v1"), deployment("other", updated=0)]
        self.asked = 0
        self.away = False

    async def list(self, kind: str, namespace: str = "") -> list[Resource]:
        assert namespace == "shop"
        if self.away:
            raise TargetError("it is away")
        self.asked += kind == "Pod"
        return self.pods if kind == "Pod" else self.deployments


def watching(*pods: Resource) -> tuple[Listed, PodWatch]:
    listed = Listed(*pods)
    return listed, PodWatch(listed, SERVICES)


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_pods_that_are_ready_and_stay_the_same_disturb_nobody() -> None:
    async def scenario() -> None:
        _, watch = watching(pod("cart-a"), pod("cart-b"), pod("ad-a", "ad"), pod("job-1", "batch", ready=False))
        assert await watch.begin() == ()
        mark = watch.mark()

        assert await watch.since(mark) == UNDISTURBED
        assert await watch.dead() == ()
        assert watch.replicas.counts == {"cart": 2, "ad": 1}

    run(scenario)


@pytest.mark.parametrize(
    "pods",
    [
        [pod("cart-a"), pod("cart-c")],
        [pod("cart-a")],
        [pod("cart-a"), pod("cart-b"), pod("cart-c", ready=False)],
        [pod("cart-a"), pod("cart-b", deletionTimestamp="now")],
    ],
)
def test_pods_that_come_or_go_make_void_what_was_under_way(pods: list[Resource]) -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"), pod("cart-b"))
        await watch.begin()
        mark = watch.mark()
        listed.pods = pods

        happened = await watch.since(mark)
        assert (happened.changed, happened.dead) == ("replicas of cart came or went", ())
        assert await watch.since(watch.mark()) == UNDISTURBED

    run(scenario)


@pytest.mark.parametrize("after", [pod("cart-a", restarts=1), pod("cart-a", ready=False)])
def test_a_pod_that_restarts_or_is_no_longer_ready_has_died(after: Resource) -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"))
        await watch.begin()
        mark = watch.mark()
        listed.pods = [after]

        happened = await watch.since(mark)
        assert (happened.changed, happened.dead) == ("", ("a replica of cart",))

    run(scenario)


def test_what_is_not_ready_is_named_and_a_rollout_is_waited_for() -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"))
        await watch.begin()
        listed.pods = [pod("cart-a", ready=False)]
        assert await watch.dead() == ("a replica of cart (pod cart-a)",)
        listed.pods = [pod("cart-a")]
        listed.deployments = [deployment("cart-v1", wanted=2, updated=1)]
        assert await watch.dead() == ("cart (1 of 2 replicas are rolled out)",)
        listed.deployments = [deployment("cart-v1", observed=0)]
        assert await watch.dead() == ("cart (a rollout begins)",)
        listed.away = True
        assert await watch.dead() == (UNREACHABLE,)
        assert "it is away" in (await watch.since(watch.mark())).changed

    run(scenario)


def test_what_was_not_ready_to_begin_with_is_left_out_of_account() -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"), pod("ad-a", "ad", ready=False))
        assert await watch.begin() == ("a replica of ad (pod ad-a)",)
        mark = watch.mark()
        listed.pods = [pod("cart-a"), pod("ad-a", "ad", ready=False, restarts=7)]

        assert await watch.dead() == ()
        assert await watch.since(mark) == UNDISTURBED

    run(scenario)


def test_numbers_wait_until_all_is_rolled_out() -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"), pod("cart-b"))
        await watch.begin()
        listed.pods = [pod("cart-a"), pod("cart-b", deletionTimestamp="now"), pod("cart-c")]
        await watch.dead()
        assert watch.replicas.counts["cart"] == 2
        listed.pods = [pod("cart-c"), pod("cart-d")]
        await watch.dead()

        assert watch.replicas.counts["cart"] == 2

    run(scenario)


def test_who_asks_at_the_same_time_shares_an_answer() -> None:
    async def scenario() -> None:
        listed, watch = watching(pod("cart-a"))
        await watch.begin()
        before = listed.asked
        await asyncio.gather(*(watch.since(watch.mark()) for _ in range(50)))

        assert listed.asked == before + 1

    run(scenario)
