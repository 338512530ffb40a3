"""Changes a running mesh through the file that it follows, and waits until the mesh has taken the change.

Whoever runs the mesh tells beside the file which version of it holds. The file as it was before its first change is
kept beside it too.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from cutset.errors import TargetError

FOLLOW_SECONDS = 0.2  # between two looks of the mesh at its file


@dataclass(frozen=True, slots=True)
class RunningMesh:
    """What whoever runs a mesh tells of it."""

    process: int  # who runs it
    seen: str = ""  # the version of the file that was looked at last
    problem: str = ""  # why that was not taken over; "" if it was
    keyed: bool = True  # whether it has a key, without which it obeys no plan
    ports: Mapping[str, int] = field(default_factory=dict, hash=False)  # where callers reach each service
    edge_port: int = 0


def running_mesh(file: Path) -> RunningMesh | None:
    """The mesh that runs from this file, if there is one."""
    with suppress(OSError, ValueError, TypeError):  # it may be gone, or somebody else's
        told = RunningMesh(**json.loads(applied_file(file).read_bytes()))
        os.kill(told.process, 0)  # who was killed could not take back what was told
        return told
    return None


def change_running_mesh(file: Path, text: str, *, patience: float = 40.0) -> None:
    """Writes the file and waits until the mesh that follows it has taken it over; else leaves it as it was."""
    if running_mesh(file) is None:
        raise not_running(file)
    before = file.read_bytes()
    if not (first := first_version(file)).exists():
        put(first, before)
    put(file, text.encode())
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        told = running_mesh(file)
        if told is None:
            put(file, before)
            raise not_running(file)
        if told.seen == version_of(text.encode()):
            if told.problem:
                put(file, before)
                raise TargetError(f"The mesh did not take the changes of `{file}`: {told.problem}", hint=_hint(file))
            return
        time.sleep(FOLLOW_SECONDS / 4)
    put(file, before)
    raise TargetError(
        f"The mesh did not take the changes of `{file}` within {patience:g} s: does it still run?", hint=_hint(file)
    )


def not_running(file: Path) -> TargetError:
    return TargetError(f"No mesh runs from `{file}`", hint=f"Start it with `cutset mesh up {file}`")


def first_version(file: Path) -> Path:
    """Where the file is kept as it was before it was changed for the first time."""
    return file.with_name(file.name + ".before")


def _hint(file: Path) -> str:
    return f"The file is as it was; before its first change it was as `{first_version(file)}` is"


def applied_file(file: Path) -> Path:
    """Where the mesh tells which version of its file holds."""
    return file.with_name(file.name + ".applied")


def tell_applied(file: Path, mesh: RunningMesh, version: str, problem: str = "") -> None:
    put(applied_file(file), json.dumps(asdict(replace(mesh, seen=version, problem=problem))).encode())


def version_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(file: Path, content: bytes) -> None:
    """At once, so that nobody reads half of it, whenever we are killed."""
    beside = file.resolve().with_name(file.name + ".new")
    beside.write_bytes(content)
    beside.replace(file.resolve())
