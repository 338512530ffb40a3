"""How points call workloads. A sidecar knows the workload that it belongs to, and people know Services.

A workload is called by the Service that leads to it, so that all versions of a service have one name. If several do, by
the one that its labels or its own name say, else by its own name. Names that two namespaces share get `.namespace`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cutset.model.cluster import ClusterPod, ClusterService, WorkloadName

CANONICAL = ("service.istio.io/canonical-name", "app.kubernetes.io/name", "app")  # in Istio's order


def names_of(
    services: Sequence[ClusterService], pods: Iterable[tuple[ClusterPod, Mapping[str, str]]]
) -> tuple[WorkloadName, ...]:
    """Of all pods with sidecars, given with their labels."""
    leading: dict[tuple[str, str], list[ClusterService]] = defaultdict(list)
    for service in services:
        for workload in service.workloads:
            leading[service.namespace, workload].append(service)
    labels: dict[tuple[str, str], Mapping[str, str]] = {}
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    for pod, said in pods:
        labels.setdefault((pod.namespace, pod.workload), said)
        numbers[pod.namespace, pod.workload] += 1
    found = [
        WorkloadName(
            namespace,
            workload,
            _chosen(workload, labels[namespace, workload], leading[namespace, workload]),
            tuple(sorted(service.name for service in leading[namespace, workload])),
            numbers[namespace, workload],
        )
        for namespace, workload in sorted(labels)
    ]
    return tuple(_apart(found))


def _chosen(workload: str, labels: Mapping[str, str], services: Sequence[ClusterService]) -> str:
    serving = [each.name for each in services if any(port.reached for port in each.ports)]
    names = serving or [each.name for each in services]
    if len(names) == 1:
        return names[0]
    wanted = (*(labels.get(label, "") for label in CANONICAL), workload)
    return next((name for name in wanted if name in names), workload)


def _apart(found: Sequence[WorkloadName]) -> Iterable[WorkloadName]:
    where: dict[str, set[str]] = defaultdict(set)
    for each in found:
        where[each.name].add(each.namespace)
    for each in found:
        name = each.name if len(where[each.name]) == 1 else f"{each.name}.{each.namespace}"
        yield WorkloadName(each.namespace, each.workload, name, each.services, each.pods)


def ambiguous_names(names: Sequence[WorkloadName]) -> tuple[tuple[str, str], ...]:
    """Names of workloads that no one Service unites: points of one would be taken for points of the other."""
    together: dict[str, list[WorkloadName]] = defaultdict(list)
    for each in names:
        together[each.name].append(each)
    return tuple(
        (name, " and ".join(f"{each.namespace}/{each.workload}" for each in group))
        for name, group in sorted(together.items())
        if len(group) > 1 and not frozenset.intersection(*(frozenset(each.services) for each in group))
    )
