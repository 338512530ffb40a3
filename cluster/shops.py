"""What runs in the laboratory: a small shop of three services under strict mTLS, and a gateway that leads to it."""

from pathlib import Path

import httpx

from cluster.api import Api, Resource
from cluster.control_plane import named
from cluster.network import pod_namespace
from cluster.processes import LaboratoryError, Place, wait_for

ISTIO = "networking.istio.io/v1"
GATEWAYS = "istio-ingress"
NAMESPACE = "shop"
PROJECT = Path(__file__).parents[1]


def namespace(name: str) -> Resource:
    return named("Namespace", name, labels={"istio-injection": "enabled"})


def strict(name: str) -> Resource:
    return named("PeerAuthentication", "default", name, "security.istio.io/v1", spec={"mtls": {"mode": "STRICT"}})


def workload(
    space: str, name: str, command: list[str], port: int, *, protocol: str = "http", replicas: int = 1,
    env: dict[str, str] | None = None,
) -> list[Resource]:  # fmt: skip
    """A Deployment with an account of its own, and its Service, whose port says the protocol."""
    values = [{"name": key, "value": value} for key, value in (env or {}).items()]
    container = {
        "name": name, "image": "laboratory/machine", "command": command, "ports": [{"containerPort": port}],
        "workingDir": str(PROJECT), "env": values,
    }  # fmt: skip
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"serviceAccountName": name, "containers": [container]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    ports = [{"name": protocol, "port": port, "targetPort": port, "appProtocol": protocol}]
    return [
        named("ServiceAccount", name, space),
        named("Service", name, space, labels={"app": name}, spec={"selector": {"app": name}, "ports": ports}),
        named("Deployment", name, space, "apps/v1", labels={"app": name}, spec=spec),
    ]


def small_shop(space: str = NAMESPACE) -> list[Resource]:
    service = ["python", "-m", "cluster.shop_service"]
    return [
        namespace(space),
        strict(space),
        *workload(space, "backend", [*service, "http", "8080"], 8080, replicas=2),
        *workload(space, "quote", [*service, "grpc", "9090"], 9090, protocol="grpc"),
        *workload(space, "frontend", [*service, "http", "8080", "http://backend:8080", "grpc://quote:9090"], 8080),
    ]


def ingress_gateway(name: str = "ingress") -> list[Resource]:
    """As Istio's documentation has it: a Deployment whose only container is injected by the template `gateway`."""
    labels = {"app": name, "istio": name}
    template = {
        "metadata": {
            "labels": {**labels, "sidecar.istio.io/inject": "true"},
            "annotations": {"inject.istio.io/templates": "gateway"},
        },
        "spec": {"serviceAccountName": name, "containers": [{"name": "istio-proxy", "image": "auto"}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    ports = [{"name": "http2", "port": 80, "targetPort": 80}]
    return [
        named("Namespace", GATEWAYS),
        named("ServiceAccount", name, GATEWAYS),
        named("Service", name, GATEWAYS, labels=labels, spec={"selector": labels, "ports": ports}),
        named("Deployment", name, GATEWAYS, "apps/v1", labels=labels, spec=spec),
    ]


def route(
    space: str, service: str, port: int, *, gateway: str = "ingress", retries: Resource | None = None
) -> list[Resource]:
    """From a gateway's port 80 to a service, by Istio's own resources."""
    server = {"port": {"number": 80, "name": "http", "protocol": "HTTP"}, "hosts": ["*"]}
    rule: Resource = {"route": [{"destination": {"host": service, "port": {"number": port}}}]}
    rule |= {"retries": retries} if retries else {}
    way = {"hosts": ["*"], "gateways": [gateway], "http": [rule]}
    return [
        named("Gateway", gateway, space, ISTIO, spec={"selector": {"istio": gateway}, "servers": [server]}),
        named("VirtualService", gateway, space, ISTIO, spec=way),
    ]


def kubernetes_gateway(space: str, service: str, port: int) -> list[Resource]:
    """The same by the Gateway API: istiod itself makes the gateway's Deployment and Service."""
    version = "gateway.networking.k8s.io/v1"
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "Same"}}}
    annotations = {"networking.istio.io/service-type": "ClusterIP"}
    rules = [{"backendRefs": [{"name": service, "port": port}]}]
    return [
        named(
            "Gateway", "kubernetes", space, version, annotations=annotations,
            spec={"gatewayClassName": "istio", "listeners": [listener]},
        ),
        named("HTTPRoute", service, space, version, spec={"parentRefs": [{"name": "kubernetes"}], "rules": rules}),
    ]  # fmt: skip


def wait_until_available(place: Place, api: Api) -> None:
    """Until every Deployment has all its pods ready."""

    def missing() -> list[str]:
        return [
            f"{each['metadata']['namespace']}/{each['metadata']['name']}"
            for each in api.get("/apis/apps/v1/deployments")["items"]
            if each.get("status", {}).get("observedGeneration") != each["metadata"]["generation"]
            or each["status"].get("availableReplicas", 0) < each["spec"]["replicas"]
            or each["status"].get("replicas", 0) > each["spec"]["replicas"]
        ]

    try:
        wait_for("the Deployments", lambda: not missing(), place.run / "logs")
    except LaboratoryError as error:
        raise LaboratoryError(
            "\n".join([f"{error}; missing: {', '.join(missing())}", *_complaints(place, api)])
        ) from error


def _complaints(place: Place, api: Api) -> list[str]:
    """The last words of every container that is not ready."""
    said = []
    for pod in api.get("/api/v1/pods")["items"]:
        space, name, status = pod["metadata"]["namespace"], pod["metadata"]["name"], pod.get("status", {})
        for each in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
            if not each["ready"] and each["state"].get("terminated", {}).get("exitCode") != 0:
                log = place.log(f"{pod_namespace(space, name)}_{each['name']}")
                lines = log.read_text(errors="replace").splitlines() if log.exists() else []
                why = each["state"].get("waiting", {}).get("message") or "".join(lines[-1:]) or "nothing"
                said.append(f"  {space}/{name} {each['name']} says: {why}")
    return said


def is_ready(pod: Resource) -> bool:
    """And stays: a pod that is being ended counts no more."""
    conditions = pod.get("status", {}).get("conditions") or []
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def gateway_url(place: Place, api: Api, gateway: str) -> str:
    """Where users enter; they are answered from now on."""
    pods = api.get(f"/api/v1/namespaces/{GATEWAYS}/pods?labelSelector=istio={gateway}")["items"]
    [address, *_] = [each["status"]["podIP"] for each in pods if is_ready(each)]

    def answers() -> bool:
        try:
            return httpx.get(f"http://{address}", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    wait_for(f"the shop behind gateway {gateway}", answers, place.run / "logs")
    return f"http://{address}"
