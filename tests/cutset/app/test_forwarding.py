"""A cluster in a few dictionaries; real port-forwards are in tests/istio."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.samples.cluster_resources import pod, port, service

from cutset.app import forwarding
from cutset.app.forwarding import entrance_of, relay_of
from cutset.errors import TargetError
from cutset.model.cluster import IstioPlace

PLACE = IstioPlace(("shop",), gateway="edge/gateway", gateway_port=80)


def ready(name, uid="1", *, is_ready=True):
    found = pod(name, within="edge", proxy="router")
    found["metadata"]["uid"] = uid
    found["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(is_ready)}]}
    return found


class FewThings:
    def __init__(self, *pods):
        self.pods = list(pods)
        self.opened = []
        self.services = {("edge", "gateway"): service("gateway", port(80, target=8080), within="edge")}

    async def get(self, kind, name, namespace=""):
        if kind == "Service":
            return self.services.get((namespace, name))
        return next((each for each in self.pods if each["metadata"]["name"] == name), None)

    async def list(self, kind, namespace="", labels=None):
        assert kind == "Pod"
        assert labels
        return self.pods

    @asynccontextmanager
    async def forwarded(self, name, namespace, number):
        self.opened.append((name, namespace, number))
        yield 1000 + len(self.opened)


@pytest.fixture(autouse=True)
def _outside(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr(forwarding, "POLL_SECONDS", 0)


def test_experiments_enter_by_a_pod_that_is_ready_and_by_another_when_it_goes():
    async def scenario():
        cluster = FewThings(ready("a", is_ready=False), ready("b"))
        async with entrance_of(cluster, PLACE) as entrance:
            assert (entrance.url, cluster.opened) == ("http://127.0.0.1:1001", [("b", "edge", 8080)])
            cluster.pods = [ready("c")]
            while entrance.url == "http://127.0.0.1:1001":  # noqa: ASYNC110 -- another task does it
                await asyncio.sleep(0)
            assert cluster.opened[-1] == ("c", "edge", 8080)

    asyncio.run(scenario())


def test_inside_the_cluster_the_gateway_is_called_directly(monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")

    async def scenario():
        async with entrance_of(FewThings(), PLACE) as entrance:
            assert entrance.url == "http://10.96.0.9:80"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (IstioPlace(("shop",), gateway="edge/other"), "`edge/other` is not there"),
        (IstioPlace(("shop",), gateway="edge/gateway", gateway_port=81), "has no port 81"),
        (PLACE, "No pod of the gateway `edge/gateway` is ready"),
    ],
)
def test_a_gateway_that_cannot_be_entered_is_told_at_once(place, words):
    async def scenario():
        async with entrance_of(FewThings(), place):
            pass

    with pytest.raises(TargetError, match=words):
        asyncio.run(scenario())


def test_the_relay_is_that_of_the_collector_that_is_ready():
    async def scenario():
        cluster = FewThings(ready("collector-1"))
        async with relay_of(cluster, "cutset") as url:
            assert url == "http://127.0.0.1:1001"
        assert cluster.opened == [("collector-1", "cutset", 4319)]
        cluster.pods = []
        with pytest.raises(TargetError, match="No collector is ready in namespace cutset"):
            async with relay_of(cluster, "cutset"):
                pass

    asyncio.run(scenario())
