"""A campaign on a simulated shop, run as a process of its own to be killed: `python simulated_campaign.py STORE`."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import Any

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings, Limits
from cutset.experiment.trials import amount_to, variation
from cutset.judge.sequential import Repetition
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut, format_cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.request import Request, Step
from cutset.simulation.simulated import All, Call, Execution, FirstOf, Optional, System, all_points
from cutset.store.ledger import open_ledger

SYSTEMS: dict[str, System] = {
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
REPETITION = Repetition(SETTINGS.limits.failures_needed)
VARYING_RUNS = 2  # enough to tell whether a system has a cache


def changed(settings: CampaignSettings, **options: Any) -> CampaignSettings:
    """The settings with other limits, or another choice of search: whichever section has the option."""
    names = {each.name for each in fields(Limits)}
    return replace(
        settings,
        limits=replace(settings.limits, **{name: value for name, value in options.items() if name in names}),
        search=replace(settings.search, **{name: value for name, value in options.items() if name not in names}),
    )


class SimulatedLaboratory:
    """`pause` leaves the killer time to strike between experiments; `unreached` are calls made without the plan."""

    def __init__(
        self, pause: float = 0.0, systems: Mapping[str, System] = SYSTEMS, unreached: Points = frozenset()
    ) -> None:
        self.ran: list[tuple[str, Cut]] = []
        self.alive = asyncio.Event()
        self.alive.set()
        self._pause = pause
        self._systems = systems
        self._unreached = unreached

    async def audit(self, request: Request) -> RequestAudited:
        system = self._systems[request.name]
        runs = [self._trial(system, BASELINE, turn) for turn in range(3)]
        healthy = all(run.verdict is Verdict.SURVIVED for run in runs)
        return RequestAudited(
            request=request.name,
            healthy=healthy,
            reason="" if healthy else "the request fails without any fault",
            calls=frozenset().union(*(run.calls for run in runs)),
            not_reached=self._unreached & all_points(system),
            trace_ids=(),
            runs=tuple(runs) if healthy else (),
            varies=variation(runs),
        )

    async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
        self.ran.append((request.name, cut))
        await asyncio.sleep(self._pause)
        system, turn = self._systems[request.name], len(self.ran)
        if variation([self._trial(system, BASELINE, each) for each in range(VARYING_RUNS)]):
            return self._experiment(system, cut)
        return outcome_of(system, cut, turn, self._unreached)

    def _experiment(self, system: System, cut: Cut) -> Outcome:
        """As often as it takes, where requests vary."""
        trials: list[Outcome] = []
        while (outcome := amount_to(trials, REPETITION, varying=True)) is None:
            trial = self._trial(system, cut, len(trials))
            # What no fault was called in counts as a trial, too.
            trials.append(replace(trial, verdict=Verdict.SURVIVED) if trial.verdict is Verdict.UNKNOWN else trial)
        return outcome

    def _trial(self, system: System, cut: Cut, turn: int) -> Outcome:
        return outcome_of(system, cut, turn, self._unreached, chance=Alternating(turn))

    def evidence(self, _trace_ids: Sequence[str]) -> None:
        return None

    def expect_variation(self, _request: Request) -> None:
        pass

    async def unlike_audit(self, _request: Request) -> str:
        return ""

    async def recovered(self) -> bool:
        return await self.alive.wait()


class Alternating(Random):
    """Hits a cache in every other request."""

    def __init__(self, turn: int) -> None:
        super().__init__(turn)
        self._turn = turn

    def random(self) -> float:
        return (self._turn + 1) % 2


def outcome_of(
    system: System, cut: Cut, turn: int, unreached: Points = frozenset(), chance: Random | None = None
) -> Outcome:
    execution = Execution(points_of(cut) - unreached, turn=turn, chance=chance)
    path = execution.run(system)
    calls = frozenset(execution.calls) - unreached
    if cut and not points_of(cut) & calls:
        return Outcome(cut, Verdict.UNKNOWN, f"never fired: {format_cut(cut)}", calls=calls)
    repeats = SETTINGS.limits.failures_needed if path is None else 1
    return Outcome(
        cut,
        Verdict.FAILED if path is None else Verdict.SURVIVED,
        path=(path or frozenset()) - unreached,
        failed=frozenset(execution.failed),
        calls=calls,
        fired=points_of(cut) & calls,
        retried=frozenset(execution.retried) - unreached,
        trials=repeats,
        failures=repeats if path is None else 0,
        healthy_after=path is None,
    )


async def main(store: Path) -> None:
    with open_ledger(store) as ledger:
        async for _ in explore("only", REQUESTS, SimulatedLaboratory(pause=0.05), ledger, SETTINGS):
            pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
