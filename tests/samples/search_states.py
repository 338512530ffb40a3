"""The state of a search that has seen some outcomes of a system."""

from random import Random

from tests.samples.call_systems import run

from cutset.model.fault import Cut
from cutset.search.certificates import Evidence
from cutset.search.elements import Elements
from cutset.search.steps.state import Discovery, SearchState
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import System


def state_after(system: System, settings: SearchSettings, *tried: Cut) -> SearchState:
    """Without faults, and with each of these sets."""
    evidence = Evidence(settings.certificates, Elements(settings.effects))
    evidence.elements.at(settings.inventory)
    state = SearchState(settings, evidence, Random(settings.seed), Discovery(needed=not settings.inventory))
    for cut in (frozenset(), *tried):
        outcome = run(system, cut)
        evidence.learn(outcome)
        state.asked[evidence.elements.to_bits(cut)] = 1
    return state
