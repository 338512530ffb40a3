"""Against a small API server; against a real one, with real sidecars, in tests/istio."""

import asyncio
from typing import Any

import pytest
from tests.samples.cluster_resources import namespace, pod, service
from tests.samples.installations import PUBLIC_KEY, installation
from tests.samples.small_api_server import SmallApiServer

from cutset.errors import UsageError
from cutset.inject.istio import marking_found
from cutset.inject.istio.applying import Applied
from cutset.inject.istio.install import install, prepare, refuse_without_rights
from cutset.inject.istio.marking import marking_policy
from cutset.inject.istio.uninstall import prepare_removal, remove_filters, remove_rest
from cutset.kubernetes.client import connected
from cutset.model.cluster import ClusterGateway

MESH = "/api/v1/namespaces/istio-system/configmaps/istio"
POLICY = "/apis/security.istio.io/v1/namespaces/istio-ingress/authorizationpolicies/cutset-shop-marking-ingress"
GATEWAY = ClusterGateway("istio-ingress", "ingress", (), (), (("istio", "ingressgateway"),))


def installed(*, dry_run: bool = False, force: bool = False, **options: Any) -> dict[str, str]:
    async def run() -> list[Applied]:
        async with connected() as cluster:
            prepared = await prepare(cluster, installation(**options), force_mesh_config=force)
            await refuse_without_rights(cluster, prepared)
            return [each async for each in install(cluster, prepared, dry_run=dry_run)]

    return {each.resource: each.change for each in asyncio.run(run())}


def uninstalled(*namespaces: str, environment: str = "") -> list[str]:
    async def run() -> list[Applied]:
        async with connected() as cluster:
            removal = await prepare_removal(cluster, namespaces, environment)
            first = [each async for each in remove_filters(cluster, removal)]
            return first + [each async for each in remove_rest(cluster, removal)]

    return [each.resource for each in asyncio.run(run())]


def test_it_comes_and_goes_and_leaves_nothing(server: SmallApiServer) -> None:
    before = server.snapshot()
    changes = installed()
    assert changes.pop("ConfigMap istio-system/istio") == "changed"
    assert set(changes.values()) == {"created"}
    uninstalled("shop")
    assert server.snapshot() == before


def test_the_second_time_nothing_changes(server: SmallApiServer) -> None:
    installed()
    versions = server.versions()
    assert set(installed().values()) == {"same"}
    assert server.versions() == versions


def test_a_dry_run_changes_nothing(server: SmallApiServer) -> None:
    before = server.versions()
    assert installed(dry_run=True)["EnvoyFilter shop/cutset-shop"] == "created"
    assert server.versions() == before


def test_what_an_older_version_left_goes(server: SmallApiServer) -> None:
    installed()
    old = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters/cutset-shop"
    server.put({**server.stored[old], "metadata": {**server.stored[old]["metadata"], "name": "cutset-shop-former"}})
    assert installed()["EnvoyFilter shop/cutset-shop-former"] == "removed"


def test_another_option_takes_away_what_it_does_not_need(server: SmallApiServer) -> None:
    installed()
    changes = installed(keep_tracing=True)
    assert changes["Telemetry shop/cutset-shop"] == "removed"
    assert changes["Namespace cutset"] == "removed"
    assert server.stored[MESH]["data"] == {"mesh": "trustDomain: cluster.local\n"}


def test_environments_are_side_by_side_and_share_what_they_can(server: SmallApiServer) -> None:
    for each in (namespace("inn"), service("desk", within="inn"), pod("desk-1", within="inn")):
        server.put({"apiVersion": "v1", **each})
    before = server.snapshot()
    installed()
    alone = server.snapshot()
    changes = installed(environment="inn", namespaces=("inn",))
    assert changes["Deployment cutset/collector"] == "same"
    assert "Namespace cutset" not in uninstalled("inn")
    assert server.snapshot() == alone
    uninstalled("shop")
    assert server.snapshot() == before


def test_one_namespace_of_two_goes_and_the_gateway_stays_for_the_other(server: SmallApiServer) -> None:
    for each in (namespace("payment"), service("card", within="payment"), pod("card-1", within="payment")):
        server.put({"apiVersion": "v1", **each})
    installed(namespaces=("shop", "payment"))
    assert uninstalled("payment") == ["EnvoyFilter payment/cutset-shop", "Telemetry payment/cutset-shop"]
    assert "EnvoyFilter istio-ingress/cutset-shop-gateway-ingress" in uninstalled("shop")


