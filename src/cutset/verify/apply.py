"""Puts what was decided into the running mesh, announced before it is done, and takes it back."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from cutset.model.hardening import HardeningEvent, MeshChanged, MeshChanging, MeshRestored
from cutset.verify.place import ChangeablePlace, Prospect

HardeningRecorder = Callable[[HardeningEvent], None]


def change_in_force(events: Sequence[HardeningEvent]) -> MeshChanging | None:
    """What the mesh holds by the record, if it was not taken back. Until `MeshChanged`, it may not hold all of it."""
    changes = [event for event in events if isinstance(event, MeshChanging) and event.added]
    return changes[0] if changes and not was_taken_back(events) else None


def was_taken_back(events: Sequence[HardeningEvent]) -> bool:
    last = [event for event in events if isinstance(event, MeshChanged | MeshRestored)]
    return bool(last) and isinstance(last[-1], MeshRestored)


async def apply_change(
    place: ChangeablePlace, prospect: Prospect, *, past: Sequence[HardeningEvent], record: HardeningRecorder
) -> AsyncGenerator[HardeningEvent, None]:
    announced = next((event for event in past if isinstance(event, MeshChanging)), None)
    if announced is None:
        record(announced := prospect.change)
        yield announced
    taken = any(isinstance(event, MeshChanged) for event in past) and not was_taken_back(past)
    # Whatever an interruption left there, or somebody did since: what is missing is put there.
    if prospect.change.added or (announced.added and not taken):
        await place.put(prospect, announced)
    if not taken:
        record(done := MeshChanged())
        yield done


async def surely_take_back(place: ChangeablePlace, change: MeshChanging) -> str:
    """Also for whoever is told to end meanwhile: that is heard afterwards."""
    task = asyncio.ensure_future(place.take_back(change))
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
    return task.result()
