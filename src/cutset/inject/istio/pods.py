"""What a pod is to Istio: which workload, with a sidecar, and if not, why not."""

import re
from enum import StrEnum

from cutset.model.cluster import ClusterPod, Resource

PROXY = "istio-proxy"
_CRON = re.compile(r"(.+)-\d{8,10}")
_INJECT = "sidecar.istio.io/inject"
_TRAFFIC = "traffic.sidecar.istio.io/"


class ProxyRole(StrEnum):
    NONE = "none"
    SIDECAR = "sidecar"
    GATEWAY = "router"  # as pilot-agent calls it
    WAYPOINT = "waypoint"


def pod_of(pod: Resource, namespace: Resource | None) -> ClusterPod:
    conditions = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions", ())}
    proxy = _proxy(pod)
    return ClusterPod(
        pod["metadata"]["namespace"],
        pod["metadata"]["name"],
        workload_of(pod),
        pod.get("status", {}).get("podIP", ""),
        conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"],
        role_of(pod) is ProxyRole.SIDECAR,
        is_ambient(pod, namespace),
        (proxy or {}).get("image", ""),
    )


def role_of(pod: Resource) -> ProxyRole:
    proxy = _proxy(pod)
    if proxy is None:
        return ProxyRole.NONE
    said = proxy.get("args") or []
    return next((role for role in (ProxyRole.GATEWAY, ProxyRole.WAYPOINT) if role in said), ProxyRole.SIDECAR)


def is_live(pod: Resource) -> bool:
    """Serves, or will: Jobs that ended keep their pods."""
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def workload_of(pod: Resource) -> str:
    """As its sidecar calls itself: what injection wrote into it, else what injection would write."""
    for variable in (_proxy(pod) or {}).get("env", ()):
        if variable["name"] == "ISTIO_META_WORKLOAD_NAME" and variable.get("value"):
            return str(variable["value"])
    metadata = pod["metadata"]
    labels = metadata.get("labels", {})
    return str(labels.get("service.istio.io/workload-name") or _owner(metadata, labels) or metadata["name"])


def _owner(metadata: Resource, labels: dict[str, str]) -> str:
    owners = [each for each in metadata.get("ownerReferences", ()) if each.get("controller")]
    if not owners or not metadata.get("generateName"):
        return ""
    kind, name = owners[0]["kind"], str(owners[0]["name"])
    if kind == "ReplicaSet":
        for label in ("pod-template-hash", "rollouts-pod-template-hash"):
            if labels.get(label) and name.endswith(labels[label]):
                return name.removesuffix(f"-{labels[label]}")
    if kind == "ReplicationController" and labels.get("deploymentconfig"):
        return labels["deploymentconfig"]
    if kind == "Job" and (cron := _CRON.fullmatch(name)):
        return cron[1]
    return name


def is_ambient(pod: Resource, namespace: Resource | None) -> bool:
    if _proxy(pod) is not None:
        return False
    if pod["metadata"].get("annotations", {}).get("ambient.istio.io/redirection") == "enabled":
        return True
    modes = [each["metadata"].get("labels", {}).get("istio.io/dataplane-mode") for each in (pod, namespace) if each]
    return next((mode for mode in modes if mode), "") == "ambient"


def injects(namespace: Resource) -> bool:
    """Whether new pods there get a sidecar, unless they say otherwise. A revision counts, even if none has it."""
    labels = namespace["metadata"].get("labels", {})
    said = labels.get("istio-injection")
    return said == "enabled" or (said is None and bool(labels.get("istio.io/rev")))


def why_without_sidecar(pod: Resource, namespace: Resource | None) -> str:
    metadata = pod["metadata"]
    if is_ambient(pod, namespace):
        return "it is in an ambient mesh, where no sidecar sees its requests and waypoints ignore EnvoyFilters"
    if pod["spec"].get("hostNetwork"):
        return "it uses the network of its node, where Istio injects no sidecar"
    said = {**metadata.get("annotations", {}), **metadata.get("labels", {})}.get(_INJECT)
    if said == "false":
        return f"it has no sidecar: `{_INJECT}: false` is said of it"
    if namespace is not None and not injects(namespace) and said != "true":
        return f"it has no sidecar: namespace {metadata['namespace']} is not labelled `istio-injection: enabled`"
    return "it has no sidecar: it was made before injection was switched on, or injection failed"


def excludes(pod: Resource, port: int) -> bool:
    """Whether what is sent to that port goes past the sidecar."""
    said = pod["metadata"].get("annotations", {})
    included = said.get(f"{_TRAFFIC}includeInboundPorts", "*")
    taken = included == "*" or str(port) in _listed(included)
    return not taken or str(port) in _listed(said.get(f"{_TRAFFIC}excludeInboundPorts", ""))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _proxy(pod: Resource) -> Resource | None:
    """A container, or an init container that goes on running: a native sidecar."""
    native = (each for each in pod["spec"].get("initContainers", ()) if each.get("restartPolicy") == "Always")
    found = (each for each in (*pod["spec"].get("containers", ()), *native) if each["name"] == PROXY)
    return next(found, None)
