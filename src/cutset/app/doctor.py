"""What is wrong with a set-up, and what to do: the check-up that every campaign begins with, in full."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cutset.app.bench import open_bench
from cutset.app.mesh import mesh_file_of, mesh_situation
from cutset.config.explore import Config
from cutset.errors import TargetError, UsageError
from cutset.experiment.istio_installed import OwnSide
from cutset.experiment.preflight import preflight
from cutset.inject.signing import public_key_of
from cutset.model.checkup import Checkup, CheckupLine, wrong
from cutset.model.cluster import IstioPlace


async def examine(config: Config, *, key: Callable[[], bytes], mesh_file: Path | None = None) -> Checkup:
    """The mesh.yaml is by default the one beside the configuration, or in it."""
    if config.istio:
        return await _examine_istio(config, config.istio, key)
    configured = config.collector.export_interval
    try:
        signing_key = key()
    except UsageError as error:
        return Checkup((wrong("key", error.message, error.hint, fatal=True),), configured)
    file = mesh_file or (mesh_file_of(config.path) if config.path else None)
    mesh = mesh_situation(file) if file else None
    try:
        async with open_bench(config, signing_key, mesh) as bench:
            return await preflight(bench, config.requests, config.collector, mesh)
    except TargetError as error:
        return Checkup((wrong("collector", error.message, error.hint, fatal=True),), configured)


async def examine_namespaces(place: IstioPlace) -> Checkup:
    """Before anything is installed, and without a configuration: what speaks for and against it."""
    from cutset.app.doctor_istio import examine_cluster  # noqa: PLC0415 -- who has no cluster needs no client for one

    return Checkup(tuple(await examine_cluster(place, None)), 0.0)


async def _examine_istio(config: Config, place: IstioPlace, key: Callable[[], bytes]) -> Checkup:
    """First what the cluster says; where that allows experiments, an empty plan says the rest."""
    from cutset.app.doctor_istio import examine_cluster  # noqa: PLC0415

    configured = config.collector.export_interval
    checks: list[CheckupLine] = []
    public, signing_key = b"", b""
    try:
        signing_key = key()
        public = public_key_of(signing_key)
    except UsageError as error:
        checks.append(wrong("key", error.message, error.hint, fatal=True))
    try:
        checks += await examine_cluster(place, OwnSide(config.target.environment, public))
        if any(check.fatal for check in checks):
            return Checkup(tuple(checks), configured)
        async with open_bench(config, signing_key, None) as bench:
            found = await preflight(bench, config.requests, config.collector)
    except TargetError as error:
        return Checkup((*checks, wrong("cluster", error.message, error.hint, fatal=True)), configured)
    return replace(found, checks=(*checks, *found.checks))


def exit_code(found: Checkup) -> int:
    """1 if something is wrong."""
    return 1 if found.wrong else 0
