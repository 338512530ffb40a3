"""What experiments need where the system under test is in a cluster with Istio."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext

from cutset.app.forwarding import Entrance, entrance_of, relay_of
from cutset.app.source import spans_of
from cutset.config.explore import Config
from cutset.experiment.agent_sites import AgentSites
from cutset.experiment.pods import PodWatch
from cutset.experiment.trial import Bench
from cutset.inject.istio.discovery import discover
from cutset.kubernetes.client import connected
from cutset.model.cluster import IstioPlace
from cutset.traces.relay import relayed
from cutset.workload.send import open_client


@asynccontextmanager
async def open_istio_bench(config: Config, place: IstioPlace, key: bytes) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(connected(place.context))
        view = await discover(cluster, place.namespaces)
        pods = PodWatch(cluster, {(each.namespace, each.workload): each.name for each in view.names})
        await pods.begin()
        by_gateway = config.target.url == place.gateway_url
        entering = entrance_of(cluster, place) if by_gateway else nullcontext(Entrance(config.target.url))
        entrance = await stack.enter_async_context(entering)
        source = (
            spans_of(config.collector)
            if config.collector.server
            else relayed(lambda: relay_of(cluster, place.collector_namespace))
        )
        yield Bench(
            target=config.target,
            key=key,
            collector=await stack.enter_async_context(source),
            client=await stack.enter_async_context(open_client(config.limits.parallel)),
            level=config.points,
            trace_timeout=config.limits.trace_timeout,
            export_interval=config.collector.export_interval,
            sites=AgentSites(config.target.stores),
            effects=config.effects,
            watched=pods,
            replicas=pods.replicas,
            entrance=lambda: entrance.url,
        )
