"""`cutset install`, `status` and `uninstall` on a real control plane with real sidecars under strict mTLS."""

from collections.abc import Iterator
from typing import Any

import pytest
from cluster.api import Resource
from cluster.control_plane import named
from cluster.shops import kubernetes_gateway, namespace, route, strict, workload
from tests.istio.conftest import Laboratory, eventually
from tests.istio.cutset_command import CutsetCommand, changes, everything, managers

MESH_CONFIG = "/api/v1/namespaces/istio-system/configmaps/istio"
FOREIGN: dict[str, Any] = {"key": b"a shared key, which sidecars of Istio do not know"}
DETECTION = {
    "consecutive5xxErrors": 3,
    "interval": "1s",
    "baseEjectionTime": "5s",
    "maxEjectionPercent": 100,
    "minHealthPercent": 0,
}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> CutsetCommand:
    return CutsetCommand(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def installed(laboratory: Laboratory, command: CutsetCommand) -> Iterator[dict[str, Any]]:
    found = command.document("install", "-n", "shop")
    for point in ("frontend/GET /", "backend/GET /", "quote/Say"):
        _used_up(laboratory, command, point)
    yield found
    command.run("uninstall", "-n", "shop")


def _used_up(laboratory: Laboratory, command: CutsetCommand, point: str) -> None:
    """Connections from before, each of which carries one more request past the filter."""
    for _ in range(4):
        eventually(lambda: laboratory.ask(headers=command.plan(point))[0] != 200)


def pods_of(laboratory: Laboratory) -> dict[str, tuple[str, int]]:
    """With how often their containers were started again."""
    found = {}
    for space in ("shop", "istio-ingress"):
        for pod in laboratory.pods(space):
            restarts = sum(each.get("restartCount", 0) for each in pod["status"].get("containerStatuses", ()))
            found[pod["metadata"]["name"]] = (pod["metadata"]["uid"], restarts)
    return found


def remove(laboratory: Laboratory, *resources: Resource) -> None:
    for each in resources:
        laboratory.api.call("DELETE", laboratory.api.address(each))


def test_it_comes_and_goes_and_leaves_nothing(laboratory: Laboratory, command: CutsetCommand) -> None:
    eventually(lambda: laboratory.ask()[0] == 200)
    before, pods = everything(laboratory.api), pods_of(laboratory)
    text = laboratory.api.get(MESH_CONFIG)["data"]["mesh"]
    found = command.document("install", "-n", "shop")
    assert found["unproven"] == {}
    assert found["proven"] == found["pods"] == len(laboratory.pods("shop"))
    assert "by cutset install" in laboratory.api.get(MESH_CONFIG)["data"]["mesh"]
    # A connection that was open before carries one more request past the filter.
    eventually(lambda: laboratory.ask(headers=command.plan("backend/GET /:abort(503)"))[0] == 502)

    gone = command.document("uninstall", "-n", "shop")
    assert (gone["obeying"], gone["stays"]) == ({}, "")
    eventually(lambda: laboratory.ask(headers=command.plan("backend/GET /:abort(503)"))[0] == 200)
    assert laboratory.api.get(MESH_CONFIG)["data"]["mesh"] == text
    assert "cutset" not in managers(laboratory.api, MESH_CONFIG)
    assert changes(before, everything(laboratory.api)) == {}
    assert pods_of(laboratory) == pods


def test_a_dry_run_and_files_change_nothing(laboratory: Laboratory, command: CutsetCommand) -> None:
    before = everything(laboratory.api)
    found = command.document("install", "-n", "shop", "--dry-run")
    assert {"resource": "EnvoyFilter shop/cutset-shop", "change": "created"} in found["resources"]
    assert "kind: EnvoyFilter" in command.run("install", "-n", "shop", "--print").stdout
    assert changes(before, everything(laboratory.api)) == {}


def test_what_cannot_be_is_said_and_nothing_is_done(laboratory: Laboratory, command: CutsetCommand) -> None:
    before = everything(laboratory.api)
    assert "Did you mean `shop`?" in command.run("install", "-n", "shopp", expected=2).stderr
    theirs = named("Telemetry", "theirs", "shop", "telemetry.istio.io/v1", spec={"tracing": [{}]})
    laboratory.api.apply(theirs)
    assert "--keep-tracing" in command.run("install", "-n", "shop", expected=2).stderr
    remove(laboratory, theirs)
    assert "whole mesh" in command.run("install", "-n", "istio-system", expected=2).stderr
    assert changes(before, everything(laboratory.api)) == {}


def test_mesh_config_of_helm_is_left_to_it_unless_one_insists(laboratory: Laboratory, command: CutsetCommand) -> None:
    owned = laboratory.api.get(MESH_CONFIG)
    label = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}}
    laboratory.api.call("PATCH", MESH_CONFIG, label, "application/merge-patch+json")
    refused = command.run("install", "-n", "shop", expected=2).stderr
    assert "belongs to Helm" in refused
    assert "- name: cutset" in refused
    command.run("install", "-n", "shop", "--force-meshconfig", "--no-wait")
    command.run("uninstall", "-n", "shop", "--no-wait")
    assert laboratory.api.get(MESH_CONFIG)["data"] == owned["data"]
    label = {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}
    laboratory.api.call("PATCH", MESH_CONFIG, label, "application/merge-patch+json")
    eventually(lambda: laboratory.api.find("/api/v1/namespaces/cutset") is None)


