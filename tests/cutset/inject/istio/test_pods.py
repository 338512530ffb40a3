from typing import Any

import pytest
from tests.samples.cluster_resources import namespace, pod

from cutset.inject.istio.pods import (
    ProxyRole,
    excludes,
    injects,
    is_ambient,
    is_live,
    pod_of,
    role_of,
    why_without_sidecar,
    workload_of,
)


def owned(kind: str, name: str, **labels: str) -> dict[str, Any]:
    made = pod("cart-5d8-abcde", proxy="")
    made["metadata"] |= {
        "labels": {key.replace("_", "-"): value for key, value in labels.items()},
        "generateName": "cart-5d8-",
        "ownerReferences": [{"kind": kind, "name": name, "controller": True}],
    }
    return made


@pytest.mark.parametrize(
    ("made", "workload"),
    [
        (owned("ReplicaSet", "cart-5d8", pod_template_hash="5d8"), "cart"),
        (owned("ReplicaSet", "cart-5d8", rollouts_pod_template_hash="5d8"), "cart"),
        (owned("ReplicaSet", "cart-set"), "cart-set"),
        (owned("StatefulSet", "cart"), "cart"),
        (owned("ReplicationController", "cart-7", deploymentconfig="cart"), "cart"),
        (owned("Job", "tidy-28912345"), "tidy"),
        (pod("cart-0", proxy=""), "cart-0"),
        (pod("cart-0", proxy="", labels={"service.istio.io/workload-name": "cart"}), "cart"),
        (pod("cart-0", "as-injected"), "as-injected"),
    ],
)
def test_a_workload_is_called_as_its_sidecar_calls_itself(made: dict[str, Any], workload: str) -> None:
    assert workload_of(made) == workload


@pytest.mark.parametrize("proxy", ["sidecar", "native"])
def test_a_sidecar_is_a_container_or_an_init_container_that_goes_on(proxy: str) -> None:
    assert pod_of(pod("cart-1", proxy=proxy), namespace()).sidecar


def test_gateways_waypoints_and_bare_pods_have_no_sidecar() -> None:
    roles = [role_of(pod("x-1", proxy=proxy)) for proxy in ("router", "waypoint", "")]
    assert roles == [ProxyRole.GATEWAY, ProxyRole.WAYPOINT, ProxyRole.NONE]
    assert not any(pod_of(pod("x-1", proxy=proxy), None).sidecar for proxy in ("router", "waypoint", ""))


def test_a_pod_that_ends_is_not_ready() -> None:
    ending = pod("cart-1")
    assert pod_of(ending, None).ready
    ending["metadata"]["deletionTimestamp"] = "2026-11-16T00:00:00Z"
    assert not pod_of(ending, None).ready


def test_pods_of_jobs_that_ended_are_not_live() -> None:
    ended = pod("tidy-1")
    assert is_live(ended)
    ended["status"]["phase"] = "Succeeded"
    assert not is_live(ended)


def test_a_pod_is_ambient_by_its_own_label_or_its_namespaces_unless_it_has_a_sidecar() -> None:
    ambient = namespace(**{"istio.io/dataplane-mode": "ambient"})
    assert is_ambient(pod("cart-1", proxy=""), ambient)
    assert not is_ambient(pod("cart-1"), ambient)
    assert not is_ambient(pod("cart-1", proxy="", labels={"istio.io/dataplane-mode": "none"}), ambient)
    assert is_ambient(pod("cart-1", proxy="", annotations={"ambient.istio.io/redirection": "enabled"}), None)


def test_a_namespace_injects_by_its_label_or_by_a_revision() -> None:
    assert injects(namespace())
    assert injects(namespace(**{"istio.io/rev": "canary"}))
    assert not injects(namespace(**{"istio.io/rev": "canary", "istio-injection": "disabled"}))
    assert not injects(namespace(team="a"))


@pytest.mark.parametrize(
    ("made", "where", "reason"),
    [
        (pod("x-1", proxy="", hostNetwork=True), namespace(), "network of its node"),
        (pod("x-1", proxy="", labels={"sidecar.istio.io/inject": "false"}), namespace(), "`sidecar.istio.io/inject"),
        (pod("x-1", proxy="", annotations={"sidecar.istio.io/inject": "false"}), namespace(), "is said of it"),
        (pod("x-1", proxy=""), namespace(team="a"), "namespace shop is not labelled"),
        (pod("x-1", proxy=""), namespace(), "made before injection"),
        (pod("x-1", proxy=""), namespace(**{"istio.io/dataplane-mode": "ambient"}), "ambient"),
    ],
)
def test_why_a_pod_has_no_sidecar_is_told(made: dict[str, Any], where: dict[str, Any], reason: str) -> None:
    assert reason in why_without_sidecar(made, where)


def test_annotations_lead_ports_past_a_sidecar() -> None:
    prefix = "traffic.sidecar.istio.io/"
    assert not excludes(pod("x-1"), 8080)
    assert excludes(pod("x-1", annotations={f"{prefix}excludeInboundPorts": "9090, 8080"}), 8080)
    assert excludes(pod("x-1", annotations={f"{prefix}includeInboundPorts": "9090"}), 8080)
    assert not excludes(pod("x-1", annotations={f"{prefix}includeInboundPorts": "*"}), 8080)
