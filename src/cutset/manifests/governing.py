"""Which VirtualService and which DestinationRule decide about calls between sidecars to one host.

Between sidecars Istio merges nothing: of several it takes one. So where there is more than one, or one for more than
this host, or one that some callers see and others do not, nothing of ours can be added without deciding for others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutset.manifests.matching import MESH
from cutset.model.cluster import Resource

DOMAIN = "svc.cluster.local"
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class Governing:
    """The resource to add to; none: one of our own. With a reason, neither will do."""

    resource: Resource | None = None
    refused: str = ""


def virtual_service_of(
    host: str, found: Iterable[Resource], seen_from: Sequence[str], routes: Iterable[Resource] = ()
) -> Governing:
    """`seen_from` are the namespaces of the callers, `routes` the HTTPRoutes that there are."""
    for each in routes:
        if host in _parents(each):
            return Governing(refused=f"{_named(each)} routes it")
    theirs = [each for each in found if _is_in_mesh(each) and _hosts(each, host)]
    chosen = _only(host, theirs, seen_from)
    if chosen.resource is None or chosen.refused:
        return chosen
    spec = chosen.resource["spec"]
    others = {resolved(each, _namespace(chosen.resource)) for each in spec["hosts"]} - {host}
    if others:
        return Governing(refused=f"{_named(chosen.resource)} is for `{min(others)}` too")
    return chosen if spec.get("http") else Governing(refused=f"{_named(chosen.resource)} has no HTTP routes")


def destination_rule_of(host: str, found: Iterable[Resource], seen_from: Sequence[str]) -> Governing:
    chosen = _only(host, [each for each in found if _hosts(each, host)], seen_from)
    if chosen.resource is None or chosen.refused:
        return chosen
    if "workloadSelector" in chosen.resource["spec"]:
        return Governing(refused=f"{_named(chosen.resource)} is for some callers only")
    if (namespace := _namespace(chosen.resource)) != host.split(".")[1]:
        return Governing(refused=f"{_named(chosen.resource)} is for callers in `{namespace}`, or for all namespaces")
    return chosen


def resolved(host: str, namespace: str) -> str:
    """As Istio reads it: only names without a dot are completed."""
    return host if "." in host or EVERYWHERE in host else f"{host}.{namespace}.{DOMAIN}"


def _only(host: str, theirs: Sequence[Resource], seen_from: Sequence[str]) -> Governing:
    seen = [(each, [namespace for namespace in seen_from if _is_seen(each, namespace)]) for each in theirs]
    counting = [(each, by) for each, by in seen if by]
    if not counting:
        return Governing()
    for each, by in counting:
        if host not in {resolved(name, _namespace(each)) for name in _names(each)}:
            return Governing(refused=f"{_named(each)} is for `{_hosts(each, host)[0]}`: ours would replace it")
        if len(by) < len(seen_from):
            return Governing(refused=f"{_named(each)} is seen from {', '.join(by)} only")
    if len(counting) > 1:
        names = " and ".join(sorted(_named(each) for each, _ in counting))
        return Governing(refused=f"{names} are both for it, of which Istio takes one")
    return Governing(counting[0][0])


def _hosts(resource: Resource, host: str) -> list[str]:
    """Of its hosts those that mean this one, or may be meant to."""
    return [name for name in _names(resource) if _means(resolved(name, _namespace(resource)), host)]


def _means(name: str, host: str) -> bool:
    if name.startswith(EVERYWHERE):
        return host.endswith(name[1:])
    # `cart.shop` is no name that Istio would complete, but a caller may use it.
    return host == name or (host.startswith(f"{name}.") and name.count(".") > 0)


def _names(resource: Resource) -> list[str]:
    spec = resource["spec"]
    return list(spec["hosts"]) if "hosts" in spec else [spec["host"]] if "host" in spec else []


def _is_in_mesh(resource: Resource) -> bool:
    return MESH in (resource["spec"].get("gateways") or [MESH])


def _is_seen(resource: Resource, namespace: str) -> bool:
    exported = resource["spec"].get("exportTo") or [EVERYWHERE]
    return bool({EVERYWHERE, namespace} & set(exported)) or ("." in exported and _namespace(resource) == namespace)


def _parents(route: Resource) -> Iterator[str]:
    for parent in route["spec"].get("parentRefs", ()):
        if parent.get("kind") == "Service":
            yield f"{parent['name']}.{parent.get('namespace') or _namespace(route)}.{DOMAIN}"


def _namespace(resource: Resource) -> str:
    return str(resource["metadata"]["namespace"])


def _named(resource: Resource) -> str:
    return f"{resource['kind']} {_namespace(resource)}/{resource['metadata']['name']}"
