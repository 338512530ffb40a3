"""Runs a mesh from its mesh.yaml and follows it: what changes there is taken over, and who changed it can wait."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cutset.config.explore import load_mesh
from cutset.config.yaml import read_yaml
from cutset.errors import CutsetError
from cutset.experiment.mesh_checks import MeshSituation
from cutset.inject.local.change import FOLLOW_SECONDS, RunningMesh, applied_file, running_mesh, tell_applied, version_of
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.model.mesh import MeshSpec
from cutset.workload.recording.tap import tap_filter


@contextmanager
def run_mesh_file(
    file: Path, *, key: bytes = b"", tap: Path | None = None, refused: Callable[[str], None] = lambda _: None
) -> Iterator[Mesh]:
    """Until the block ends. Every request and answer is written into the folder `tap`, secrets included."""
    spec = load_mesh(file)
    if tap is not None:
        tap.mkdir(parents=True, exist_ok=True, mode=0o700)
        taps = {service.name: tap_filter(service.name, tap.absolute()) for service in spec.services}
        spec = replace(spec, first_filters=taps)
    with (
        tempfile.TemporaryDirectory(prefix="cutset-mesh-") as work_dir,
        run_mesh(spec, key=key, work_dir=Path(work_dir)) as mesh,
        following(file, mesh, refused),
    ):
        yield mesh


def mesh_file_of(config_file: Path) -> Path | None:
    """The configuration itself, if it has a section `mesh`; else the mesh.yaml beside it, if there is one."""
    config_file = config_file.absolute()
    beside = config_file.with_name("mesh.yaml")
    if config_file.exists() and "mesh" in read_yaml(config_file):
        return config_file
    return beside if beside.exists() else None


def mesh_situation(file: Path) -> MeshSituation:
    """What the file says, and who runs a mesh from it."""
    return MeshSituation(file, load_mesh(file), version_of(file.read_bytes()), running_mesh(file))


@contextmanager
def following(file: Path, mesh: Mesh, refused: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Reloads the mesh whenever the file changes, and says beside it which version of it holds.

    `refused` is told, in a thread of its own, why a version was not taken over.
    """
    ended = threading.Event()
    seen = version_of(file.read_bytes())
    told = RunningMesh(
        os.getpid(),
        keyed=mesh.keyed,
        ports={service.name: service.port for service in mesh.spec.services},
        edge_port=mesh.spec.edge_port,
        admin_url=mesh.admin_url,
        marking=mesh.marking,
    )
    start = (file, mesh, told, ended, refused)
    known = {"seen": seen, "spec": load_mesh(file)}
    follower = threading.Thread(target=_follow, args=start, kwargs=known, name="cutset-mesh-follower")
    tell_applied(file, told, seen)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()
        applied_file(file).unlink(missing_ok=True)


def _follow(
    file: Path,
    mesh: Mesh,
    told: RunningMesh,
    ended: threading.Event,
    refused: Callable[[str], None],
    *,
    seen: str,
    spec: MeshSpec,
) -> None:
    while not ended.wait(FOLLOW_SECONDS):
        try:
            found = version_of(file.read_bytes())
        except OSError:  # an editor may put a new file in its place
            continue
        if found == seen:
            continue
        seen, problem = found, ""
        try:
            wanted = load_mesh(file)
            if wanted != spec:  # the file may hold more than the mesh, and comments
                mesh.reload(wanted)
            spec = wanted
        except CutsetError as error:
            problem = error.message
            refused(problem)
        tell_applied(file, told, seen, problem)
