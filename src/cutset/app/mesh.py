"""Runs a mesh from its mesh.yaml and follows it: what changes there is taken over, and who changed it can wait."""

import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cutset.config.explore import load_mesh
from cutset.errors import CutsetError, TargetError
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.model.mesh import MeshSpec
from cutset.workload.recording.tap import tap_filter

FOLLOW_SECONDS = 0.2  # between two looks at the file


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


@contextmanager
def following(file: Path, mesh: Mesh, refused: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Reloads the mesh whenever the file changes, and says beside it which version of it holds.

    `refused` is told, in a thread of its own, why a version was not taken over.
    """
    ended = threading.Event()
    applied = _applied_file(file)
    seen = _digest(file.read_bytes())
    start = (file, mesh, ended, refused)
    known = {"seen": seen, "spec": load_mesh(file)}
    follower = threading.Thread(target=_follow, args=start, kwargs=known, name="cutset-mesh-follower")
    _tell(applied, seen)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()
        applied.unlink(missing_ok=True)


def change_running_mesh(file: Path, text: str, *, patience: float = 40.0) -> None:
    """Writes the file and waits until the mesh that follows it has taken it over; else leaves it as it was."""
    if not _applied_file(file).exists():
        raise TargetError(f"No mesh runs from `{file}`", hint=f"Start it with `cutset mesh up {file}`")
    before = file.read_bytes()
    if not (first := first_version(file)).exists():
        first.write_bytes(before)
    _put(file, text.encode())
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        told = json.loads(_applied_file(file).read_text()) if _applied_file(file).exists() else {}
        if told.get("seen") == _digest(text.encode()):
            if told["problem"]:
                _put(file, before)
                raise TargetError(f"The mesh did not take the changes of `{file}`: {told['problem']}")
            return
        time.sleep(FOLLOW_SECONDS / 4)
    _put(file, before)
    raise TargetError(f"The mesh did not take the changes of `{file}` within {patience:g} s: does it still run?")


def first_version(file: Path) -> Path:
    """Where the file is kept as it was before it was changed for the first time."""
    return file.with_name(file.name + ".before")


def _follow(
    file: Path, mesh: Mesh, ended: threading.Event, refused: Callable[[str], None], *, seen: str, spec: MeshSpec
) -> None:
    while not ended.wait(FOLLOW_SECONDS):
        try:
            found = _digest(file.read_bytes())
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
        _tell(_applied_file(file), seen, problem)


def _tell(applied: Path, seen: str, problem: str = "") -> None:
    _put(applied, json.dumps({"seen": seen, "problem": problem}).encode())


def _put(file: Path, content: bytes) -> None:
    """At once, so that nobody reads half of it."""
    beside = file.resolve().with_name(file.name + ".new")
    beside.write_bytes(content)
    beside.replace(file.resolve())


def _applied_file(file: Path) -> Path:
    return file.with_name(file.name + ".applied")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
