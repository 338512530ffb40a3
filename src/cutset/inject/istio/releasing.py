"""Takes away what nobody needs any more: of an environment, and what all environments shared if none is left."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence, Set

from cutset.inject.istio.applying import Applied, remove_provider, remove_resource
from cutset.inject.istio.facts import ours_of
from cutset.inject.istio.marking import marker_name
from cutset.inject.istio.marking_found import marker_of, marking_of, stop_asking
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, OURS, PROVIDER, installation_in, is_ours
from cutset.inject.istio.mesh_config import MARK
from cutset.kubernetes.client import Cluster
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource

_GONE_SECONDS = 120.0
_PAUSE_SECONDS = 0.2
_OF_COLLECTOR = ("Deployment", "Service", "ServiceAccount")


async def remove_others(
    cluster: Cluster, environment: str, keep: Set[str], places: Sequence[str]
) -> AsyncIterator[Applied]:
    """All of the environment but what is named, as an older version or another option has left it."""
    marking = await marking_of(cluster, environment, places)
    async for stopped in stop_asking(cluster, [] if keep & {named(each) for each in marking} else marking):
        yield stopped
    for resource in [*marker_of(marking), *await ours_of(cluster, environment, places)]:
        if named(resource) not in keep and (removed := await remove_resource(cluster, resource)):
            yield removed


async def release_shared(cluster: Cluster, configs: Iterable[Resource]) -> AsyncIterator[Applied]:
    """Providers that nothing of ours names, and the collector if it is that of none of them.

    Raises ForbiddenError if we may not look for other environments: then all of it stays.
    """
    used = {provider for each in await ours_of(cluster) for provider in providers_of(each)}
    for config in configs:
        for name in sorted(providers_in(config) - used):
            if removed := await remove_provider(cluster, config, name):
                yield removed
    for resource in [] if PROVIDER in used else await _of_nobody(cluster, used):
        if removed := await remove_resource(cluster, resource):
            yield removed


async def _of_nobody(cluster: Cluster, used: Set[str]) -> list[Resource]:
    """In our namespace without the collector's use; markers of environments stay, and so does the namespace then."""
    listed = [await cluster.list(kind, COLLECTOR_NAMESPACE, OURS) for kind in _OF_COLLECTOR]
    found = [each for some in listed for each in some if each["metadata"]["name"] not in used]
    namespace = await cluster.get("Namespace", COLLECTOR_NAMESPACE)
    if namespace is None or not is_ours(namespace) or any(each.startswith(marker_name("")) for each in used):
        return found
    return [*found, namespace]


def providers_of(resource: Resource) -> set[str]:
    """That a Telemetry sends spans to, or that the environment marks by."""
    tracing = (resource.get("spec") or {}).get("tracing") or ()
    installed = installation_in(resource)
    marker = {marker_name(installed.environment)} if installed and installed.marking else set()
    return marker | {each["name"] for part in tracing for each in part.get("providers") or ()}


def providers_in(config: Resource) -> set[str]:
    """Of ours, in MeshConfig: our marks name them."""
    text = str((config.get("data") or {}).get("mesh", ""))
    return {line.rpartition(": ")[2] for line in text.splitlines() if f"{MARK}: " in line}


async def collector_gone(cluster: Cluster) -> bool:
    """Whether the namespace of the collector is gone, or stays for others; Kubernetes takes its time over that."""
    deadline = time.monotonic() + _GONE_SECONDS
    while (found := await cluster.get("Namespace", COLLECTOR_NAMESPACE)) is not None:
        if not found["metadata"].get("deletionTimestamp"):
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_PAUSE_SECONDS)
    return True
