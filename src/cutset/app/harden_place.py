"""Where a hardening is tried: the file of a local mesh, or a cluster with Istio."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from cutset.config.explore import Config, load_mesh
from cutset.errors import CutsetError, UsageError
from cutset.harden.decision import Decision
from cutset.inject.local.mesh import refused_by_envoy
from cutset.model.cluster import IstioPlace
from cutset.model.hardening import CallsObserved, MeshChanging
from cutset.model.mesh import MeshService
from cutset.verify.local import FilePlace
from cutset.verify.observe import ObservingLaboratory
from cutset.verify.place import ChangeablePlace

Opened = tuple[ChangeablePlace | None, tuple[MeshService, ...]]


class Apply(StrEnum):
    LOCAL = "local"
    ISTIO = "istio"


@dataclass(frozen=True, slots=True)
class Steps:
    """What to do with the running system."""

    mesh_file: Path | None = None  # of the local mesh, where there is one
    apply: Apply | None = None  # change it
    verify: bool = False  # inject every known cut again
    explore: bool = True  # and look for new ones

    def __post_init__(self) -> None:
        if self.apply is Apply.LOCAL and self.mesh_file is None:
            raise UsageError("There is no mesh.yaml to change", hint="Name it with `--mesh`")


@asynccontextmanager
async def opened_place(steps: Steps, config: Config, laboratory: ObservingLaboratory) -> AsyncIterator[Opened]:
    """What to change, None if nothing is, and the services of the mesh as they are now."""
    if steps.apply is Apply.ISTIO and config.istio is None:
        raise UsageError(
            "The configuration has no section `istio`, so that it is not known which cluster to change",
            hint="`cutset init --namespace NAME` writes one",
        )
    if config.istio is not None and steps.apply is not Apply.LOCAL:
        async with _opened_cluster(steps, config, config.istio, laboratory) as opened:
            yield opened
    else:
        file = steps.mesh_file if steps.apply else None
        place = FilePlace(file, partial(_refused, file)) if file else None
        yield place, services_of_file(steps.mesh_file)


async def foreseen_change(decision: Decision, steps: Steps) -> MeshChanging | None:
    """What would be put into the file of the local mesh, as far as is known before calls are timed; touches nothing."""
    if steps.apply is not Apply.LOCAL or steps.mesh_file is None:
        return None
    plan = FilePlace(steps.mesh_file).plan(decision, services_of_file(steps.mesh_file), CallsObserved(efforts={}))
    return (await plan).change


def services_of_file(mesh_file: Path | None) -> tuple[MeshService, ...]:
    return load_mesh(mesh_file).services if mesh_file else ()


@asynccontextmanager
async def _opened_cluster(
    steps: Steps, config: Config, istio: IstioPlace, laboratory: ObservingLaboratory
) -> AsyncIterator[Opened]:
    from cutset.inject.istio.discovery import discover  # noqa: PLC0415 -- kr8s takes long to load
    from cutset.kubernetes.client import connected  # noqa: PLC0415
    from cutset.verify.cluster import ClusterPlace, mesh_services  # noqa: PLC0415

    async with connected(istio.context) as cluster:
        services = mesh_services(await discover(cluster, istio.namespaces))
        if steps.apply is not Apply.ISTIO:
            yield None, services
            return
        yield (
            ClusterPlace(
                cluster,
                istio.namespaces,
                config.target.environment,
                istio.context,
                laboratory=laboratory,
                requests=config.requests,
            ),
            services,
        )


def _refused(mesh_file: Path, text: str) -> str:
    """Why no mesh would run from this text."""
    with tempfile.TemporaryDirectory(prefix="cutset-harden-") as folder:
        file = Path(folder, mesh_file.name)
        file.write_text(text)
        try:
            return refused_by_envoy(load_mesh(file))
        except CutsetError as error:
            return error.message
