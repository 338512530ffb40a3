from itertools import combinations, pairwise, product

import pytest
from benchmarks.fastfi_tables import TABLE_5
from benchmarks.lower_bounds import exact_bound, fewest_paths, minimal_transversals, replica_bound

from cutset.simulation.simulated import All, Call, FirstOf


def paths_suffice(paths: tuple[tuple[int, ...], ...], apis: int, replicas: int) -> bool:
    """Whether every survived set of `replicas` points misses one of the paths."""
    points = list(product(range(apis), range(replicas)))
    return all(
        any(all(path[api] != replica for api, replica in chosen) for path in paths)
        for chosen in combinations(points, replicas)
        if len({api for api, _ in chosen}) > 1
    )


def fewest_paths_by_brute_force(apis: int, replicas: int) -> int:
    every = list(product(range(replicas), repeat=apis))
    for number in range(1, len(every) + 1):
        if any(paths_suffice(chosen, apis, replicas) for chosen in combinations(every, number)):
            return number
    raise AssertionError


@pytest.mark.parametrize(("apis", "replicas"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_the_bound_is_met_by_small_systems(apis: int, replicas: int) -> None:
    assert fewest_paths(apis, replicas) == fewest_paths_by_brute_force(apis, replicas)


def test_the_bound_grows_with_apis_and_replicas() -> None:
    table = [[fewest_paths(apis, replicas) for apis in range(26)] for replicas in range(1, 7)]

    assert all(row == sorted(row) for row in table)
    assert all(fewer <= more for less, greater in pairwise(table) for fewer, more in zip(less, greater, strict=True))
    assert (fewest_paths(12, 4), fewest_paths(25, 3), fewest_paths(7, 6)) == (10, 9, 13)


def test_the_sum_over_table_5() -> None:
    assert sum(replica_bound(row.needed, row.replicas) for row in TABLE_5) == 553


def test_the_transversals_of_the_cuts_are_the_paths() -> None:
    assert set(minimal_transversals([0b001, 0b110])) == {0b011, 0b101}


def test_the_exact_bound_of_a_cache_with_a_fallback_behind_a_gateway() -> None:
    """Two cuts, {A} and {B, C}; the paths A-B and A-C are needed, one of which comes without a fault."""
    pytest.importorskip("scipy")

    assert exact_bound(All((Call("A"), FirstOf((Call("B"), Call("C"))))), 3) == 3