@pytest.mark.parametrize("collector", ["", "otel.obs.svc.cluster.local:4317"])
def test_marking_comes_and_goes_and_leaves_nothing(server: SmallApiServer, collector: str) -> None:
    before = server.snapshot()
    assert installed(marking=True, collector=collector)["Deployment cutset/cutset-marker-shop"] == "created"
    assert set(installed(marking=True, collector=collector).values()) == {"same"}
    uninstalled("shop")
    assert server.snapshot() == before


def test_marking_is_taken_away_by_an_installation_without_it(server: SmallApiServer) -> None:
    installed()
    without = server.snapshot()
    installed(marking=True)
    assert installed()["Service cutset/cutset-marker-shop"] == "removed"
    assert server.snapshot() == without


def test_the_marker_of_another_environment_stays_with_its_namespace(server: SmallApiServer) -> None:
    for each in (namespace("inn"), service("desk", within="inn"), pod("desk-1", within="inn")):
        server.put({"apiVersion": "v1", **each})
    installed(collector="otel.obs.svc.cluster.local:4317", marking=True)
    alone = server.snapshot()
    installed(environment="inn", namespaces=("inn",))
    uninstalled("inn")
    assert server.snapshot() == alone


def test_a_policy_that_still_asks_goes_first_and_the_marker_after_it(
    server: SmallApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marking_found, "TOLD_SECONDS", 0)
    before = server.snapshot()
    installed(marking=True)
    server.put(marking_policy("shop", GATEWAY, [{}]))
    installed(marking=True)  # an impact runs on
    assert POLICY in server.stored
    removed = uninstalled("shop")
    assert removed[0] == "AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress"
    assert removed.index("Service cutset/cutset-marker-shop") < removed.index("ConfigMap istio-system/istio")
    assert server.snapshot() == before


def test_without_marking_no_policy_is_left_that_asks(server: SmallApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking_found, "TOLD_SECONDS", 0)
    installed(marking=True)
    server.put(marking_policy("shop", GATEWAY, [{}]))
    changes = list(installed())
    assert changes.index("AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress") < changes.index(
        "Service cutset/cutset-marker-shop"
    )
    assert POLICY not in server.stored


def test_mesh_config_of_others_is_left_alone_unless_one_insists(server: SmallApiServer) -> None:
    owned = server.stored[MESH]
    owned["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}
    before = server.versions()
    with pytest.raises(UsageError, match="belongs to Helm") as refused:
        installed()
    assert "- name: cutset" in refused.value.hint
    with pytest.raises(UsageError) as refused:
        installed(marking=True)
    assert {"    - name: cutset", "    - name: cutset-marker-shop"} <= set(refused.value.hint.splitlines())
    assert server.versions() == before
    assert installed(force=True)["ConfigMap istio-system/istio"] == "changed"
    uninstalled("shop")
    assert server.stored[MESH]["data"]["mesh"] == owned["data"]["mesh"]


def test_lines_that_were_added_by_hand_are_enough_and_stay(server: SmallApiServer) -> None:
    by_hand = "extensionProviders: [{name: cutset, opentelemetry: {service: %s, port: 4317}}]\n"
    text = by_hand % "collector.cutset.svc.cluster.local"
    server.stored[MESH]["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}
    server.stored[MESH]["data"]["mesh"] = text
    assert installed()["ConfigMap istio-system/istio"] == "same"
    uninstalled("shop")
    assert server.stored[MESH]["data"]["mesh"] == text


def test_what_somebody_else_made_is_not_overwritten(server: SmallApiServer) -> None:
    server.put({"apiVersion": "v1", **service("collector", within="cutset")})
    with pytest.raises(UsageError, match="Service cutset/collector is there and was not made by Cutset"):
        installed()


def test_rights_that_are_missing_are_named(server: SmallApiServer) -> None:
    server.forbidden |= {"patch envoyfilters", "update configmaps"}
    before = server.versions()
    with pytest.raises(UsageError, match=r"patch envoyfilters\.networking\.istio\.io in shop") as refused:
        installed()
    assert "update configmaps `istio` in istio-system" in refused.value.message
    assert server.versions() == before


def test_another_key_is_refused(server: SmallApiServer) -> None:
    installed()
    with pytest.raises(UsageError, match="was installed with another key than yours"):
        installed(public_key=PUBLIC_KEY[:-1] + b"x")
