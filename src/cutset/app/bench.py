"""What experiments need, by the configuration: where spans come from, where to enter, who is to be there."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from cutset.app.source import spans_of
from cutset.config.explore import Config
from cutset.experiment.agent_sites import AgentSites
from cutset.experiment.mesh_checks import MeshSituation
from cutset.experiment.trial import Bench
from cutset.model.mesh import MeshSpec
from cutset.workload.send import open_client


def open_bench(config: Config, key: bytes, mesh: MeshSituation | None) -> AbstractAsyncContextManager[Bench]:
    if config.istio:
        # Loads the client of Kubernetes, which nobody else needs.
        from cutset.app.istio_bench import open_istio_bench  # noqa: PLC0415

        return open_istio_bench(config, config.istio, key)
    return _open_local_bench(config, key, mesh)


@asynccontextmanager
async def _open_local_bench(config: Config, key: bytes, mesh: MeshSituation | None) -> AsyncIterator[Bench]:
    """A mesh that runs tells what its servers are called, and which there are if the configuration does not say."""
    spec = mesh.spec if mesh and mesh.running else config.mesh
    names = _server_names(spec)
    async with spans_of(config.collector) as collector, open_client(config.limits.parallel) as client:
        yield Bench(
            target=replace(config.target, names=names, health=config.target.health or tuple(names)),
            key=key,
            collector=collector,
            client=client,
            level=config.points,
            trace_timeout=config.limits.trace_timeout,
            export_interval=config.collector.export_interval,
            sites=AgentSites(config.target.stores),
            effects=config.effects,
        )


def _server_names(mesh: MeshSpec | None) -> dict[str, str]:
    """By address, the replicas as reports call them."""
    return {
        address: f"{service.name}#{number}"
        for service in (mesh.services if mesh else ())
        for number, address in enumerate(service.replicas, start=1)
    }
