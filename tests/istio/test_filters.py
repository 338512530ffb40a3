"""Our filters as istiod hands them to sidecars and gateways: plans get in by the gateway, forged ones do nothing."""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import httpx
import pytest
from tests.istio.conftest import Laboratory, eventually
from tests.samples.forged_plans import WAYS, Forger, forged

from cutset.inject.ecdsa import new_private_key, public_key
from cutset.inject.istio.gateway_filters import gateway_filter
from cutset.inject.istio.marks import Installation
from cutset.inject.istio.sidecars import sidecars_filter
from cutset.model.cluster import ClusterGateway, Resource

GATEWAY = ClusterGateway("istio-ingress", "ingress", (), (), (("istio", "ingress"),))
HANDED_ON = ("tracestate", "baggage")  # what the services of the shop know
ROUNDS = 5  # of each way to forge


@dataclass(frozen=True)
class Installed:
    laboratory: Laboratory
    key: bytes
    resources: tuple[Resource, ...]

    def forger(self, *faults: str) -> Forger:
        return Forger(self.key, "shop", faults, random.Random(3))

    def proxies(self) -> list[tuple[str, str]]:
        spaces = (self.laboratory.namespace, GATEWAY.namespace)
        return [(space, pod["metadata"]["name"]) for space in spaces for pod in self.laboratory.pods(space)]

    def get(self, headers: dict[str, str]) -> httpx.Response:
        return httpx.get(f"{self.laboratory.gateway}/", headers=headers, timeout=30)


@pytest.fixture(scope="module")
def installed(laboratory: Laboratory) -> Iterator[Installed]:
    """Of two environments that share the gateway, the other's filter comes first."""
    key = new_private_key()
    wanted = Installation("shop", (laboratory.namespace,), public_key(key))
    other = Installation("another", ("elsewhere",), public_key(new_private_key()))
    names = {"frontend": "front", "backend": "back"}
    resources = (
        gateway_filter(other, GATEWAY),
        gateway_filter(wanted, GATEWAY),
        sidecars_filter(wanted, laboratory.namespace, names),
    )
    laboratory.api.apply(*resources)
    found = Installed(laboratory, key, resources)
    plan = found.forger("back/*:abort(418)")
    # Connections that were open keep the old chain of filters for a while: each replica has to show it.
    eventually(lambda: all(_back(found.get(plan.plan(carriers=HANDED_ON))) == 418 for _ in range(10)))
    yield found
    for each in resources:
        laboratory.api.call("DELETE", laboratory.api.address(each))
    eventually(lambda: all(_back(found.get(plan.plan(carriers=HANDED_ON))) == 200 for _ in range(10)))


def _back(response: httpx.Response) -> int:
    """What the frontend was told by the backend that it called."""
    return int(response.json()["called"][0]["status"])


def test_no_proxy_rejects_what_istiod_makes_of_it(installed: Installed) -> None:
    for space, pod in installed.proxies():
        told = installed.laboratory.proxy(space, pod, "/stats?filter=update_rejected|lua.*errors")
        counts = {line.rpartition(": ")[0]: int(line.rpartition(": ")[2]) for line in told.splitlines()}
        assert counts
        assert not any(counts.values()), (pod, counts)


@pytest.mark.parametrize("carrier", ["tracestate", "baggage", "jaeger", "datadog"])
def test_a_plan_gets_in_by_the_gateway_in_each_carrier(installed: Installed, carrier: str) -> None:
    response = installed.get(installed.forger("front/GET /:abort(418)").plan(carriers=[carrier]))
    assert (response.status_code, response.headers["x-cutset-fault"]) == (418, "abort(418)")


@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_an_answer_is_spoilt_on_its_way_back(installed: Installed, effect: str) -> None:
    response = installed.get(installed.forger(f"front/GET /:{effect}").plan(carriers=HANDED_ON))
    begins = {"empty": b"", "truncated": b"{", "garbled": bytes([255 - ord("{")])}[effect]
    assert (response.status_code, response.content[:1]) == (200, begins)
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        response.json()


def test_a_service_is_called_what_the_table_says_and_a_replica_what_its_pod_is(installed: Installed) -> None:
    pods = [pod["metadata"]["name"] for pod in installed.laboratory.pods(installed.laboratory.namespace, "app=backend")]
    one = installed.forger(f"back/GET /#{pods[0]}:abort(418)")
    statuses = {_back(installed.get(one.plan(carriers=HANDED_ON))) for _ in range(20)}
    assert statuses == {200, 418}
    assert {_back(installed.get(installed.forger("backend/*").plan(carriers=HANDED_ON))) for _ in range(10)} == {200}


def test_the_application_sees_nothing_of_ours(installed: Installed) -> None:
    headers = installed.forger("front/*:delay(1ms)").plan(carriers=["tracestate", "baggage"])
    forged_ones = {"x-cutset-gate": "1", "x-envoy-fault-abort-request": "503", "x-cutset-entry": "1" * 16}
    for given in (headers, headers | forged_ones):
        saw = installed.get(given).json()["saw"]
        unseen = ("x-cutset", "x-envoy-fault", "x-client-trace-id")
        assert [name for name in saw if name.lower().startswith(unseen)] == []


def test_nothing_forged_fires_or_gets_in(installed: Installed) -> None:
    ways = forged(installed.key, "shop", ("front/*", "back/*", "quote/*"), random.Random(time.time_ns()))
    for name, headers in islice(ways, ROUNDS * len(WAYS)):
        response = installed.get(headers)
        assert (response.status_code, _back(response)) == (200, 200), (name, headers)
        if name != "asked directly":
            assert "cutset" not in str(response.json()["saw"]), (name, headers)
