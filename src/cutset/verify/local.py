"""The local mesh as a place for a hardening: settings go into the file that it follows."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutset.errors import TargetError
from cutset.harden.decision import Decision, settings_of
from cutset.inject.local.change import change_running_mesh, kept_as, restore_running_mesh
from cutset.manifests.mesh_file import merge_settings
from cutset.model.hardening import CallsObserved, MeshChanging
from cutset.model.mesh import MeshService
from cutset.verify.place import Prospect


@dataclass(frozen=True, slots=True)
class FilePlace:
    file: Path
    refused: Callable[[str], str] = lambda _: ""  # why a text is none that a mesh could run from

    async def plan(self, decision: Decision, services: Sequence[MeshService], observed: CallsObserved) -> Prospect:
        return await asyncio.to_thread(self._plan, decision, services, observed)

    def _plan(self, decision: Decision, services: Sequence[MeshService], observed: CallsObserved) -> Prospect:
        settings, left_out = settings_of(decision, services, observed)
        before, whole = self.file.read_bytes(), self.file.absolute()
        merged = merge_settings(before.decode(), settings)
        change = MeshChanging(
            file=whole,
            original=kept_as(whole, before),
            added=merged.added,
            kept=merged.kept,
            left_out=tuple(left_out),
        )
        if change.added and (problem := self.refused(merged.text)):
            raise TargetError(
                f"The change is not valid, so that nothing was changed: {problem}",
                hint="This is a mistake of Cutset or in the file: report it, or apply by hand what the report advises",
            )
        repeats = {
            api: own["retries"] for api in decision.evidence if "retries" in (own := settings.get(api.service, {}))
        }
        return Prospect(change, settings, repeats, merged.text)

    async def put(self, prospect: Prospect, announced: MeshChanging) -> None:
        """In a thread that has ended when this has, whatever the reason: else it might write after it was undone."""
        stopped = threading.Event()
        change = asyncio.to_thread(
            change_running_mesh, self.file, prospect.text, original=announced.original, stopped=stopped
        )
        task = asyncio.ensure_future(change)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait([task])
            raise

    async def take_back(self, change: MeshChanging) -> str:
        if change.file is None or change.original is None or not change.original.exists():
            return ""
        return await asyncio.to_thread(restore_running_mesh, change.file, change.original)
