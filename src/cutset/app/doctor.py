"""What is wrong with a set-up, and what to do: the check-up that every campaign begins with, in full."""

from collections.abc import Callable
from pathlib import Path

from cutset.app.explore import open_bench
from cutset.app.mesh import mesh_file_of, mesh_situation
from cutset.config.explore import Config
from cutset.errors import TargetError, UsageError
from cutset.experiment.preflight import preflight
from cutset.model.checkup import Checkup, wrong


async def examine(config: Config, *, key: Callable[[], bytes], mesh_file: Path | None = None) -> Checkup:
    """The mesh.yaml is by default the one beside the configuration, or in it."""
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


def exit_code(found: Checkup) -> int:
    """1 if something is wrong."""
    return 1 if found.wrong else 0
