from typing import Any

import pytest
from tests.samples.cluster_resources import namespace, pod, resource, service, shop
from tests.samples.installations import installation

from cutset.errors import UsageError
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.marks import ENVIRONMENT, label, marked
from cutset.inject.istio.planning import InstallPlan, install_plan
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource


def planned(more: dict[str, list[Resource]] | None = None, **options: Any) -> InstallPlan:
    listed = shop() | (more or {})
    wanted = installation(**options)
    return install_plan(wanted, view_of(listed, wanted.namespaces), listed)


def mesh(text: str) -> dict[str, list[Resource]]:
    return {"ConfigMap": [{**resource("ConfigMap", "istio", {}), "data": {"mesh": text}}]}


def test_all_that_is_installed_in_the_order_of_its_application() -> None:
    found = planned()
    assert [named(each) for each in found.resources] == [
        "Namespace cutset",
        "ServiceAccount cutset/collector",
        "Service cutset/collector",
        "Deployment cutset/collector",
        "Telemetry shop/cutset-shop",
        "EnvoyFilter istio-ingress/cutset-shop-gateway-ingress",
        "EnvoyFilter shop/cutset-shop",
    ]
    assert {label(each, ENVIRONMENT) for each in found.resources[4:]} == {"shop"}
    assert [each["name"] for each in found.entries] == ["cutset"]


def test_what_is_the_same_is_planned_the_same() -> None:
    assert planned() == planned()


def test_several_namespaces_are_one_environment() -> None:
    more = {
        "Namespace": [namespace(), namespace("payment")],
        "Service": [service("frontend"), service("card", within="payment")],
        "Pod": [pod("frontend-1"), pod("card-1", within="payment")],
    }
    found = planned(more, namespaces=("shop", "payment"))
    assert [named(each) for each in found.resources if each["kind"] == "EnvoyFilter"] == [
        "EnvoyFilter shop/cutset-shop",
        "EnvoyFilter payment/cutset-shop",
    ]


def test_a_team_that_keeps_its_tracing_gets_filters_only() -> None:
    theirs = resource("Telemetry", "mesh", {"tracing": [{}]}, "istio-system")
    found = planned({"Telemetry": [theirs]}, keep_tracing=True)
    assert {each["kind"] for each in found.resources} == {"EnvoyFilter"}
    assert found.entries == ()


def test_another_collector_needs_none_of_ours() -> None:
    found = planned(collector="otel.obs.svc.cluster.local:4317")
    assert {each["kind"] for each in found.resources} == {"EnvoyFilter", "Telemetry"}
    assert found.entries == (
        {"name": "cutset-shop", "opentelemetry": {"service": "otel.obs.svc.cluster.local", "port": 4317}},
    )


def test_who_wants_live_requests_marked_gets_a_marker_and_its_provider_and_no_policy() -> None:
    found = planned(marking=True)
    assert [named(each) for each in found.resources][5:10] == [
        f"{kind} cutset/cutset-marker-shop"
        for kind in ("ServiceAccount", "AuthorizationPolicy", "Service", "DestinationRule", "Deployment")
    ]
    assert [each["name"] for each in found.entries] == ["cutset", "cutset-marker-shop"]


def test_the_marker_needs_no_collector_of_ours() -> None:
    found = planned(marking=True, collector="otel.obs.svc.cluster.local:4317")
    assert [each["kind"] for each in found.resources].count("Namespace") == 1
    assert "Deployment cutset/cutset-marker-shop" in [named(each) for each in found.resources]
    assert [each["name"] for each in found.entries] == ["cutset-shop", "cutset-marker-shop"]


def test_what_could_not_be_marked_is_refused() -> None:
    with pytest.raises(UsageError, match="`--strip-all` gateways drop"):
        planned(marking=True, strip_all=True)
    with pytest.raises(UsageError, match="No ingress gateway"):
        planned({"Gateway": []}, marking=True)
    with pytest.raises(UsageError, match="`--keep-tracing` gateways may trace"):
        planned(marking=True, keep_tracing=True)
    theirs = resource("Telemetry", "theirs", {"tracing": [{}]}, "istio-ingress")
    with pytest.raises(UsageError, match="lets the gateway istio-ingress/ingress trace"):
        planned({"Telemetry": [theirs]}, marking=True)


