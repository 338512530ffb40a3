"""The state of a search that has seen some outcomes of a system."""

from random import Random

from tests.samples.call_systems import run

from cutset.model.outcome import Points
from cutset.search.certificates import Evidence
from cutset.search.steps.state import Discovery, SearchState
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import System


def state_after(system: System, settings: SearchSettings, *tried: Points) -> SearchState:
    """Without faults, and with each of these sets."""
    evidence = Evidence(settings.certificates)
    evidence.to_bits(settings.inventory)
    state = SearchState(settings, evidence, Random(settings.seed), Discovery(needed=not settings.inventory))
    for cut in (frozenset(), *tried):
        outcome = run(system, cut)
        evidence.learn(outcome)
        state.asked[evidence.to_bits(cut)] = 1
    return state
