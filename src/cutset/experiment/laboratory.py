"""What every place where experiments happen can do: a real mesh, a simulation, whatever comes."""

from collections.abc import Sequence
from typing import Protocol

from cutset.errors import HaltedError
from cutset.model.event import RequestAudited
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Verdict
from cutset.model.request import Request


class Laboratory(Protocol):
    async def audit(self, request: Request) -> RequestAudited:
        """Whether the request works without faults, and which of its calls a plan reaches. Before any experiment."""
        ...

    async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
        """One experiment. The request must have been audited; any number of them may be under way.

        With a `share` it has as many requests as it takes to see that so many of them fail.
        """
        ...

    def evidence(self, trace_ids: Sequence[str]) -> EvidenceKept | None:
        """What is kept of the first of these traces that it has something of; it has nothing of them any more then."""
        ...

    def expect_variation(self, request: Request) -> None:
        """Its requests vary, which the audit did not show: from now on, one that survives is no proof."""
        ...

    async def unlike_audit(self, request: Request) -> str:
        """How the request without faults differs from when it was audited; empty if it does not. After experiments."""
        ...

    async def recovered(self) -> bool:
        """Whether all servers are there (again)."""
        ...


async def halt_if_down(laboratory: Laboratory, request: Request, outcome: Outcome) -> None:
    """Raises HaltedError if a server that died in this experiment did not come back: nothing more can be learned."""
    # An unknown outcome with dead servers means that the laboratory waited for them in vain.
    if outcome.dead and (outcome.verdict is Verdict.UNKNOWN or not await laboratory.recovered()):
        raise HaltedError(
            f"{', '.join(outcome.dead)} stopped answering after an experiment on {request.name} and did not come back",
            hint="Restart what is down, then run the command again with `--resume`",
        )
