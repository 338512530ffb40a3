"""All that an installation depends on, read from the cluster; and what makes it impossible from the start."""

import asyncio
import json
from collections.abc import Iterable, Sequence

from cutset.errors import TargetError, UsageError
from cutset.inject.istio.discovery import ISTIO_NAMESPACE, list_resources
from cutset.inject.istio.marks import ENVIRONMENT, OURS, annotation
from cutset.kubernetes.client import Cluster, ForbiddenError
from cutset.model.cluster import Resource
from cutset.model.wording import did_you_mean, sentences

_DEFINITION = "envoyfilters.networking.istio.io"
_STATUS = "sidecar.istio.io/status"  # what injection writes down, the revision among it
OF_ENVIRONMENTS = ("EnvoyFilter", "Telemetry")  # kinds that an environment consists of; they are never shared


async def list_facts(cluster: Cluster, namespaces: Sequence[str]) -> dict[str, list[Resource]]:
    await _refuse_without_istio(cluster)
    listed = await list_resources(cluster, namespaces)
    found = {each["metadata"]["name"] for each in listed["Namespace"]}
    if missing := [each for each in namespaces if each not in found]:
        raise UsageError(
            f"There is no namespace `{missing[0]}` in the cluster at {cluster.server}",
            hint=sentences(did_you_mean(missing[0], await _namespaces(cluster)), "`kubectl get namespaces` lists them"),
        )
    each = await asyncio.gather(*(cluster.list("Sidecar", namespace) for namespace in namespaces))
    listed["Sidecar"] = [sidecar for some in each for sidecar in some]
    listed["ConfigMap"] = await mesh_configs(cluster, revisions(listed["Pod"], namespaces))
    return listed


def revisions(pods: Iterable[Resource], namespaces: Sequence[str]) -> list[str]:
    """Of Istio that the sidecars of some namespaces are of; the empty one is the default."""
    found = set()
    for pod in pods:
        if pod["metadata"]["namespace"] in namespaces and (status := annotation(pod, _STATUS)):
            try:
                revision = str(json.loads(status).get("revision") or "")
            except ValueError:
                continue
            found.add("" if revision == "default" else revision)
    return sorted(found) or [""]


async def mesh_configs(cluster: Cluster, of: Sequence[str]) -> list[Resource]:
    """The MeshConfig of each revision."""
    names = [f"istio-{revision}" if revision else "istio" for revision in of]
    found = await asyncio.gather(*(cluster.get("ConfigMap", name, ISTIO_NAMESPACE) for name in names))
    for name, config in zip(names, found, strict=True):
        if config is None:
            raise TargetError(
                f"There is no MeshConfig: no ConfigMap `{name}` in {ISTIO_NAMESPACE}",
                hint="Is Istio's control plane in this cluster? Primary-remote meshes were not tested",
            )
    return [config for config in found if config is not None]


async def ours_of(cluster: Cluster, environment: str = "", places: Sequence[str] = ()) -> list[Resource]:
    """What is installed of an environment, or of all: everywhere, or in these namespaces if more is forbidden."""
    labels = {**OURS, **({ENVIRONMENT: environment} if environment else {})}
    try:
        found = await asyncio.gather(*(cluster.list(kind, labels=labels) for kind in OF_ENVIRONMENTS))
    except ForbiddenError:
        if not places:
            raise
        each = [(kind, place) for kind in OF_ENVIRONMENTS for place in places]
        found = await asyncio.gather(*(cluster.list(kind, place, labels) for kind, place in each))
    return [resource for some in found for resource in some]


async def _refuse_without_istio(cluster: Cluster) -> None:
    try:
        found = await cluster.get("CustomResourceDefinition", _DEFINITION)
    except ForbiddenError:  # what is missing then shows when it is used
        return
    if found is None:
        raise UsageError(
            f"There is no Istio in the cluster at {cluster.server}: it knows no EnvoyFilters",
            hint="Choose another cluster with `--context`; for services without Kubernetes there is `cutset mesh up`",
        )


async def _namespaces(cluster: Cluster) -> list[str]:
    try:
        return [each["metadata"]["name"] for each in await cluster.list("Namespace")]
    except ForbiddenError:
        return []
