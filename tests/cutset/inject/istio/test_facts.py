import asyncio

import pytest
from tests.samples.cluster_resources import pod, resource
from tests.samples.small_api_server import SmallApiServer

from cutset.errors import CutsetError, UsageError
from cutset.inject.istio.facts import list_facts, ours_of, revisions
from cutset.inject.istio.marks import marked
from cutset.kubernetes.client import ForbiddenError, connected
from cutset.kubernetes.kinds import KINDS
from cutset.model.cluster import Resource


def facts(*namespaces: str) -> dict[str, list[Resource]]:
    async def run() -> dict[str, list[Resource]]:
        async with connected() as cluster:
            return await list_facts(cluster, namespaces)

    return asyncio.run(run())


def ours(environment: str = "", *places: str) -> list[str]:
    async def run() -> list[Resource]:
        async with connected() as cluster:
            return await ours_of(cluster, environment, places)

    return [each["metadata"]["name"] for each in asyncio.run(run())]


def test_a_cluster_without_istio_is_told_apart(server: SmallApiServer) -> None:
    server.stored = {path: each for path, each in server.stored.items() if "customresource" not in path}
    with pytest.raises(UsageError, match="There is no Istio in the cluster"):
        facts("shop")


def test_a_namespace_that_is_not_there_is_guessed(server: SmallApiServer) -> None:
    with pytest.raises(UsageError, match="no namespace `shopp`") as refused:
        facts("shopp")
    assert "Did you mean `shop`?" in refused.value.hint


def test_a_mesh_without_configuration_is_named(server: SmallApiServer) -> None:
    del server.stored["/api/v1/namespaces/istio-system/configmaps/istio"]
    with pytest.raises(CutsetError, match="no ConfigMap `istio`"):
        facts("shop")


def test_revisions_are_what_injection_wrote_down() -> None:
    status = "sidecar.istio.io/status"
    pods = [
        pod("a-1", annotations={status: '{"revision": "canary"}'}),
        pod("b-1", annotations={status: '{"revision": "default"}'}),
        pod("c-1", within="other", annotations={status: '{"revision": "else"}'}),
        pod("d-1", annotations={status: "?"}),
    ]
    assert revisions(pods, ["shop"]) == ["", "canary"]
    assert revisions([], ["shop"]) == [""]


def test_ours_are_found_by_label_and_in_known_places_if_more_is_forbidden(server: SmallApiServer) -> None:
    for name in ("shop", "inn"):
        made = marked(resource("Telemetry", f"cutset-{name}", {}, name), name)
        server.put({"apiVersion": KINDS["Telemetry"].version, **made})
    server.put({"apiVersion": KINDS["Telemetry"].version, **resource("Telemetry", "theirs", {})})
    assert ours() == ["cutset-inn", "cutset-shop"]
    assert ours("shop") == ["cutset-shop"]
    server.forbidden.add("list envoyfilters")
    with pytest.raises(ForbiddenError):
        ours("shop")
