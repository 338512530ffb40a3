"""The laboratory is a cluster: what the other tests stand on."""

import pytest
from cluster.control_plane import named
from cluster.shops import kubernetes_gateway
from tests.istio.conftest import Laboratory, eventually

pytestmark = pytest.mark.usefixtures("laboratory")


def _names(laboratory: Laboratory, app: str) -> set[str]:
    return {each["metadata"]["name"] for each in laboratory.pods(laboratory.namespace, f"app={app}")}


def _answering(laboratory: Laboratory) -> set[str]:
    """The backends behind twenty requests, all of which are answered."""
    answers = [laboratory.ask() for _ in range(20)]
    assert {status for status, _ in answers} == {200}
    return {body["called"][0]["body"]["service"] for _, body in answers}


def test_the_shop_answers_through_the_gateway_under_strict_mtls(laboratory: Laboratory) -> None:
    status, body = laboratory.ask()
    assert status == 200
    assert "spiffe://cluster.local/ns/istio-ingress/sa/ingress" in body["saw"]["x-forwarded-client-cert"]
    assert "/ns/shop/sa/frontend" in body["called"][0]["body"]["saw"]["x-forwarded-client-cert"]
    assert body["called"][1]["status"] == "OK"


def test_who_has_no_certificate_is_refused(laboratory: Laboratory) -> None:
    frontend = laboratory.pods(laboratory.namespace, "app=frontend")[0]["status"]["podIP"]
    with pytest.raises(OSError, match=r"reset|refused"):
        laboratory.ask(url=f"http://{frontend}:8080")


def test_replicas_share_the_load(laboratory: Laboratory) -> None:
    assert _answering(laboratory) == _names(laboratory, "backend")
    assert len(_names(laboratory, "backend")) == 2


def test_a_rollout_replaces_the_pods_and_nobody_notices(laboratory: Laboratory) -> None:
    before = _names(laboratory, "backend")
    template = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}}
    address = f"/apis/apps/v1/namespaces/{laboratory.namespace}/deployments/backend"
    laboratory.api.call("PATCH", address, {"spec": {"template": template}}, "application/strategic-merge-patch+json")

    def replaced() -> bool:
        assert laboratory.ask()[0] == 200
        now = _names(laboratory, "backend")
        return len(now) == 2 and not now & before

    eventually(replaced)
    eventually(lambda: _answering(laboratory) == _names(laboratory, "backend"))


def test_a_deleted_pod_comes_back_under_another_name(laboratory: Laboratory) -> None:
    before = _names(laboratory, "quote")
    for pod in before:
        laboratory.api.call("DELETE", f"/api/v1/namespaces/{laboratory.namespace}/pods/{pod}")
    eventually(lambda: (now := _names(laboratory, "quote")) and not now & before)
    eventually(lambda: laboratory.ask()[0] == 200)


@pytest.mark.parametrize(("code", "condition"), [(0, "Complete"), (3, "Failed")])
def test_a_job_ends_although_its_pod_has_a_sidecar(laboratory: Laboratory, code: int, condition: str) -> None:
    name = f"job-{code}"
    command = f"curl --retry 20 --retry-all-errors -sf http://backend:8080/ && cat /etc/paper/text && exit {code}"
    container = {
        "name": "job",
        "image": "laboratory/machine",
        "command": ["sh", "-c", command],
        "volumeMounts": [{"name": "paper", "mountPath": "/etc/paper"}],
    }
    pod = {"restartPolicy": "Never", "containers": [container]}
    pod["volumes"] = [{"name": "paper", "configMap": {"name": "paper"}}]
    job = named("Job", name, "shop", "batch/v1", spec={"backoffLimit": 0, "template": {"spec": pod}})
    laboratory.api.apply(named("ConfigMap", "paper", "shop", data={"text": "as written"}), job)

    def conditions() -> set[str]:
        status = laboratory.api.get(laboratory.api.address(job)).get("status", {})
        return {each["type"] for each in status.get("conditions") or [] if each["status"] == "True"}

    assert condition in eventually(lambda: conditions() & {"Complete", "Failed"})
    [log] = laboratory.run.glob(f"logs/shop_{name}-*_job.log")
    assert log.read_text().endswith("as written")


def test_the_gateway_api_leads_to_the_shop_too(laboratory: Laboratory) -> None:
    laboratory.api.apply(*kubernetes_gateway("shop", "frontend", 8080))
    pods = eventually(lambda: laboratory.pods("shop", "gateway.networking.k8s.io/gateway-name=kubernetes"))
    url = f"http://{pods[0]['status']['podIP']}:80"
    eventually(lambda: laboratory.ask(url=url)[0] == 200)


def test_no_envoy_rejected_anything(laboratory: Laboratory) -> None:
    for namespace in ("shop", "istio-ingress"):
        pods = laboratory.pods(namespace)
        assert pods
        for pod in pods:
            stats = laboratory.proxy(namespace, pod["metadata"]["name"], "/stats?filter=update_(rejected|success)")
            counted = dict(line.split(": ") for line in stats.splitlines())
            assert counted["listener_manager.lds.update_success"] != "0"
            assert {name: count for name, count in counted.items() if "rejected" in name and count != "0"} == {}
