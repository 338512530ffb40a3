"""Answers all that a search asks, on a simulated system, and counts what it took."""

from dataclasses import dataclass
from typing import Protocol

from cutset.model.fault import Cut
from cutset.model.outcome import Outcome
from cutset.simulation.simulated import Runs


class AskTell(Protocol):
    """What `cutset.search.strategy.Search` offers to whoever owns the effects."""

    def ask(self, limit: int) -> list[Cut]: ...

    def learn(self, outcome: Outcome) -> None: ...


@dataclass(frozen=True, slots=True)
class SearchCost:
    injections: int = 0  # experiments with a fault
    rounds: int = 0  # questions to the search, the fault-free one included
    requests: int = 0


def drive(search: AskTell, simulation: Runs, *, limit: int = 10**9) -> SearchCost:
    """Answers all that the search asks, `limit` cuts at a time."""
    injections = rounds = requests = 0
    while cuts := search.ask(limit):
        rounds += 1
        injections += sum(1 for cut in cuts if cut)
        for cut in cuts:
            outcome = simulation.run(cut)
            requests += outcome.requests
            search.learn(outcome)
    return SearchCost(injections, rounds, requests)
