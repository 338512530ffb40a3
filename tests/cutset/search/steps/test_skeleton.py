from random import Random

import pytest
from tests.samples.call_systems import faults
from tests.samples.search_states import state_after

from cutset.search.certificates import Evidence
from cutset.search.steps.skeleton import Skeleton, best_path
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call, all_points

SYSTEM = All(tuple(Call(api, replicas=3) for api in "ABC"))
CANDIDATES = ("A1", "A1 B1", "A2 B2", "B3 C3", "A3 C1")


def evidence() -> Evidence:
    return state_after(SYSTEM, SearchSettings(2, inventory=all_points(SYSTEM))).evidence


def skeleton_of(known: Evidence) -> Skeleton:
    return Skeleton(calls=known.elements.in_calls(known.elements.everything()), failed=0, hidden=0, conditional=False)


@pytest.mark.parametrize("seed", range(10))
def test_the_path_has_a_replica_of_each_call_and_misses_all_that_it_is_said_to_cover(seed: int) -> None:
    known = evidence()
    candidates = [known.elements.to_bits(faults(*names.split())) for names in CANDIDATES]

    best = best_path([skeleton_of(known)], candidates, [], known, Random(seed))

    assert best is not None
    _, path, covered = best
    assert sorted(fault.point.api for fault in known.elements.to_cut(path)) == ["A", "B", "C"]
    assert covered == [candidate for candidate in candidates if not candidate & path]
    assert len(covered) >= 3


@pytest.mark.parametrize("seed", range(10))
def test_the_path_hits_what_is_settled_so_that_its_complement_does_not_contain_it(seed: int) -> None:
    known = evidence()
    settled = [known.elements.to_bits(faults("A2", "B2")), known.elements.to_bits(faults("B3", "C3"))]

    best = best_path([skeleton_of(known)], [known.elements.to_bits(faults("A1"))], settled, known, Random(seed))

    assert best is not None
    assert all(cut & best[1] for cut in settled)


def test_a_candidate_with_all_replicas_of_a_call_is_missed_by_no_path() -> None:
    known = evidence()

    assert (
        best_path([skeleton_of(known)], [known.elements.to_bits(faults("A1", "A2", "A3"))], [], known, Random(0))
        is None
    )


@pytest.mark.parametrize(
    ("hidden", "conditional", "candidate", "certified"),
    [
        (0, False, 0b001, True),
        (0b100, False, 0b001, True),
        (0b100, False, 0b100, False),
        (0b100, False, 0b110, True),  # all that has to fail for this path fails
        (0, True, 0b001, False),
        (0, True, 0b011, True),
    ],
)
def test_what_is_hidden_is_certified_only_along_with_all_that_failed(
    hidden: int, conditional: bool, candidate: int, certified: bool
) -> None:
    assert Skeleton(0, failed=0b010, hidden=hidden, conditional=conditional).certifies(candidate) is certified
