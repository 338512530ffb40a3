"""A campaign on a simulated shop, run as a process of its own to be killed: `python simulated_campaign.py STORE`."""

import asyncio
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings, Limits
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut, points_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.request import Request, Step
from cutset.simulation.simulated import All, Call, Execution, FirstOf, Node, Optional
from cutset.store.ledger import open_ledger

SYSTEMS: dict[str, Node] = {
    "GET /": All((Call("session"), Call("currency"), Call("products", replicas=2), Optional(Call("ads")))),
    "POST /checkout": All(
        (
            Call("session"),
            Call("cart"),
            Call("order", All((FirstOf((Call("charge"), Call("backup"), Call("invoice"))), Call("ship", replicas=2)))),
            Optional(Call("recommend", Call("products", replicas=2)), Call("currency")),
        )
    ),
}
REQUESTS = [Request(name, Step("GET", "/")) for name in SYSTEMS]
SETTINGS = CampaignSettings(limits=Limits(parallel=4))


def changed(settings: CampaignSettings, **options: Any) -> CampaignSettings:
    """The settings with other limits, or another choice of search: whichever section has the option."""
    names = {each.name for each in fields(Limits)}
    return replace(
        settings,
        limits=replace(settings.limits, **{name: value for name, value in options.items() if name in names}),
        search=replace(settings.search, **{name: value for name, value in options.items() if name not in names}),
    )


class SimulatedLaboratory:
    """`pause` leaves the killer time to strike between experiments."""

    def __init__(self, pause: float = 0.0) -> None:
        self.ran: list[tuple[str, Cut]] = []
        self._pause = pause

    async def audit(self, request: Request) -> RequestAudited:
        runs = tuple(outcome_of(request.name, BASELINE, turn) for turn in range(3))
        return RequestAudited(
            request=request.name,
            healthy=True,
            reason="",
            calls=frozenset().union(*(run.calls for run in runs)),
            not_reached=frozenset(),
            trace_ids=(),
            runs=runs,
        )

    async def run(self, request: Request, cut: Cut) -> Outcome:
        self.ran.append((request.name, cut))
        await asyncio.sleep(self._pause)
        return outcome_of(request.name, cut, turn=len(self.ran))

    async def recovered(self) -> bool:
        return True


def outcome_of(request: str, cut: Cut, turn: int) -> Outcome:
    execution = Execution(points_of(cut), turn=turn)
    path = execution.run(SYSTEMS[request])
    return Outcome(
        cut,
        Verdict.FAILED if path is None else Verdict.SURVIVED,
        path=path or frozenset(),
        failed=frozenset(execution.failed),
        calls=frozenset(execution.calls),
    )


async def main(store: Path) -> None:
    with open_ledger(store) as ledger:
        async for _ in explore("only", REQUESTS, SimulatedLaboratory(pause=0.05), ledger, SETTINGS):
            pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
