"""Puts what was decided into the running mesh, announced before it is done, and takes it back."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from cutset.errors import TargetError
from cutset.inject.local.change import change_running_mesh, kept_as, restore_running_mesh
from cutset.manifests.mesh_file import MeshSettings, merge_settings
from cutset.model.hardening import HardeningEvent, MeshChanged, MeshChanging, MeshRestored

HardeningRecorder = Callable[[HardeningEvent], None]


def change_in_force(events: Sequence[HardeningEvent]) -> MeshChanging | None:
    """What the mesh holds by the record, if it was not taken back. Until `MeshChanged`, the file may not hold it."""
    changes = [event for event in events if isinstance(event, MeshChanging) and event.added]
    return changes[0] if changes and not was_taken_back(events) else None


def was_taken_back(events: Sequence[HardeningEvent]) -> bool:
    last = [event for event in events if isinstance(event, MeshChanged | MeshRestored)]
    return bool(last) and isinstance(last[-1], MeshRestored)


async def apply_settings(
    file: Path,
    settings: MeshSettings,
    left_out: Sequence[str],
    *,
    past: Sequence[HardeningEvent],
    record: HardeningRecorder,
    refused: Callable[[str], str],
) -> AsyncGenerator[HardeningEvent, None]:
    """`refused` says why a text is none that a mesh could run from; it is asked before anything is touched."""
    text, would = await asyncio.to_thread(_planned, file, settings, left_out)
    if would.added and (problem := await asyncio.to_thread(refused, text)):
        raise TargetError(
            f"The change is not valid, so that nothing was changed: {problem}",
            hint="This is a mistake of Cutset or in the file: report it, or apply by hand what the report advises",
        )
    announced = next((event for event in past if isinstance(event, MeshChanging)), None)
    if announced is None:
        record(announced := would)
        yield announced
    taken = any(isinstance(event, MeshChanged) for event in past) and not was_taken_back(past)
    # Whatever an interruption left in the file, or somebody did since: what is missing there is put there.
    if would.added or (announced.added and not taken):
        await _put(file, text, announced.original)
    if not taken:
        record(done := MeshChanged())
        yield done


def _planned(file: Path, settings: MeshSettings, left_out: Sequence[str]) -> tuple[str, MeshChanging]:
    before, whole = file.read_bytes(), file.absolute()
    merged = merge_settings(before.decode(), settings)
    change = MeshChanging(
        file=whole,
        original=kept_as(whole, before),
        added=merged.added,
        kept=merged.kept,
        left_out=tuple(left_out),
    )
    return merged.text, change


def take_back(change: MeshChanging) -> str:
    """Why the mesh does not run as it did before; empty if it does."""
    return restore_running_mesh(change.file, change.original) if change.original.exists() else ""


async def _put(file: Path, text: str, original: Path) -> None:
    """In a thread that has ended when this has, whatever the reason: else it might write after it was undone."""
    stopped = threading.Event()
    change = asyncio.to_thread(change_running_mesh, file, text, original=original, stopped=stopped)
    task = asyncio.ensure_future(change)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([task])
        raise