@pytest.mark.usefixtures("installed")
def test_faults_fire_for_their_request_and_nobody_else(laboratory: Laboratory, command: CutsetCommand) -> None:
    status, body = laboratory.ask(headers=command.plan("backend/GET /:abort(503)"))
    assert status == 502
    assert [laboratory.ask()[0] for _ in range(20)] == [200] * 20
    assert laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"))[0] == 418
    status, body = laboratory.ask(headers=command.plan("quote/Say:grpc(14)"))
    assert status == 502
    status, body = laboratory.ask(headers=command.plan())
    assert status == 200
    seen = {name.lower(): text for name, text in body["called"][0]["body"]["saw"].items()}
    assert not [name for name in seen if name.startswith(("x-cutset", "x-envoy-fault"))]
    assert "x-client-trace-id" not in seen
    assert "cutset=" in seen["tracestate"]


@pytest.mark.usefixtures("installed")
def test_what_others_sign_does_nothing_and_does_not_get_in(laboratory: Laboratory, command: CutsetCommand) -> None:
    for wrong in (FOREIGN, {"environment": "inn", "key": command.key("shop")}):
        status, body = laboratory.ask(headers=command.plan("frontend/GET /:abort(418)", **wrong))
        assert status == 200
        assert "cutset" not in str(body["saw"])


@pytest.mark.usefixtures("installed")
def test_the_second_time_nothing_changes(laboratory: Laboratory, command: CutsetCommand) -> None:
    def versions() -> dict[str, str]:
        found = {}
        for path in (
            "/apis/networking.istio.io/v1alpha3/envoyfilters",
            "/apis/telemetry.istio.io/v1/telemetries",
            "/api/v1/namespaces/cutset/services",
            "/api/v1/namespaces/istio-system/configmaps",
        ):
            for each in laboratory.api.get(path)["items"]:
                metadata = each["metadata"]
                found[f"{path} {metadata['namespace']}/{metadata['name']}"] = metadata["resourceVersion"]
        return found

    before = versions()
    again = command.document("install", "-n", "shop")
    assert {each["change"] for each in again["resources"]} == {"same"}
    assert versions() == before
    assert command.document("status")["current"]


@pytest.mark.usefixtures("installed")
def test_plans_are_let_in_or_dropped_at_gateways_of_the_gateway_api_too(
    laboratory: Laboratory, command: CutsetCommand
) -> None:
    made = kubernetes_gateway("shop", "frontend", 8080)
    laboratory.api.apply(*made)
    pods = eventually(lambda: laboratory.pods("shop", "gateway.networking.k8s.io/gateway-name=kubernetes"))
    url = f"http://{pods[0]['status']['podIP']}:80"
    eventually(lambda: laboratory.ask(url=url)[0] == 200)
    names = [each["resource"] for each in command.document("install", "-n", "shop")["resources"]]
    assert "EnvoyFilter shop/cutset-shop-gateway-kubernetes-istio" in names

    def stripped() -> bool:
        return "cutset" not in str(laboratory.ask(headers=command.plan("frontend/GET /", **FOREIGN), url=url)[1]["saw"])

    eventually(stripped)
    assert laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"), url=url)[0] == 418
    remove(laboratory, *made)
    eventually(lambda: not laboratory.pods("shop", "gateway.networking.k8s.io/gateway-name=kubernetes"))
    found = command.document("install", "-n", "shop")["resources"]
    removed = {"resource": "EnvoyFilter shop/cutset-shop-gateway-kubernetes-istio", "change": "removed"}
    assert removed in found


