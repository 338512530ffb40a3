"""A gateway of Istio as the edge where live requests are marked: it asks about a share of them, we answer from here.

The questions come by a tunnel, so that the key stays where it is, and whoever dies, hangs or loses the network marks
nothing any more: no sign of life, no tunnel, no answer, and the gateway lets requests pass as they are. The policy that
makes the gateway ask is there for as long as the edge is.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cutset.errors import TargetError, UsageError
from cutset.inject.istio.asking import why_waiting
from cutset.inject.istio.marking import TIMEOUT_SECONDS, TUNNEL_PORT, marker_labels, marker_name
from cutset.inject.istio.marking_switch import MarkingSwitch, marking_switch
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE
from cutset.inject.istio.pods import is_live, pod_of
from cutset.inject.marking.marker import Marker
from cutset.inject.marking.service import serve_marker
from cutset.kubernetes.client import Cluster
from cutset.model.cluster import IstioPlace
from cutset.model.impact import Matching
from cutset.receive.tunnel import LOOPBACK, TunnelEnd, hold_tunnel

LINGER_SECONDS = 2.0  # that a gateway asks on, in vain, when a window ends
NEAR_SECONDS = TIMEOUT_SECONDS / 2  # to the cluster and back: the rest of the timeout is for the answer itself


@dataclass(slots=True, eq=False)
class GatewayEdge:
    """An `Edge`, as live traffic needs one."""

    switch: MarkingSwitch
    matching: Matching
    end: TunnelEnd
    address: str  # where it asks: of this machine
    share: float = 0.0  # that it asks about, for the fault; as much again is for the control
    ending: asyncio.Task[None] | None = None

    async def ask_about(self, share: float) -> None:
        """It stops asking a little later, and not at all if it is to go on: each change makes it drain connections."""
        await self.go_on()
        if not share:
            self.ending = asyncio.ensure_future(self._stop_asking())
        elif share != self.share:
            await self.switch.on(2 * share, self.matching)
            self.share = share

    async def go_on(self) -> None:
        """If it is about to stop."""
        if self.ending:
            self.ending.cancel()
            await asyncio.gather(self.ending, return_exceptions=True)
            self.ending = None

    async def _stop_asking(self) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        self.share = 0.0
        await self.switch.off()

    async def is_asking(self) -> bool:
        """It was proven that it finds us; what share it asks about it learns within a second or two."""
        if self.end.lost.done():
            raise TargetError(
                f"The connection to {marker_name(self.switch.environment)} in the cluster broke: nothing is marked",
                hint="Start again; `cutset status` says how it is",
            )
        return True


@asynccontextmanager
async def gateway_edge(
    cluster: Cluster,
    place: IstioPlace,
    environment: str,
    matching: Matching,
    *,
    by: str,
    entrance: Callable[[], str],
) -> AsyncIterator[GatewayEdge]:
    """Once it was proven that the gateway asks us, and that nobody is hurt by that. It asks about nobody yet.

    `entrance`: the URL of the gateway, for a request of ours. Raises UsageError if it cannot be done safely.
    """
    switch = await marking_switch(cluster, place, environment, by)
    address = f"{LOOPBACK}:{_free_port()}"
    async with (
        cluster.forwarded(await _marker_pod(cluster, environment), COLLECTOR_NAMESPACE, TUNNEL_PORT) as port,
        hold_tunnel(port, int(address.rpartition(":")[2])) as end,
    ):
        refuse_distance(end.seconds_away)
        try:
            silent = Marker(b"", "", may_mark=lambda: False, on_mark=lambda _: None)
            async with serve_marker(silent, host=LOOPBACK, port=int(address.rpartition(":")[2])):
                await switch.prove(entrance, lambda: silent.asked)
            edge = GatewayEdge(switch, matching, end, address)
            try:
                yield edge
            finally:
                await edge.go_on()
        finally:
            await switch.off()


def refuse_distance(seconds: float) -> None:
    if seconds > NEAR_SECONDS:
        raise UsageError(
            f"The cluster is {seconds * 1000:.0f} ms away, and gateways wait {TIMEOUT_SECONDS * 1000:.0f} ms at most, "
            "so that users would wait and few requests would be marked",
            hint="Run it from a machine nearer to the cluster, or use `--load` or `--replay`",
        )


async def _marker_pod(cluster: Cluster, environment: str) -> str:
    pods = await cluster.list("Pod", COLLECTOR_NAMESPACE, marker_labels(environment))
    ready = [pod for pod in pods if is_live(pod) and pod_of(pod, None).ready]
    if not ready:
        raise TargetError(
            f"The marker (Deployment {COLLECTOR_NAMESPACE}/{marker_name(environment)}) is not ready: "
            f"{why_waiting(pods)}",
            hint=f"`kubectl -n {COLLECTOR_NAMESPACE} describe pods` says more",
        )
    return str(ready[0]["metadata"]["name"])


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])
