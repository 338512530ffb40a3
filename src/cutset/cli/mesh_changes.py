"""A running mesh follows its mesh.yaml: what changes there is taken over, and who changed it can wait for that."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from cutset.config.explore import load_mesh
from cutset.errors import CutsetError, TargetError
from cutset.inject.local.mesh import Mesh, MeshSpec

FOLLOW_SECONDS = 0.2  # between two looks at the file


@contextmanager
def following(file: Path, mesh: Mesh) -> Iterator[None]:
    """Reloads the mesh whenever the file changes, and says beside it which version of it holds."""
    ended = threading.Event()
    applied = _applied_file(file)
    seen = _digest(file.read_bytes())
    start = (file, seen, load_mesh(file), mesh, ended)
    follower = threading.Thread(target=_follow, args=start, name="cutset-mesh-follower")
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


def _follow(file: Path, seen: str, spec: MeshSpec, mesh: Mesh, ended: threading.Event) -> None:
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
            Console(stderr=True, highlight=False).print(
                f"[red]{escape(str(file))} was not taken over:[/] {escape(problem)}"
            )
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
