"""What every place where experiments happen can do: a real mesh, a simulation, whatever comes."""

from typing import Protocol

from cutset.model.event import RequestAudited
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome
from cutset.model.request import Request


class Laboratory(Protocol):
    async def audit(self, request: Request) -> RequestAudited:
        """Whether the request works without faults, and which of its calls a plan reaches. Before any experiment."""
        ...

    async def run(self, request: Request, cut: Cut) -> Outcome:
        """One experiment. The request must have been audited; any number of them may be under way."""
        ...

    async def recovered(self) -> bool:
        """Whether all servers are there (again)."""
        ...
