"""Whether a search over several effects is right, against brute force over (point, effect).

`python -m benchmarks.effects random_systems` does the same with a thousand.
"""

import pytest
from benchmarks.effects.random_systems import FIVE, SIZE, TASTES, THREE, judged
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.model.effect import Effect, EffectChoice
from cutset.search.cuts import CutSearch
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.drive import drive
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets, plans
from cutset.simulation.programs import run_of
from cutset.simulation.random_programs import Taste, random_request

SYSTEMS = 2  # of each taste
EFFECTS = (*FIVE.usual, *map(Effect.parse, ("timeout", "abort(429)", "abort(503),call=2", "delay(200ms)")))


@pytest.mark.parametrize("taste", TASTES, ids=lambda taste: taste.name)
def test_no_cut_is_missed_mixed_ones_included_and_none_is_reported_that_is_not_minimal(taste: Taste) -> None:
    for number in range(SYSTEMS):
        found = judged((taste, number))

        assert not found["misses"], number
        assert not found["non_minimal"], number
        assert found["mixed_cuts_found"] == found["mixed_cuts"], number


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(TASTES), st.sets(st.sampled_from(EFFECTS), min_size=1, max_size=3))
def test_whatever_the_effects_what_is_called_complete_is_so(seed: int, taste: Taste, effects: set[Effect]) -> None:
    choice = EffectChoice(tuple(sorted(effects)))
    request = random_request(str(seed), taste)
    truth = minimal_sets(request, SIZE, choice)[Does.FAIL]
    for kind in (Certificates.EXACT, Certificates.INDEPENDENT):
        search = CutSearch(SearchSettings(SIZE, kind, choice))
        drive(search, ProgramLaboratory(request))

        result = search.result()
        assert result.complete_up_to == SIZE
        assert result.undecided == ()
        assert set(result.minimal_cuts) == truth


def test_exact_certificates_take_the_least_number_of_experiments_and_a_round_for_each_size() -> None:
    for number in range(SYSTEMS):
        request = random_request(f"least {number}", TASTES[0])
        failing = minimal_sets(request, SIZE, THREE)[Does.FAIL]
        needed = sum(
            len(run_of(request, plan)[1].fired) == size
            for size in range(1, SIZE + 1)
            for plan in plans(request, THREE, size)
            if not any(known < plan for known in failing)
        )

        cost = drive(CutSearch(SearchSettings(SIZE, effects=THREE)), ProgramLaboratory(request))

        assert cost.injections == needed
        assert cost.rounds <= SIZE + 1
