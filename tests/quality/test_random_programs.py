"""Whether certificates hold on random request programs of all kinds, against brute force.

`python -m benchmarks.truth.random_systems` does the same with thousands.
"""

from itertools import combinations

import pytest
from benchmarks.truth.random_systems import KINDS, KINDS_OF_PROOF, MAX_SIZE, Kind, explored, judged

from cutset.model.fault import cut_of
from cutset.search.cuts import CutSearch
from cutset.search.strategy import SearchSettings
from cutset.simulation.drive import drive
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.programs import ProgramRun, World, points_in
from cutset.simulation.random_programs import Taste, random_request

SYSTEMS = 10  # of each kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.taste.name)
def test_nothing_is_missed_and_nothing_said_that_is_not_so(kind: Kind) -> None:
    for number in range(SYSTEMS):
        found = judged((kind, number))

        assert not found["false_complete"], number
        assert not found["non_minimal"], number
        assert not found["missed_degradations"], number
        assert found["at the bound"] == found["bounded"], number  # exact: the least number of experiments


def test_exact_certificates_take_a_round_for_each_size_and_the_fault_free_one() -> None:
    for number in range(SYSTEMS):
        laboratory = ProgramLaboratory(random_request(f"rounds {number}", Taste()))

        assert drive(CutSearch(SearchSettings(MAX_SIZE)), laboratory).rounds <= MAX_SIZE + 1


def test_independent_certificates_are_exact_for_single_failures_and_take_fewer_experiments() -> None:
    requests = [random_request(f"saved {number}", Taste()) for number in range(3 * SYSTEMS)]
    exact, independent = ([explored(each, KINDS[0], kind) for each in requests] for kind in KINDS_OF_PROOF)

    assert all(run.exact_up_to >= 1 for run in independent)
    assert sum(run.injections for run in independent) <= 0.85 * sum(run.injections for run in exact)


def test_runs_of_sets_that_agree_on_what_one_of_them_called_are_the_same_run() -> None:
    """On all pairs of small sets."""
    for seed in range(4):
        request = random_request(f"agreement {seed}", Taste(points=(5, 7)))
        runs: dict[frozenset[object], tuple[ProgramRun, object]] = {}
        for size in range(4):
            for points in map(frozenset, combinations(sorted(points_in(request)), size)):
                run = ProgramRun(cut_of(points), World())
                runs[points] = run, run.run(request.program)
        for cut, (run, result) in runs.items():
            for other, (run_there, result_there) in runs.items():
                if other & run.called == cut & run.called:
                    assert (result, run.seen) == (result_there, run_there.seen)
