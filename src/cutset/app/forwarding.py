"""Ways into a cluster that outlive the pods that they lead to: by port-forwards, through its API server."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from cutset.errors import CutsetError, TargetError
from cutset.inject.istio.collector import LABELS, RELAY_PORT
from cutset.inject.istio.pods import is_live, pod_of
from cutset.inject.istio.ports import port_of
from cutset.kubernetes.client import Cluster
from cutset.model.cluster import IstioPlace, Resource

POLL_SECONDS = 1.0  # between two looks at the pod that is led to


@asynccontextmanager
async def relay_of(cluster: Cluster, namespace: str) -> AsyncIterator[str]:
    """The URL of the collector's relay, for as long as its pod lives."""
    pod = await _ready_pod(cluster, namespace, LABELS)
    if pod is None:
        raise TargetError(
            f"No collector is ready in namespace {namespace}",
            hint="`cutset install` creates it, and `cutset status` says how it is; "
            "where sidecars export to your own Jaeger or Tempo, name it with `collector.jaeger` or `collector.tempo`",
        )
    async with cluster.forwarded(pod["metadata"]["name"], namespace, RELAY_PORT) as port:
        yield f"http://127.0.0.1:{port}"


class Entrance:
    """Where experiments enter: the address of now of a gateway."""

    def __init__(self, url: str) -> None:
        self.url = url


@asynccontextmanager
async def entrance_of(cluster: Cluster, place: IstioPlace) -> AsyncIterator[Entrance]:
    """By a port-forward to one of the gateway's pods, and to another when that goes; inside the cluster directly."""
    namespace, _, name = place.gateway.partition("/")
    service = await cluster.get("Service", name, namespace)
    ports = [each for each in (service or {}).get("spec", {}).get("ports", ()) if each["port"] == place.gateway_port]
    if service is None or not ports:
        lacks = f"has no port {place.gateway_port}" if service else "is not there"
        raise TargetError(
            f"The gateway `{place.gateway}` {lacks}", hint="Correct `istio.gateway` or `istio.gateway_port`"
        )
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        yield Entrance(f"http://{service['spec']['clusterIP']}:{place.gateway_port}")
        return
    entrance, opened = Entrance(""), asyncio.Event()
    keeping = asyncio.ensure_future(_keep_open(cluster, service, ports[0], entrance, opened))
    opening = asyncio.ensure_future(opened.wait())
    try:
        await asyncio.wait([keeping, opening], return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            keeping.result()  # raises
        yield entrance
    finally:
        for each in (opening, keeping):
            each.cancel()
            with suppress(asyncio.CancelledError, CutsetError):
                await each


async def _keep_open(
    cluster: Cluster, service: Resource, port: Resource, entrance: Entrance, opened: asyncio.Event
) -> bool:
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    while True:
        try:
            pod = await _ready_pod(cluster, namespace, service["spec"].get("selector") or {})
            if pod is None:
                raise TargetError(f"No pod of the gateway `{namespace}/{name}` is ready")
            target = port_of(port, [pod]).target
            async with cluster.forwarded(pod["metadata"]["name"], namespace, target) as local:
                entrance.url = f"http://127.0.0.1:{local}"
                opened.set()
                await _until_gone(cluster, pod)
        except CutsetError:
            if not opened.is_set():
                raise
            await asyncio.sleep(POLL_SECONDS)


async def _until_gone(cluster: Cluster, pod: Resource) -> None:
    """Until it is not ready any more. An API server that is away for a moment says nothing of the pod."""
    metadata = pod["metadata"]
    while True:
        await asyncio.sleep(POLL_SECONDS)
        with suppress(CutsetError):
            now = await cluster.get("Pod", metadata["name"], metadata["namespace"])
            if now is None or now["metadata"]["uid"] != metadata["uid"] or not pod_of(now, None).ready:
                return


async def _ready_pod(cluster: Cluster, namespace: str, labels: Mapping[str, str]) -> Resource | None:
    pods = [pod for pod in await cluster.list("Pod", namespace, labels) if is_live(pod)] if labels else []
    return next((pod for pod in pods if pod_of(pod, None).ready), None)
