"""Live requests in a cluster with Istio: marked at a gateway, from here."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cutset.app.impact_learning import KnownCalls
from cutset.experiment.trial import Bench
from cutset.impact.istio import gateway_edge
from cutset.impact.live import LiveTraffic, marking_live
from cutset.inject.istio.marking_switch import marking_switch
from cutset.kubernetes.client import connected
from cutset.model.cluster import IstioPlace
from cutset.model.impact import ImpactStarted, Mark


async def refuse_unmarkable(place: IstioPlace, environment: str) -> None:
    """Before anything is sent. Raises UsageError if requests could not be marked without harm."""
    async with connected(place.context) as cluster:
        await marking_switch(cluster, place, environment, by="")


@asynccontextmanager
async def gateway_traffic(
    place: IstioPlace,
    bench: Bench,
    started: ImpactStarted,
    known: KnownCalls,
    run: str,
    *,
    may_mark: Callable[[], bool],
    on_mark: Callable[[Mark], None],
) -> AsyncIterator[LiveTraffic]:
    environment = bench.target.environment
    async with (
        connected(place.context) as cluster,
        gateway_edge(cluster, place, environment, started.matching, by=started.by, entrance=lambda: bench.url) as edge,
        marking_live(
            bench,
            started,
            edge,
            address=edge.address,
            salt=run,
            apis=lambda: known.all,
            may_mark=may_mark,
            on_mark=on_mark,
        ) as traffic,
    ):
        yield traffic
