"""Changes a running mesh through the file that it follows, waits until the mesh has taken the change, and undoes it.

Whoever runs the mesh tells beside the file which version of it holds, and where the mesh can be asked. The file as it
was before a change is kept beside it too.
"""

import hashlib
import http.client
import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from cutset.errors import TargetError, UsageError

FOLLOW_SECONDS = 0.2  # between two looks of the mesh at its file
ANSWER_SECONDS = 3.0  # in which a mesh answers that runs, also while it takes over a change
PATIENCE_SECONDS = 40.0  # for a change to be taken over: Envoy needs less than one, a machine that is busy more


@dataclass(frozen=True, slots=True)
class RunningMesh:
    """What whoever runs a mesh tells of it."""

    process: int  # who runs it
    seen: str = ""  # the version of the file that was looked at last
    problem: str = ""  # why that was not taken over; "" if it was
    keyed: bool = True  # whether it has a key, without which it obeys no plan
    ports: Mapping[str, int] = field(default_factory=dict, hash=False)  # where callers reach each service
    edge_port: int = 0
    admin_url: str = ""  # where it says whether it is ready
    marking: str = ""  # host:port where its edge asks for marks, once somebody listens there


def running_mesh(file: Path) -> RunningMesh | None:
    """The mesh that runs from this file, if there is one."""
    with suppress(OSError, ValueError, TypeError):  # it may be gone, or somebody else's
        told = RunningMesh(**json.loads(applied_file(file).read_bytes()))
        with suppress(PermissionError):  # it runs, for another user
            os.kill(told.process, 0)  # who was killed could not take back what was told
        return told
    return None


def require_changeable(file: Path) -> None:
    """Raises CutsetError, within seconds, unless a mesh runs from this file as it is, answers, and can be changed."""
    if not file.exists():
        raise UsageError(f"There is no `{file}`", hint="Name the file that the mesh runs from with `--mesh`")
    for path in (file, file.resolve().parent):  # the file is replaced by a new one
        if not os.access(path, os.W_OK):
            raise TargetError(
                f"`{path}` cannot be written to, so that the mesh cannot be changed by it",
                hint=f"Give yourself write access (`chmod u+w {path}`), or run the mesh from a copy of the file",
            )
    deadline = time.monotonic() + ANSWER_SECONDS
    while problem := _unsettled(file):
        if time.monotonic() > deadline:
            raise TargetError(problem, hint="Correct the file, or start the mesh anew")
        time.sleep(FOLLOW_SECONDS / 4)


def change_running_mesh(
    file: Path,
    text: str,
    *,
    original: Path | None = None,
    patience: float = PATIENCE_SECONDS,
    stopped: threading.Event | None = None,
) -> None:
    """Writes the file and waits until the mesh that follows it has taken it over; else leaves it as it was.

    What it was is kept as `original`, if that does not exist.
    """
    if running_mesh(file) is None:
        raise not_running(file)
    before = file.read_bytes()
    original = original or kept_as(file, before)
    if not original.exists():
        put(original, before)
    put(file, text.encode())
    if problem := _awaited(file, text.encode(), patience, stopped or threading.Event()):
        put(file, before)
        hint = f"The file is as it was, and kept as `{original}`, too"
        raise TargetError(f"The mesh did not take the changes of `{file}`: {problem}", hint=hint)


def restore_running_mesh(file: Path, original: Path, *, patience: float = PATIENCE_SECONDS) -> str:
    """Puts the file back, and waits until the mesh has taken that. Returns why it has not; empty if it has."""
    try:
        content = original.read_bytes()
        if file.read_bytes() != content:
            put(file, content)
    except OSError as error:
        return f"`{file}` could not be put back: {error.strerror}"
    return _awaited(file, content, patience, threading.Event())


def kept_as(file: Path, content: bytes) -> Path:
    """Where the file is kept as it is now: beside it, under a name that does not hold anything else."""
    first = file.with_name(file.name + ".before")
    if not first.exists() or first.read_bytes() == content:
        return first
    return first.with_name(f"{first.name}-{version_of(content)[:8]}")


def applied_file(file: Path) -> Path:
    """Where the mesh tells which version of its file holds."""
    return file.with_name(file.name + ".applied")


def tell_applied(file: Path, mesh: RunningMesh, version: str, problem: str = "") -> None:
    put(applied_file(file), json.dumps(asdict(replace(mesh, seen=version, problem=problem))).encode())


def version_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(file: Path, content: bytes) -> None:
    """At once, so that nobody reads half of it, whenever we are killed; with the mode that the file had."""
    target = file.resolve()
    beside = target.with_name(file.name + ".new")
    beside.write_bytes(content)
    if target.exists():
        beside.chmod(target.stat().st_mode & 0o777)
    beside.replace(target)


def _awaited(file: Path, content: bytes, patience: float, stopped: threading.Event) -> str:
    """Empty once the mesh has taken this content, else why it has not."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        told = running_mesh(file)
        if told is None:
            return "it does not run any more"
        if told.seen == version_of(content):
            return told.problem
        if stopped.wait(FOLLOW_SECONDS / 4):
            return "interrupted"
    return f"nothing was heard of it within {patience:g} s"


def not_running(file: Path) -> TargetError:
    return TargetError(f"No mesh runs from `{file}`", hint=f"Start it with `cutset mesh up {file}`")


def _unsettled(file: Path) -> str:
    """Why the mesh does not do what the file says; empty if it does."""
    told = running_mesh(file)
    if told is None:
        raise not_running(file)
    if told.problem or told.seen != version_of(file.read_bytes()):
        return f"The mesh does not run what `{file}` says: {told.problem or 'it holds another version'}"
    return "" if _answers(told) else f"The mesh that runs from `{file}` does not answer"


def _answers(mesh: RunningMesh) -> bool:
    if not mesh.admin_url:
        return True
    address = urlsplit(mesh.admin_url).netloc
    with closing(http.client.HTTPConnection(address, timeout=1)) as connection, suppress(OSError):
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    return False
