"""Where a hardening is put: what the file of a local mesh and a cluster with Istio have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cutset.harden.decision import Decision
from cutset.manifests.mesh_file import MeshSettings
from cutset.model.hardening import CallsObserved, MeshChanging
from cutset.model.mesh import MeshService
from cutset.model.point import Point
from cutset.verify.taken import Sign


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a place would hold, of which `change.added` is missing there now."""

    change: MeshChanging
    settings: MeshSettings = field(default_factory=dict, hash=False)  # by service: what findings may be gone by
    repeats: Mapping[Point, int] = field(default_factory=dict, hash=False)  # by API: attempts more where one fails
    text: str = ""  # of the file, with all of it
    signs: tuple[Sign, ...] = ()  # by which one can see that callers follow it


class ChangeablePlace(Protocol):
    async def plan(self, decision: Decision, services: Sequence[MeshService], observed: CallsObserved) -> Prospect:
        """Changes nothing. Raises TargetError if the place would not take it."""
        ...

    async def put(self, prospect: Prospect, announced: MeshChanging) -> None:
        """Whatever is missing of what was announced, until the mesh follows it.

        Raises TargetError if it does not.
        """
        ...

    async def take_back(self, change: MeshChanging) -> str:
        """Why the mesh is not configured as it was before; empty if it is."""
        ...