@pytest.mark.usefixtures("installed")
def test_no_plan_at_all_comes_in_if_all_are_stripped(laboratory: Laboratory, command: CutsetCommand) -> None:
    command.run("install", "-n", "shop", "--strip-all")
    plan = command.plan("frontend/GET /:abort(418)")
    eventually(lambda: laboratory.ask(headers=plan)[0] == 200)
    assert "cutset" not in str(laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"))[1]["saw"])
    command.run("install", "-n", "shop")
    eventually(lambda: laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"))[0] == 418)


def ejected(laboratory: Laboratory, cluster: str) -> int:
    (pod,) = laboratory.pods("shop", "app=frontend")
    lines = laboratory.proxy("shop", pod["metadata"]["name"], "/clusters").splitlines()
    return sum(line.startswith(cluster) and "failed_outlier_check" in line for line in lines)


@pytest.mark.usefixtures("installed")
def test_injected_failures_eject_nobody_and_real_ones_still_do(laboratory: Laboratory, command: CutsetCommand) -> None:
    rules = [
        named(
            "DestinationRule",
            name,
            "shop",
            "networking.istio.io/v1",
            spec={"host": name, "trafficPolicy": {"outlierDetection": DETECTION}},
        )
        for name in ("backend", "quote")
    ]
    laboratory.api.apply(*rules)
    names = [each["resource"] for each in command.document("install", "-n", "shop")["resources"]]
    assert "EnvoyFilter shop/cutset-shop-outliers" in names
    (pod,) = laboratory.pods("shop", "app=frontend")
    dump = "/config_dump?resource=dynamic_active_clusters"
    eventually(lambda: "cutset.hide" in laboratory.proxy("shop", pod["metadata"]["name"], dump))
    eventually(lambda: "error_matcher" in laboratory.proxy("shop", pod["metadata"]["name"], dump))

    for _ in range(8):
        assert laboratory.ask(headers=command.plan("backend/GET /:abort(500)"))[0] == 502
        status, body = laboratory.ask(headers=command.plan("quote/Say:grpc(14)"))
        assert status == 502, body
    assert (ejected(laboratory, "outbound|8080||backend"), ejected(laboratory, "outbound|9090||quote")) == (0, 0)
    # The caller's sidecar retries what it retried before, although the status comes under another name.
    assert laboratory.ask(headers=command.plan("quote/Say:grpc(14),attempts=1"))[0] == 200
    assert laboratory.ask()[0] == 200

    for _ in range(12):
        laboratory.ask("/fail")
    assert ejected(laboratory, "outbound|8080||backend") > 0
    remove(laboratory, *rules)
    changed = command.document("install", "-n", "shop")["resources"]
    assert {"resource": "EnvoyFilter shop/cutset-shop-outliers", "change": "removed"} in changed
    eventually(lambda: laboratory.ask()[0] == 200)


def _of_inn(resource: Resource) -> Resource:
    """A route for the guests of the inn alone."""
    spec = resource["spec"]
    if resource["kind"] == "Gateway":
        return {**resource, "spec": {**spec, "servers": [{**spec["servers"][0], "hosts": ["inn.example"]}]}}
    return {**resource, "spec": {**spec, "hosts": ["inn.example"]}}


@pytest.mark.usefixtures("installed")
def test_environments_are_side_by_side_behind_one_gateway(laboratory: Laboratory, command: CutsetCommand) -> None:
    service = ["python", "-m", "cluster.shop_service", "http", "8080"]
    inn = [
        namespace("inn"),
        strict("inn"),
        *workload("inn", "desk", service, 8080),
        *map(_of_inn, route("inn", "desk", 8080)),
    ]
    laboratory.api.apply(*inn)
    guest = {"host": "inn.example"}
    eventually(lambda: laboratory.ask(headers=guest)[0] == 200)
    found = command.document("install", "-n", "inn")
    assert {"resource": "Deployment cutset/collector", "change": "same"} in found["resources"]
    assert [each["name"] for each in command.document("status")["environments"]] == ["inn", "shop"]

    of_inn = command.plan("desk/GET /:abort(418)", environment="inn")
    eventually(lambda: laboratory.ask(headers={**of_inn, **guest})[0] == 418)  # the pods were asked, not the gateway
    assert laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"))[0] == 418
    wrong = command.plan("frontend/GET /:abort(418)", environment="inn")
    assert laboratory.ask(headers=wrong)[0] == 200

    command.run("uninstall", "-n", "inn")
    eventually(lambda: laboratory.ask(headers={**command.plan("desk/GET /", environment="inn"), **guest})[0] == 200)
    assert laboratory.ask(headers=command.plan("frontend/GET /:abort(418)"))[0] == 418
    remove(laboratory, inn[0])
    eventually(lambda: laboratory.api.find("/api/v1/namespaces/inn") is None)


@pytest.mark.usefixtures("installed")
def test_no_sidecar_rejected_anything_and_no_filter_failed(laboratory: Laboratory) -> None:
    for space in ("shop", "istio-ingress", "cutset"):
        for pod in laboratory.pods(space):
            stats = laboratory.proxy(space, pod["metadata"]["name"], "/stats?filter=update_rejected")
            assert not [line for line in stats.splitlines() if not line.endswith(": 0")]
    for log in (laboratory.run / "logs").glob("*"):
        assert "script log" not in log.read_text(errors="replace"), log
