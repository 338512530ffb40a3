"""Resources of a small cluster with Istio, as the API server would list them: enough of each to be told apart."""

from typing import Any

Resource = dict[str, Any]


def namespace(name: str = "shop", **labels: str) -> Resource:
    said = labels or {"istio-injection": "enabled"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": said}}


def service(
    name: str, *ports: Resource, within: str = "shop", selector: Resource | None = None, **spec: Any
) -> Resource:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": within},
        "spec": {
            "selector": {"app": name} if selector is None else selector,
            "ports": list(ports) or [port()],
            "clusterIP": "10.96.0.9",
            **spec,
        },
    }


def port(number: int = 80, name: str = "http", target: int | str = 8080, **more: Any) -> Resource:
    return {"port": number, "name": name, "targetPort": target, "protocol": "TCP", **more}


def pod(
    name: str,
    workload: str = "",
    *,
    within: str = "shop",
    labels: Resource | None = None,
    annotations: Resource | None = None,
    proxy: str = "sidecar",
    **spec: Any,
) -> Resource:
    """`proxy`: sidecar, native, router, waypoint, or empty for none. Its app is by default called as the workload."""
    workload = workload or name.rpartition("-")[0] or name
    args = {"native": "sidecar"}.get(proxy, proxy)
    container: Resource = {
        "name": "istio-proxy",
        "image": "docker.io/istio/proxyv2:1.31.0",
        "args": ["proxy", args],
        "env": [{"name": "ISTIO_META_WORKLOAD_NAME", "value": workload}],
    }
    application = {"name": "app", "image": "shop", "ports": [{"name": "web", "containerPort": 8080}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": within,
            "labels": {"app": workload} if labels is None else labels,
            "annotations": annotations or {},
        },
        "spec": {
            "containers": [application, *([container] if proxy not in ("", "native") else [])],
            "initContainers": [{**container, "restartPolicy": "Always"}] if proxy == "native" else [],
            **spec,
        },
        "status": {
            "phase": "Running",
            "podIP": "10.22.0.5",
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def resource(kind: str, name: str, spec: Resource, within: str = "shop", **metadata: Any) -> Resource:
    return {"kind": kind, "metadata": {"name": name, "namespace": within, **metadata}, "spec": spec}


def gateway(name: str = "front", within: str = "shop", selector: Resource | None = None) -> Resource:
    return resource("Gateway", name, {"selector": selector or {"istio": "ingressgateway"}}, within)


def virtual_service(name: str, http: list[Resource], within: str = "shop", **spec: Any) -> Resource:
    return resource("VirtualService", name, {"hosts": ["*"], "http": http, **spec}, within)


def route(host: str, **more: Any) -> Resource:
    return {"route": [{"destination": {"host": host}}], **more}


def gateway_pod(name: str = "ingress-1", within: str = "istio-ingress") -> Resource:
    return pod(name, "ingress", within=within, labels={"istio": "ingressgateway"}, proxy="router")


def gateway_service(name: str = "ingress", within: str = "istio-ingress") -> Resource:
    return service(name, port(80, "http2", 8080), within=within, selector={"istio": "ingressgateway"})


def shop() -> dict[str, list[Resource]]:
    """A frontend of two pods and a cart behind an ingress gateway, all well."""
    return {
        "Namespace": [namespace()],
        "Service": [service("frontend"), service("cart", port(7070, "grpc")), gateway_service()],
        "Pod": [pod("frontend-1"), pod("frontend-2"), pod("cart-1"), gateway_pod()],
        "Gateway": [gateway()],
        "VirtualService": [virtual_service("front", [route("frontend")], gateways=["front"])],
    }
