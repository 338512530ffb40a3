"""Takes back what a hardening put into a mesh, as its record says, and whatever became of it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cutset.errors import UsageError
from cutset.model.hardening import HardeningEvent, MeshChanging, MeshRestored
from cutset.model.run import Loop
from cutset.store.ledger import Ledger, open_existing_ledger, open_ledger
from cutset.store.runs import hardening_events, held_run
from cutset.verify.apply import surely_take_back
from cutset.verify.local import FilePlace
from cutset.verify.place import ChangeablePlace


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, and why the mesh is not as it was before; empty if it is."""

    run: str
    change: MeshChanging
    problem: str


async def undo(store: Path) -> Undone:
    """Of the hardenings that are in force, the latest."""
    with open_existing_ledger(store) as ledger:
        for run in reversed(ledger.runs(Loop.HARDENING)):
            if change := left_by(hardening_events(ledger, run.id)):
                return await _undone(ledger, run.id, change)
    raise UsageError(f"No hardening of the ledger in `{store}` is in force: there is nothing to undo")


async def put_right(store: Path) -> list[Undone]:
    """What hardenings of clusters left behind that were killed: what they put there is taken back."""
    done = []
    with open_ledger(store) as ledger:
        for run in reversed(ledger.runs(Loop.HARDENING)):
            change = None if run.finished else left_by(hardening_events(ledger, run.id))
            if change and change.resources:
                done.append(await _undone(ledger, run.id, change))
    return done


def left_by(events: Sequence[HardeningEvent]) -> MeshChanging | None:
    """What may be in the mesh, all of it or a part: it was announced, and not taken back, or not with success."""
    change: MeshChanging | None = None
    left: MeshChanging | None = None
    for event in events:
        if isinstance(event, MeshChanging) and event.added:
            change = change or event
        if isinstance(event, MeshRestored) and not event.problem:
            left = None
        elif change is not None:
            left = change
    return left


def is_undone(change: MeshChanging, store: Path) -> bool:
    """Whether the mesh is configured as it was before."""
    if change.file and change.original:
        return change.file.exists() and change.file.read_bytes() == change.original.read_bytes()
    with open_ledger(store) as ledger:
        runs = (hardening_events(ledger, run.id) for run in ledger.runs(Loop.HARDENING))
        return all(left_by(events) != change for events in runs)


async def _undone(ledger: Ledger, run: str, change: MeshChanging) -> Undone:
    with held_run(ledger, run):
        async with _place_of(change) as place:
            problem = await surely_take_back(place, change)
        ledger.append(run, MeshRestored(why="undone", interrupted=True, problem=problem))
    return Undone(run, change, problem)


@asynccontextmanager
async def _place_of(change: MeshChanging) -> AsyncIterator[ChangeablePlace]:
    if change.file:
        yield FilePlace(change.file)
        return
    from cutset.kubernetes.client import connected  # noqa: PLC0415 -- kr8s takes long to load
    from cutset.verify.cluster import ClusterPlace  # noqa: PLC0415

    async with connected(change.context) as cluster:
        namespaces = {json.loads(each.after)["metadata"]["namespace"] for each in change.resources}
        yield ClusterPlace(cluster, tuple(sorted(namespaces)), change.environment, change.context)