@pytest.mark.parametrize(
    ("within", "spec"),
    [("shop", {"tracing": [{}]}), ("istio-system", {"tracing": [{}]}), ("shop", {"accessLogging": [{}]})],
)
def test_tracing_of_the_team_is_never_displaced(within: str, spec: Resource) -> None:
    with pytest.raises(UsageError) as refused:
        planned({"Telemetry": [resource("Telemetry", "theirs", spec, within)]})
    assert f"Telemetry {within}/theirs" in refused.value.message
    assert "--keep-tracing" in refused.value.hint


def test_nor_the_default_provider_of_the_mesh() -> None:
    with pytest.raises(UsageError, match="`tempo`"):
        planned(mesh("defaultProviders: {tracing: [tempo]}"))


def test_logs_of_one_workload_or_of_other_namespaces_are_no_hindrance() -> None:
    of_one = resource("Telemetry", "logs", {"selector": {"matchLabels": {"app": "x"}}, "accessLogging": [{}]})
    assert planned({"Telemetry": [of_one, resource("Telemetry", "x", {"tracing": [{}]}, "other")]}).resources


def test_the_namespace_of_the_mesh_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="concerns the whole mesh"):
        planned(namespaces=("istio-system",))


def test_a_namespace_without_sidecars_is_refused_with_the_reason() -> None:
    bare = {"Pod": [pod("frontend-1", proxy="")], "Namespace": [namespace(other="x")]}
    with pytest.raises(UsageError, match="not labelled `istio-injection: enabled`") as refused:
        planned(bare)
    assert refused.value.hint == "`kubectl label namespace shop istio-injection=enabled`, then restart its workloads"


def test_a_namespace_belongs_to_one_environment() -> None:
    other = marked(resource("EnvoyFilter", "cutset-else", {"configPatches": []}), "else")
    with pytest.raises(UsageError, match="belongs to the environment `else`"):
        planned({"EnvoyFilter": [other]})


def test_environments_share_gateways() -> None:
    spec = {"configPatches": [], "workloadSelector": {"labels": {"istio": "ingressgateway"}}}
    other = marked(resource("EnvoyFilter", "cutset-else-gateway-x", spec), "else")
    assert planned({"EnvoyFilter": [other]}).resources


def test_callers_and_gateways_look_away_from_injected_failures() -> None:
    rule = resource("DestinationRule", "front", {"host": "frontend", "trafficPolicy": {"outlierDetection": {}}})
    names = [named(each) for each in planned({"DestinationRule": [rule]}).resources]
    assert "EnvoyFilter shop/cutset-shop-outliers" in names
    assert "EnvoyFilter istio-ingress/cutset-shop-outliers-ingress" in names


def test_what_the_user_should_know_is_told() -> None:
    more = {
        "EnvoyFilter": [resource("EnvoyFilter", "wasm", {"configPatches": []})],
        "Sidecar": [resource("Sidecar", "default", {"egress": [{"hosts": ["./*", "istio-system/*"]}]})],
        "Gateway": [],
        "VirtualService": [],
    }
    notes = "\n".join(planned(more).notes)
    assert "EnvoyFilter shop/wasm patches the same sidecars" in notes
    assert "Sidecar shop/default leaves out `cutset/*`" in notes
    assert "No ingress gateway leads there" in notes
    assert "flush_interval_ms" in notes
    quick = 'defaultConfig: {runtimeValues: {tracing.opentelemetry.flush_interval_ms: "20"}}'
    assert "flush" not in "\n".join(planned(mesh(quick)).notes)


def test_an_istio_that_was_not_tested_is_told() -> None:
    old = pod("frontend-1")
    old["spec"]["containers"][1]["image"] = "istio/proxyv2:1.22.3"
    assert any("Istio is 1.22.3" in note for note in planned({"Pod": [old]}).notes)
    assert not any("Istio is" in note for note in planned().notes)


def test_the_sidecar_of_the_collector_is_of_the_applications_revision() -> None:
    found = planned({"Namespace": [namespace(**{"istio.io/rev": "canary"})]})
    assert found.resources[0]["metadata"]["labels"]["istio.io/rev"] == "canary"
