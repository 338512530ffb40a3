"""What runs in some namespaces of a cluster with Istio, and what of it plans can reach."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cutset.inject.istio.gateways import Listed, gateways_of, selectors, takes
from cutset.inject.istio.naming import ambiguous_names, names_of
from cutset.inject.istio.pods import ProxyRole, excludes, is_live, pod_of, role_of, why_without_sidecar
from cutset.inject.istio.ports import port_of
from cutset.kubernetes.client import Cluster, ForbiddenError
from cutset.model.cluster import ClusterPod, ClusterPort, ClusterService, ClusterView, Resource

ISTIO_NAMESPACE = "istio-system"
GATEWAY_NAMESPACES = (ISTIO_NAMESPACE, "istio-ingress")  # where to look if we may not look everywhere
IN_NAMESPACES = ("Service", "Pod")
ANYWHERE = (
    "Gateway",
    "KubernetesGateway",
    "VirtualService",
    "HTTPRoute",
    "DestinationRule",
    "EnvoyFilter",
    "Telemetry",
)

_VERSION = re.compile(r":v?(\d+\.\d+[\w.-]*)$")


async def discover(cluster: Cluster, namespaces: Sequence[str]) -> ClusterView:
    return view_of(await list_resources(cluster, namespaces), namespaces)


async def list_resources(cluster: Cluster, namespaces: Sequence[str]) -> dict[str, list[Resource]]:
    """By kind, all that the view is made from. What may not be read elsewhere is read in these namespaces only."""
    places = tuple(dict.fromkeys((*namespaces, *GATEWAY_NAMESPACES)))
    inside = await asyncio.gather(*(_within(cluster, kind, namespaces) for kind in IN_NAMESPACES))
    anywhere = await asyncio.gather(*(_everywhere(cluster, kind, places, namespaces) for kind in ANYWHERE))
    listed = dict(zip((*IN_NAMESPACES, *ANYWHERE), (*inside, *anywhere), strict=True))
    found = await asyncio.gather(*(cluster.get("Namespace", name) for name in namespaces))
    listed["Namespace"] = [each for each in found if each]
    listed["ConfigMap"] = await _mesh_config(cluster)
    await _add_gateways(cluster, listed, namespaces, places)
    listed["Pod"] += await _if_allowed(cluster, "Pod", ISTIO_NAMESPACE, {"app": "istiod"})
    return {kind: _once(each) for kind, each in listed.items()}


async def _within(
    cluster: Cluster, kind: str, namespaces: Sequence[str], labels: Mapping[str, str] | None = None
) -> list[Resource]:
    each = await asyncio.gather(*(cluster.list(kind, namespace, labels) for namespace in namespaces))
    return [resource for found in each for resource in found]


async def _everywhere(
    cluster: Cluster,
    kind: str,
    places: Sequence[str],
    needed: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
) -> list[Resource]:
    """In all namespaces, or else in those that are needed and in other places that we may read."""
    try:
        return await cluster.list(kind, labels=labels)
    except ForbiddenError:
        others = (place for place in places if place not in needed)
        allowed = await asyncio.gather(*(_if_allowed(cluster, kind, place, labels) for place in others))
        return [
            *await _within(cluster, kind, needed, labels),
            *(resource for found in allowed for resource in found),
        ]


async def _if_allowed(
    cluster: Cluster, kind: str, namespace: str, labels: Mapping[str, str] | None = None
) -> list[Resource]:
    try:
        return await cluster.list(kind, namespace, labels)
    except ForbiddenError:
        return []


async def _mesh_config(cluster: Cluster) -> list[Resource]:
    try:
        found = await cluster.get("ConfigMap", "istio", ISTIO_NAMESPACE)
    except ForbiddenError:
        found = None
    return [found] if found else []


async def _add_gateways(
    cluster: Cluster, listed: dict[str, list[Resource]], namespaces: Sequence[str], places: Sequence[str]
) -> None:
    """The pods of gateways are in namespaces of their own, mostly, and Services are in front of them."""
    for namespace, labels in list(selectors(listed, namespaces)):
        if namespace:
            listed["Pod"] += await _if_allowed(cluster, "Pod", namespace, labels)
        elif labels:
            listed["Pod"] += await _everywhere(cluster, "Pod", places, (), labels)
    elsewhere = {pod["metadata"]["namespace"] for pod in listed["Pod"]} - set(namespaces)
    for namespace in sorted(elsewhere):
        listed["Service"] += await _if_allowed(cluster, "Service", namespace)


def _once(resources: Iterable[Resource]) -> list[Resource]:
    return list({(each["metadata"].get("namespace"), each["metadata"]["name"]): each for each in resources}.values())


def view_of(listed: Listed, namespaces: Sequence[str]) -> ClusterView:
    """Pure: what the listed resources say."""
    spaces = {each["metadata"]["name"]: each for each in listed.get("Namespace", ())}
    pods = [
        pod
        for pod in listed.get("Pod", ())
        if pod["metadata"]["namespace"] in namespaces
        and is_live(pod)
        and role_of(pod) in (ProxyRole.NONE, ProxyRole.SIDECAR)
    ]
    routers = [pod for pod in listed.get("Pod", ()) if role_of(pod) in (ProxyRole.GATEWAY, ProxyRole.WAYPOINT)]
    services = [
        service
        for service in listed.get("Service", ())
        if service["metadata"]["namespace"] in namespaces and not any(takes(service, pod) for pod in routers)
    ]
    found = tuple(_service(each, pods, spaces) for each in sorted(services, key=_key))
    known = [pod_of(pod, spaces.get(pod["metadata"]["namespace"])) for pod in pods]
    named = [(pod, raw["metadata"].get("labels", {})) for pod, raw in zip(known, pods, strict=True) if pod.sidecar]
    names = names_of(found, named)
    uncovered = [line for service in sorted(services, key=_key) for line in _uncovered(service, pods, spaces)]
    return ClusterView(
        found,
        gateways_of(listed, namespaces),
        _istio_version(listed, known),
        tuple(uncovered),
        names,
        ambiguous_names(names),
    )


def _service(service: Resource, pods: Sequence[Resource], spaces: Mapping[str, Resource]) -> ClusterService:
    behind = sorted((pod for pod in pods if takes(service, pod)), key=_key)
    namespace = service["metadata"]["namespace"]
    return ClusterService(
        namespace,
        service["metadata"]["name"],
        tuple(port_of(port, behind) for port in service["spec"].get("ports", ())),
        tuple(pod_of(pod, spaces.get(namespace)) for pod in behind),
    )


def _uncovered(
    service: Resource, pods: Sequence[Resource], spaces: Mapping[str, Resource]
) -> Iterator[tuple[str, str]]:
    namespace, name = _key(service)
    what = f"Service {namespace}/{name}"
    if service["spec"].get("type") == "ExternalName":
        yield what, f"it is another name for `{service['spec'].get('externalName', '')}`, outside of the mesh"
        return
    if not service["spec"].get("selector"):
        yield what, "it has no selector, so that what serves it is no pod that we know"
        return
    behind = sorted((pod for pod in pods if takes(service, pod)), key=_key)
    if not behind:
        yield what, "no pod serves it"
        return
    yield from _without_sidecar(what, behind, spaces.get(namespace))
    served = [pod for pod in behind if role_of(pod) is ProxyRole.SIDECAR]
    for port in service["spec"].get("ports", ()) if served else ():
        if reason := _past_sidecar(port_of(port, behind), served):
            yield f"{what}, port {port['port']}", reason


def _without_sidecar(what: str, behind: Sequence[Resource], namespace: Resource | None) -> Iterator[tuple[str, str]]:
    """Of the Service if that holds for all of its pods, else of each pod."""
    reasons = {
        pod["metadata"]["name"]: why_without_sidecar(pod, namespace) for pod in behind if role_of(pod) is ProxyRole.NONE
    }
    if len(reasons) == len(behind) and len(set(reasons.values())) == 1:
        yield what, next(iter(reasons.values()))
        return
    for pod, reason in reasons.items():
        yield f"{what}, pod {pod}", reason


def _past_sidecar(port: ClusterPort, served: Sequence[Resource]) -> str:
    if not port.reached:
        return f"it is {port.protocol.upper()}, and plans come with HTTP requests that sidecars can read"
    if passed := [pod["metadata"]["name"] for pod in served if excludes(pod, port.target)]:
        return f"annotations lead it past the sidecar: `traffic.sidecar.istio.io/…InboundPorts` of {', '.join(passed)}"
    return ""


def _istio_version(listed: Listed, pods: Sequence[ClusterPod]) -> str:
    """By the image of istiod, else by that of most sidecars."""
    daemons = [
        container.get("image", "")
        for pod in listed.get("Pod", ())
        if pod["metadata"].get("labels", {}).get("app") == "istiod"
        for container in pod["spec"].get("containers", ())
    ]
    sidecars = sorted(pod.proxy_image for pod in pods if pod.proxy_image)
    matches = (_VERSION.search(image) for image in (*daemons, *sidecars))
    return next((match[1] for match in matches if match), "")


def _key(resource: Resource) -> tuple[str, str]:
    return resource["metadata"]["namespace"], resource["metadata"]["name"]
