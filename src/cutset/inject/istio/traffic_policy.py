"""What DestinationRules and MeshConfig say of calls to a service, as the sidecar of a caller would have it.

By Istio's rules: of the caller's namespace, else of the service's, else of the mesh's root; a subset's blocks take the
place of the rule's, a port's that of both; what no rule says, MeshConfig's default traffic policy may.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cutset.model.cluster import ClusterService, Resource

_BLOCKS = ("connectionPool", "outlierDetection")


@dataclass(frozen=True, slots=True)
class CallRules:
    """All that has a say in how services are called."""

    destination_rules: Sequence[Resource]
    virtual_services: Sequence[Resource]
    http_routes: Sequence[Resource]
    mesh: Resource  # MeshConfig
    root: str  # the namespace whose rules hold everywhere


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """Of calls to one port of a service, in one subset; the empty one is for all that have none of their own."""

    service: ClusterService
    port: int
    subset: str
    pool: Resource
    ejects: bool  # replicas whose answers are failures


def call_policies(caller_namespace: str, service: ClusterService, rules: CallRules) -> list[CallPolicy]:
    rule = _rule_for(caller_namespace, service, rules)
    spec = rule["spec"] if rule else {}
    subsets: list[Resource] = [{"name": ""}, *(each for each in spec.get("subsets", ()) if each.get("trafficPolicy"))]
    found = []
    for port in service.ports:
        for subset in subsets:
            levels = [rules.mesh.get("defaultTrafficPolicy"), spec.get("trafficPolicy"), subset.get("trafficPolicy")]
            merged = _merged([each for each in levels if each], port.number)
            pool, detection = merged.get("connectionPool") or {}, merged.get("outlierDetection")
            found.append(CallPolicy(service, port.number, subset["name"], pool, detection is not None))
    return found


def full_host(host: str, namespace: str) -> str:
    """Of a name in a rule, which may leave out the namespace that it is in itself."""
    return host if "." in host or host == "*" else f"{host}.{namespace}.svc.cluster.local"


def host_matches(pattern: str, host: str) -> bool:
    return host.endswith(pattern.removeprefix("*")) if pattern.startswith("*") else pattern == host


def _rule_for(caller: str, service: ClusterService, rules: CallRules) -> Resource | None:
    for namespace in dict.fromkeys((caller, service.namespace, rules.root)):
        candidates = [
            rule
            for rule in rules.destination_rules
            if rule["metadata"]["namespace"] == namespace
            and host_matches(full_host(rule["spec"]["host"], namespace), service.host)
        ]
        if candidates:
            return min(candidates, key=_precedence)
    return None


def _precedence(rule: Resource) -> tuple[int, str]:
    """The most particular first, then the oldest."""
    host = full_host(rule["spec"]["host"], rule["metadata"]["namespace"])
    return -len(host.removeprefix("*")), str(rule["metadata"].get("creationTimestamp", ""))


def _merged(levels: Sequence[Resource], port: int) -> dict[str, Resource]:
    merged: dict[str, Resource] = {}
    for level in levels:
        settings = [each for each in level.get("portLevelSettings", ()) if each.get("port", {}).get("number") == port]
        merged |= {block: level[block] for block in _BLOCKS if block in level}
        for each in settings:  # what a port says is all that counts there
            merged = {block: each[block] for block in _BLOCKS if block in each}
    return merged
