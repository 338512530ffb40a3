"""What discovery says is what istiod, the injector and the sidecars made of the same resources."""

import asyncio
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.istio.breakage import Breakage, pod, resource
from cluster.shops import kubernetes_gateway
from tests.istio.conftest import Laboratory, eventually

from cutset.app.init import propose_config, write_config
from cutset.errors import UsageError
from cutset.inject.istio.discovery import discover
from cutset.inject.istio.pods import PROXY, workload_of
from cutset.kubernetes.client import connected
from cutset.model.cluster import ClusterView


@pytest.fixture
def added(laboratory: Laboratory) -> Iterator[Breakage]:
    """To add what goes with the test."""
    with Breakage(laboratory.api, laboratory.namespace) as found:
        yield found


def seen(laboratory: Laboratory) -> ClusterView:
    async def ask() -> ClusterView:
        async with connected() as cluster:
            return await discover(cluster, [laboratory.namespace])

    return asyncio.run(ask())


def test_the_shop_is_seen_as_it_is(laboratory: Laboratory) -> None:
    found = seen(laboratory)
    services = {each.name: each for each in found.services}
    assert {name: each.ports[0].protocol for name, each in services.items()} == {
        "backend": "http",
        "frontend": "http",
        "quote": "grpc",
    }
    assert found.replicas == {"backend": 2, "frontend": 1, "quote": 1}
    assert {each.name for each in services["backend"].pods} == {
        each["metadata"]["name"] for each in laboratory.pods(laboratory.namespace, "app=backend")
    }
    assert not found.uncovered
    gateways = [each for each in found.gateways if each.namespace == "istio-ingress"]
    assert [(each.name, len(each.pods)) for each in gateways] == [("ingress", 1)]
    assert found.istio_version.startswith("1.31")


def test_workloads_are_called_as_the_injector_calls_them(laboratory: Laboratory, added: Breakage) -> None:
    """Where it is not injected we must guess it: by the same rules."""
    template = {"metadata": {"labels": {"app": "made"}}, "spec": pod("x", {})["spec"]}
    template["spec"]["serviceAccountName"] = "default"
    made = {"selector": {"matchLabels": {"app": "made"}}, "template": template}
    stateful = resource("StatefulSet", "set-of-pods", {**made, "serviceName": "made"}, "apps/v1")
    replicas = resource("ReplicaSet", "made-of-pods", made, "apps/v1")
    labelled = pod("labelled", {"app": "x", "service.istio.io/workload-name": "chosen"})
    added.apply(pod("bare", {"app": "x"}), labelled, stateful, replicas)
    address = f"/api/v1/namespaces/{laboratory.namespace}/pods"

    def all_there() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = laboratory.api.get(address)["items"]
        names = {each["metadata"]["name"].rpartition("-")[0] for each in found}
        return found if {"made-of-pods"} <= names else None

    checked = 0
    for each in eventually(all_there):
        (proxy,) = [one for one in _containers(each) if one["name"] == PROXY]
        (said,) = [one["value"] for one in proxy["env"] if one["name"] == "ISTIO_META_WORKLOAD_NAME"]
        bare = copy.deepcopy(each)
        for kind in ("containers", "initContainers"):
            bare["spec"][kind] = [one for one in bare["spec"].get(kind, ()) if one["name"] != PROXY]
        assert workload_of(each) == workload_of(bare) == said
        checked += 1
    assert checked >= 7


def test_sidecars_read_requests_at_ports_that_istio_guesses_and_of_headless_services(
    laboratory: Laboratory, added: Breakage
) -> None:
    guessed = {"selector": {"app": "frontend"}, "ports": [{"port": 7001, "targetPort": 7001}]}
    headless = {"selector": {"app": "frontend"}, "clusterIP": "None", "ports": [{"port": 7002, "name": "http"}]}
    raw = {"selector": {"app": "frontend"}, "ports": [{"port": 7003, "name": "tcp"}]}
    for name, spec in (("guessed", guessed), ("headless", headless), ("raw", raw)):
        added.apply(resource("Service", name, spec, "v1", laboratory.namespace))
    found = {each.name: each for each in seen(laboratory).services}
    expected = {7001: found["guessed"], 7002: found["headless"], 7003: found["raw"]}
    name = laboratory.pods(laboratory.namespace, "app=frontend")[0]["metadata"]["name"]

    def reading() -> dict[int, bool] | None:
        dump = json.loads(laboratory.proxy(laboratory.namespace, name, "/config_dump?resource=dynamic_listeners"))
        ports = {port: http for port, http in _inbound(dump).items() if port in expected}
        return ports if len(ports) == 3 else None

    assert eventually(reading) == {port: service.ports[0].reached for port, service in expected.items()}


def _inbound(dump: dict[str, Any]) -> dict[int, bool]:
    """Of each port, whether some chain reads HTTP."""
    ports: dict[int, bool] = {}
    for each in dump["configs"]:
        if each["name"] == "virtualInbound":
            for chain in each["active_state"]["listener"]["filter_chains"]:
                port = chain.get("filter_chain_match", {}).get("destination_port", 0)
                names = {one["name"] for one in chain["filters"]}
                ports[port] = ports.get(port, False) or "envoy.filters.network.http_connection_manager" in names
    return ports


def _containers(each: dict[str, Any]) -> list[dict[str, Any]]:
    return [*each["spec"]["containers"], *each["spec"].get("initContainers", ())]


def test_a_gateway_of_the_gateway_api_is_found(laboratory: Laboratory, added: Breakage) -> None:
    added.apply(*kubernetes_gateway(laboratory.namespace, "frontend", 8080))

    def found() -> list[str]:
        return [each.name for each in seen(laboratory).gateways if each.namespace == laboratory.namespace]

    assert eventually(found) == ["kubernetes-istio"]
    view = seen(laboratory)
    assert "kubernetes-istio" not in {each.name for each in view.services}
    assert "kubernetes-istio" not in view.names_in(laboratory.namespace)


def test_init_writes_a_file_that_leads_to_the_shop(laboratory: Laboratory, tmp_path: Path) -> None:
    text, _ = asyncio.run(propose_config([laboratory.namespace]))
    config = write_config(tmp_path / "cutset.yaml", text)
    assert config.istio is not None
    assert config.istio.gateway == "istio-ingress/ingress"
    assert config.target.environment == laboratory.namespace
    assert [each.name for each in config.requests] == ["GET /"]


def test_init_says_which_namespace_is_not_there(laboratory: Laboratory) -> None:
    with pytest.raises(UsageError, match=r"no namespace `shoop`"):
        asyncio.run(propose_config([laboratory.namespace, "shoop"]))
