"""Whether search finds what is true of generated systems, and with how few experiments.

`make bench-search` does the same with more systems, and compares with the papers' strategies.
"""

from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from benchmarks.fastfi_tables import TABLE_5, Row, system_of
from benchmarks.lower_bounds import replica_bound
from benchmarks.random_systems import (
    COUNTER_EXAMPLES,
    FAMILIES,
    HIDDEN_CALLS,
    SHUFFLED,
    CounterExample,
    Family,
    shuffled_names,
    systems_of,
)
from benchmarks.search import Explored, explored, ours

from cutset.search.fastfi import FastFi
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import Conditions, Shuffled, Simulation

MOST_INJECTIONS = 646  # over all of FastFI's Table 5: what docs/search.md says
SYSTEMS = 4  # of each family
SMALL = [family for family in (*FAMILIES, *HIDDEN_CALLS) if "large" not in family.name]  # for brute force


@cache
def table_5(row: Row) -> Explored:
    system = system_of(row)
    return explored(ours(system, row.replicas), Simulation(system, Conditions(seed=1)))


@pytest.mark.parametrize("row", TABLE_5, ids=lambda row: f"{row.name} x{row.replicas}")
def test_a_request_of_fastfis_table_takes_few_injections_in_few_rounds(row: Row) -> None:
    run = table_5(row)

    assert len(run.found) == row.needed
    assert run.tally.injections <= 1.75 * replica_bound(row.needed, row.replicas)
    assert run.tally.injections <= row.fastfi
    assert run.tally.rounds <= 4


def test_all_of_fastfis_table_takes_no_more_injections_than_we_say() -> None:
    assert sum(table_5(row).tally.injections for row in TABLE_5) <= MOST_INJECTIONS


@pytest.mark.parametrize("certificates", Certificates)
@pytest.mark.parametrize("family", SMALL, ids=lambda family: family.name)
def test_exactly_the_minimal_cuts_of_a_random_system_are_found(family: Family, certificates: Certificates) -> None:
    for number, system in islice(systems_of(family), SYSTEMS):
        conditions = Conditions(seed=number, balance=family.balances[number % len(family.balances)])
        run = explored(ours(system, family.max_size, certificates=certificates), Simulation(system, conditions))

        assert run.found == minimal_cuts_by_brute_force(system, family.max_size), number


@pytest.mark.parametrize("family", SHUFFLED, ids=lambda family: family.name)
def test_names_that_mislead_lose_no_cut(family: Family) -> None:
    for number, system in islice(systems_of(family), SYSTEMS):
        names = shuffled_names(system, number)
        truth = minimal_cuts_by_brute_force(system, family.max_size)
        run = explored(ours(system, family.max_size), Shuffled(Simulation(system), names))

        assert run.found == {frozenset(names[point] for point in cut) for cut in truth}


@pytest.mark.parametrize("example", COUNTER_EXAMPLES, ids=lambda example: example.name)
def test_what_defeats_printed_algorithms_is_found(example: CounterExample) -> None:
    truth = minimal_cuts_by_brute_force(example.system, example.max_size)
    printed = explored(FastFi(SearchSettings(example.max_size)), Simulation(example.system))

    assert explored(ours(example.system, example.max_size), Simulation(example.system)).found == truth
    assert printed.found < truth


def test_one_flaky_answer_in_a_hundred_changes_no_result() -> None:
    row = next(row for row in TABLE_5 if row.name == "HR-4 GET /hotels")
    system, flaky = system_of(row), Conditions(flakes=0.01, misfires=0.01, repeats=2)

    for seed in range(10):
        run = explored(ours(system, row.replicas), Simulation(system, replace(flaky, seed=seed)))
        assert run.found == table_5(row).found
        assert run.tally.requests < 2.2 * run.tally.injections
