"""Whether search finds what is true of generated systems, and with how few experiments.

`make bench-search` does the same with more systems, and compares with the papers' strategies.
"""

from dataclasses import dataclass, replace
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

from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.search.cuts import CutSearch
from cutset.search.fastfi import FastFi
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import (
    All,
    Call,
    Conditions,
    FirstOf,
    Optional,
    Quorum,
    Shuffled,
    Simulation,
    System,
    all_points,
)

MOST_INJECTIONS = 669  # over all of FastFI's Table 5: what docs/explanation/search.md says
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
    assert run.tally.injections <= 1.8 * replica_bound(row.needed, row.replicas) + 3
    assert run.tally.injections <= row.fastfi
    assert run.tally.rounds == 2


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

        assert run.found == {cut_of(names[point] for point in points_of(cut)) for cut in truth}


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


@dataclass(frozen=True, slots=True)
class Promise:
    """With these injections all cuts are found, and with these no others are left to be found, whatever the seed."""

    name: str
    system: System
    max_size: int
    cuts: tuple[str, ...]
    found: int
    proven: int
    proven_without_inventory: int  # where replicas are not known beforehand


# One injection per cut is the least: only what was injected is known to fail. What comes on top proves the rest.
PROMISES = (
    Promise("twelve calls", All(tuple(Call(api) for api in "ABCDEFGHIJKL")), 3, tuple("ABCDEFGHIJKL"), 12, 12, 12),
    Promise("three replicas each", All(tuple(Call(api, replicas=3) for api in "ABCDE")), 3,
            tuple(f"{api}#1 {api}#2 {api}#3" for api in "ABCDE"), 5, 12, 16),
    Promise("two replicas each", All(tuple(Call(api, replicas=2) for api in "ABCDEFGHIJ")), 2,
            tuple(f"{api}#1 {api}#2" for api in "ABCDEFGHIJ"), 10, 15, 19),
    Promise("a primary and its fallback", All((Call("web"), FirstOf((Call("primary"), Call("backup"))))), 2,
            ("web", "backup primary"), 3, 3, 3),
    Promise("a chain of fallbacks", FirstOf((Call("A"), Call("B"), Call("C"))), 3, ("A B C",), 3, 3, 3),
    Promise("a page with optional parts",
            All((Call("session"), *(Optional(Call(api)) for api in ("ads", "reviews", "tips")))), 3,
            ("session",), 4, 8, 8),
    Promise("a tolerated failure that hides a call", All((Call("A"), Optional(Call("X"), then=Call("Y")))), 2,
            ("A", "Y"), 3, 3, 3),
    Promise("a quorum of two in three", All((Call("A"), Quorum("store", 3, 2))), 2,
            ("A", "store#1 store#2", "store#1 store#3", "store#2 store#3"), 4, 7, 9),
    Promise("a checkout",
            All((Call("session"), Call("cart", Call("redis", replicas=2)), FirstOf((Call("charge"), Call("invoice"))),
                 Optional(Call("tips", Call("catalog", replicas=2))), Call("ship"))), 2,
            ("session", "cart", "ship", "redis#1 redis#2", "charge invoice"), 12, 15, 19),
)  # fmt: skip


def faults(names: str) -> Cut:
    return cut_of(Point.parse(f"simulated/{name}") for name in names.split())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_all_cuts_are_found_and_proven_to_be_all_within_so_many_injections(promise: Promise, seed: int) -> None:
    """One after the other, each answer known before the next is asked for."""
    search = CutSearch(SearchSettings(promise.max_size, inventory=all_points(promise.system), seed=seed))
    simulation = Simulation(promise.system, Conditions(seed))
    truth, injected, when_found = {faults(names) for names in promise.cuts}, 0, 0
    while cuts := search.ask(1):
        injected += sum(bool(cut) for cut in cuts)
        search.learn(simulation.run(cuts[0]))
        if set(search.result().minimal_cuts) == truth:
            when_found = when_found or injected

    assert set(search.result().minimal_cuts) == truth
    assert search.result().finished
    assert when_found <= promise.found
    assert injected <= promise.proven


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_replicas_that_nobody_told_of_cost_few_more(promise: Promise, seed: int) -> None:
    search = CutSearch(SearchSettings(promise.max_size, seed=seed))

    run = explored(search, Simulation(promise.system, Conditions(seed)))

    assert run.found == {faults(names) for names in promise.cuts}
    assert run.tally.injections <= promise.proven_without_inventory


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_promises_name_the_true_cuts(promise: Promise) -> None:
    truth = minimal_cuts_by_brute_force(promise.system, promise.max_size)

    assert {faults(names) for names in promise.cuts} == truth
    assert all(Simulation(promise.system).run(cut).verdict is Verdict.FAILED for cut in truth)
