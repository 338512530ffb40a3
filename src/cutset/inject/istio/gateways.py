"""The ingress gateways that lead to some namespaces, of Istio's own Gateways and of the Gateway API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cutset.inject.istio.pods import ProxyRole, is_live, pod_of, role_of
from cutset.inject.istio.ports import port_of
from cutset.model.cluster import ClusterGateway, Resource

GATEWAY_NAME = "gateway.networking.k8s.io/gateway-name"  # the label of pods that istiod makes for a Gateway
Listed = Mapping[str, Sequence[Resource]]  # by kind, as `cutset.kubernetes.kinds` calls it


def gateways_of(listed: Listed, namespaces: Sequence[str]) -> tuple[ClusterGateway, ...]:
    """By the Services in front of their pods, or by their workloads where there is none."""
    chosen = list(selectors(listed, namespaces))
    routers = [each for each in listed.get("Pod", ()) if role_of(each) is ProxyRole.GATEWAY and is_live(each)]
    leading = [
        pod
        for pod in routers
        if any(_selects(labels, pod) and where in ("", pod["metadata"]["namespace"]) for where, labels in chosen)
    ]
    found: dict[tuple[str, str], ClusterGateway] = {}
    fronted: set[tuple[str, str]] = set()
    for service in listed.get("Service", ()):
        behind = [pod for pod in leading if takes(service, pod)]
        if behind and service["spec"].get("clusterIP") != "None":
            gateway = _gateway(service["metadata"], service["spec"]["selector"], service["spec"]["ports"], behind)
            found.setdefault((gateway.namespace, gateway.name), gateway)
            fronted |= {_key(pod) for pod in behind}
    for pod in leading:
        if _key(pod) not in fronted:
            metadata = {"namespace": pod["metadata"]["namespace"], "name": pod_of(pod, None).workload}
            alike = [each for each in leading if pod_of(each, None).workload == metadata["name"]]
            labels = {name: text for name, text in pod["metadata"].get("labels", {}).items() if "hash" not in name}
            found.setdefault((metadata["namespace"], metadata["name"]), _gateway(metadata, labels, [], alike))
    return tuple(gateway for _, gateway in sorted(found.items()))


def selectors(listed: Listed, namespaces: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Of the pods of gateways that lead there: a namespace, or none for all, and labels."""
    istio = set(_of_istio(listed, namespaces))
    for gateway in listed.get("Gateway", ()):
        if _key(gateway) in istio or gateway["metadata"]["namespace"] in namespaces:
            yield "", gateway["spec"].get("selector", {})
    api = set(_of_gateway_api(listed, namespaces))
    for gateway in listed.get("KubernetesGateway", ()):
        waypoint = "waypoint" in gateway["spec"].get("gatewayClassName", "")
        if not waypoint and (_key(gateway) in api or gateway["metadata"]["namespace"] in namespaces):
            yield gateway["metadata"]["namespace"], {GATEWAY_NAME: gateway["metadata"]["name"]}


def leading_routes(listed: Listed, kind: str, namespaces: Sequence[str]) -> list[Resource]:
    """The VirtualServices or HTTPRoutes by which requests get to these namespaces."""
    hosts = _hosts if kind == "VirtualService" else _backends
    return [each for each in listed.get(kind, ()) if set(hosts(each)) & set(namespaces)]


def _of_istio(listed: Listed, namespaces: Sequence[str]) -> Iterator[tuple[str, str]]:
    for route in leading_routes(listed, "VirtualService", namespaces):
        for name in route["spec"].get("gateways", ()):
            if name != "mesh":
                namespace, _, own = name.rpartition("/")
                yield namespace or route["metadata"]["namespace"], own


def _of_gateway_api(listed: Listed, namespaces: Sequence[str]) -> Iterator[tuple[str, str]]:
    for route in leading_routes(listed, "HTTPRoute", namespaces):
        for parent in route["spec"].get("parentRefs", ()):
            if parent.get("kind", "Gateway") == "Gateway":
                yield parent.get("namespace", route["metadata"]["namespace"]), parent["name"]


def _hosts(route: Resource) -> Iterator[str]:
    """The namespaces of what a VirtualService leads to. A short name is one of its own namespace."""
    for rule in route["spec"].get("http", ()):
        for each in rule.get("route", ()):
            parts = str(each["destination"]["host"]).split(".")
            yield parts[1] if len(parts) == 2 or parts[2:3] == ["svc"] else route["metadata"]["namespace"]
        if "delegate" in rule:
            yield rule["delegate"].get("namespace", route["metadata"]["namespace"])


def _backends(route: Resource) -> Iterator[str]:
    for rule in route["spec"].get("rules", ()):
        for each in rule.get("backendRefs", ()):
            yield each.get("namespace", route["metadata"]["namespace"])


def takes(service: Resource, pod: Resource) -> bool:
    """Whether the Service's selector takes the pod."""
    selector = service["spec"].get("selector") or {}
    if not selector or service["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    return _selects(selector, pod)


def _selects(selector: Mapping[str, str], pod: Resource) -> bool:
    labels = pod["metadata"].get("labels", {})
    return all(labels.get(name) == text for name, text in selector.items())


def _key(resource: Resource) -> tuple[str, str]:
    return resource["metadata"]["namespace"], resource["metadata"]["name"]


def _gateway(
    metadata: Resource, selector: Mapping[str, str], ports: Iterable[Resource], pods: list[Resource]
) -> ClusterGateway:
    return ClusterGateway(
        metadata["namespace"],
        metadata["name"],
        tuple(port_of(port, pods) for port in ports),
        tuple(pod_of(pod, None) for pod in pods),
        tuple(sorted(selector.items())),
    )
