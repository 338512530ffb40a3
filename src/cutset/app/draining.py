"""Connections that were open when our filter came to sidecars: until they are drained, some requests go past it.

Such a request is neither faulted nor traced where it goes past, so that its path would seem shorter than it is. Istio's
sidecars close what is left of them after a while; experiments begin when that is over.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from cutset.inject.istio.discovery import ISTIO_NAMESPACE
from cutset.inject.istio.marks import OURS
from cutset.inject.istio.mesh_config import parsed_mesh
from cutset.kubernetes.client import FIELD_MANAGER, Cluster, ForbiddenError, connected
from cutset.model.cluster import IstioPlace, Resource

DRAIN_SECONDS = 45.0  # Istio's default
MARGIN_SECONDS = 3.0  # the API server tells its time to the second, and istiod takes a moment


async def wait_until_drained(place: IstioPlace, on_note: Callable[[str], None] | None) -> None:
    async with connected(place.context) as cluster:
        left = await _drain_seconds(cluster) + MARGIN_SECONDS - await _age(cluster, place.namespaces)
    if left > 0:
        if on_note:
            on_note(f"installed a moment ago: waiting {left:.0f} s until older connections have ended")
        await asyncio.sleep(left)


async def _drain_seconds(cluster: Cluster) -> float:
    """As MeshConfig says; a pod may say otherwise for itself, which nobody does who has not read of it."""
    try:
        mesh = parsed_mesh(await cluster.get("ConfigMap", "istio", ISTIO_NAMESPACE))
    except ForbiddenError:
        return DRAIN_SECONDS
    said = re.fullmatch(r"([\d.]+)s", str((mesh.get("defaultConfig") or {}).get("drainDuration", "")))
    return float(said[1]) if said else DRAIN_SECONDS


async def _age(cluster: Cluster, namespaces: Sequence[str]) -> float:
    """Seconds since any filter of ours was written."""
    listed = await asyncio.gather(*(cluster.list("EnvoyFilter", each, OURS) for each in namespaces))
    return await cluster.clock() - max(_written([each for found in listed for each in found]), default=0.0)


def _written(filters: Iterable[Resource]) -> Iterator[float]:
    for each in filters:
        metadata = each["metadata"]
        ours = [entry for entry in metadata.get("managedFields", ()) if entry.get("manager") == FIELD_MANAGER]
        for text in (metadata.get("creationTimestamp"), *(entry.get("time") for entry in ours)):
            if text:
                yield datetime.fromisoformat(text).timestamp()
