"""How many experiments and rounds each strategy needs, and whether it finds everything: `python -m benchmarks.search`.

All systems are simulated (`cutset.simulation.simulated`), so a run is repeatable to the digit, but for times. FastFI's
systems are in `benchmarks.fastfi_tables`; how they were fitted is said there. `--only SECTION` runs a part:

    table5    the 32 requests of FastFI's Table 5, all strategies side by side, cuts of up to as many points as replicas
    fig10     FastFI's grouped skeletons
    random    random systems against brute force; shuffled names; systems that defeat printed algorithms
    hidden    systems in which a tolerated failure hides a mandatory call
    caches    systems whose paths vary without any fault
    flaky     1 % of the requests fail for no reason, 1 % have a fault that does not fire
    planning  CPU seconds that search itself takes for the two largest requests
    million   a thousand request classes of a system of a million services
    microfi   MicroFI's Table 7; needs --groundtruth FOLDER

LDFI, MicroFI and IntelliFI come out alike: they differ in order, in history shared between requests, and in what they
conclude from calls that failed upstream of a fault, none of which matters for one request of calls side by side.

It ends with one JSON line:

    injections_total, injections_one_shot, injections_no_inventory   over Table 5
    lower_bound_total, paper_total, fastfi_simulated_total           the same: bound, FastFI as printed and as rebuilt
    ratio_to_bound, worst_ratio_to_bound                             of injections_total, and on the worst row
    mean_rounds, max_rounds, one_shot_rounds, rounds_no_inventory    per request, the fault-free one included
    planning_seconds_max                                             CPU, per request
    random_systems, misses, non_minimal                              lost and false cuts of table5, fig10 and random
    plain_injections_ratio                                           over repaired FastFI's
    plain_rounds_ratio, mixed_injections_ratio                       the same
    ratio_to_exact_bound                                             on a sample; null without SciPy
    shuffled_systems, shuffled_misses, counter_examples_missed
    hidden_call_systems, hidden_call_misses                          exact and independent certificates together
    hidden_call_cuts, hidden_call_misses_fastfi                      all cuts, and those that path clauses alone lose
    cache_systems, cache_misses, cache_misses_one_try                many requests per experiment, and one
    flaky_runs, flaky_wrong, requests_per_injection, flaky_wrong_fastfi_one_try
    fig10_bound, fig10_injections, fig10_rounds, fig10_injections_worst_seed    median and worst of nine seeds
    million_services_seconds, million_services_…                     for a thousand classes; memory, what was found
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.fastfi_tables import FIGURE_10, TABLE_5, Row, Skeletons, system_of
from benchmarks.lower_bounds import exact_bound, replica_bound
from benchmarks.microfi_table7 import table7
from benchmarks.plot import Bar, injections_svg
from benchmarks.random_systems import (
    CACHES,
    COUNTER_EXAMPLES,
    FAMILIES,
    HIDDEN_CALLS,
    SHUFFLED,
    CounterExample,
    Family,
    shuffled_names,
    systems_of,
)

from benchmarks import million_services
from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.outcome import Outcome
from cutset.search.cuts import CutSearch
from cutset.search.fastfi import FastFi
from cutset.search.intellifi import IntelliFi
from cutset.search.ldfi import Ldfi
from cutset.search.microfi import MicroFi
from cutset.search.strategy import Certificates, Search, SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import SearchCost, drive
from cutset.simulation.simulated import (
    All,
    Call,
    Conditions,
    Runs,
    Shuffled,
    Simulation,
    System,
    all_points,
    grouped_skeletons,
    points_of_call,
)

MOST_INJECTIONS = 5_000  # of a strategy of the papers, per request; what would take more is printed with `>`
EXACT_SAMPLE = 40
CACHE_TRIES = 40  # with two caches, one in 100,000 experiments never sees both miss
FLAKY_RUNS = 150  # for each of two systems
FLAKE = 0.01

KINDS_OF_PROOF = (Certificates.EXACT, Certificates.INDEPENDENT)  # with one effect, `classes` are the latter
OURS: Mapping[str, Mapping[str, Any]] = {
    "batch": {},
    "one-shot": {"one_shot": True},
    "no inventory": {"inventory": frozenset()},
}
RANDOM_MODES: Mapping[str, Mapping[str, Any]] = {
    "batch": {},
    "independent": {"certificates": Certificates.INDEPENDENT},
    "no inventory": {"inventory": frozenset()},
}
RECKLESS = ("one try",)  # is wrong by design
Task = TypeVar("Task")
Start = Callable[[SearchSettings], Search]
PAPERS: Mapping[str, Start] = {
    "FastFI": FastFi,
    "repaired": partial(FastFi, repaired=True),
    "MicroFI": MicroFi,
    "IntelliFI": IntelliFi,
    "LDFI": Ldfi,
}


class Watched:
    """A search, with the CPU time that it takes, and an end after so many injections."""

    def __init__(self, search: Search, most: int) -> None:
        self.search = search
        self.seconds = 0.0
        self.capped = False
        self._left = most + 1  # the fault-free run is none

    def ask(self, limit: int) -> list[Cut]:
        start = time.process_time()
        cuts = self.search.ask(limit)
        self.seconds += time.process_time() - start
        self.capped = len(cuts) > self._left
        self._left -= len(cuts)
        return cuts[: len(cuts) + min(self._left, 0)]

    def learn(self, outcome: Outcome) -> None:
        start = time.process_time()
        self.search.learn(outcome)
        self.seconds += time.process_time() - start


@dataclass(frozen=True, slots=True)
class Explored:
    tally: SearchCost
    seconds: float
    capped: bool
    found: frozenset[Cut]

    @property
    def shown(self) -> str:
        return f"{'>' * self.capped}{self.tally.injections}"


def explored(search: Search, system: Runs, *, most: int = 10**9) -> Explored:
    watched = Watched(search, most)
    tally = drive(watched, system)
    return Explored(tally, watched.seconds, watched.capped, frozenset(search.result().minimal_cuts))


def ours(system: System, max_size: int, **settings: Any) -> Search:
    return CutSearch(replace(SearchSettings(max_size, inventory=all_points(system)), **settings))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several strategies on one system."""

    name: str
    truth: frozenset[Cut]
    runs: Mapping[str, Explored]
    bound: int | None = None


class Sums:
    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self.systems = self.cuts = self.bound = self.injections_where_bound = 0
        self.injections: Counter[str] = Counter()
        self.rounds: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.false: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        for each in comparisons:
            self._add(each)

    def _add(self, comparison: Comparison) -> None:
        self.systems += 1
        self.cuts += len(comparison.truth)
        for name, run in comparison.runs.items():
            self.injections[name] += run.tally.injections
            self.rounds[name] += run.tally.rounds
            self.requests[name] += run.tally.requests
            self.missed[name] += len(comparison.truth - run.found)
            self.false[name] += len(run.found - comparison.truth)
            self.wrong[name] += run.found != comparison.truth
        if comparison.bound is not None:
            self.bound += comparison.bound
            self.injections_where_bound += comparison.runs["batch"].tally.injections


class Results:
    """What the sections found; errors of all sections add up."""

    def __init__(self) -> None:
        self.numbers: dict[str, object] = {}
        self.bars: list[Bar] = []
        self.misses = self.non_minimal = 0
        self.planning_seconds = 0.0

    def check(self, sums: Sums, modes: Iterable[str]) -> None:
        for mode in modes:
            self.misses += sums.missed[mode]
            self.non_minimal += sums.false[mode]
        self.numbers |= {"misses": self.misses, "non_minimal": self.non_minimal}

    def planned(self, comparisons: Iterable[Comparison]) -> None:
        seconds = [each.runs[mode].seconds for each in comparisons for mode in OURS]
        self.planning_seconds = max(self.planning_seconds, *seconds)
        self.numbers["planning_seconds_max"] = round(self.planning_seconds, 2)


def compared(compare: Callable[[Task], Comparison], cases: Sequence[Task]) -> Iterator[Comparison]:
    """On all processors; tells of what ours gets wrong, so that it can be looked into."""
    with ProcessPoolExecutor() as pool:
        for number, comparison in enumerate(pool.map(compare, cases), start=1):
            say(f"{comparison.name} ({number}/{len(cases)})")
            for mode, run in comparison.runs.items():
                if mode not in PAPERS and mode not in RECKLESS and run.found != comparison.truth:
                    missed, false = cuts(comparison.truth - run.found), cuts(run.found - comparison.truth)
                    print(f"  WRONG: {comparison.name}, {mode}: missed {missed}, false {false}")
            yield comparison


def table5(results: Results) -> None:
    runs = dict(zip(TABLE_5, compared(compare_row, TABLE_5), strict=True))
    sums = Sums(runs.values())
    bounds = {row: replica_bound(row.needed, row.replicas) for row in TABLE_5}
    names = [*OURS, *PAPERS]
    printed = ("fastfi", "microfi", "intellifi", "ldfi")
    print_table(
        "FastFI Table 5: injections; in brackets what FastFI prints",
        [
            ["request", "n×r", "cuts", "bound", *names, *(f"({name})" for name in printed)],
            *(
                [row.name, f"{row.apis}×{row.replicas}", row.needed, bounds[row]]
                + [each.runs[name].shown for name in names]
                + [f"({getattr(row, name)})" for name in printed]
                for row, each in runs.items()
            ),
            ["sum", "", sums.cuts, sum(bounds.values()), *(sums.injections[name] for name in names)]
            + [f"({sum(getattr(row, name) for row in TABLE_5)})" for name in printed],
            ["lost cuts", "", "", "", *(sums.missed[name] for name in names), *("" for _ in printed)],
        ],
    )
    print_table(
        "FastFI Table 5: rounds, and CPU seconds of search",
        [
            ["request", *names, *(f"{name}, s" for name in names)],
            *(
                [row.name, *(each.runs[name].tally.rounds for name in names)]
                + [f"{each.runs[name].seconds:.2f}" for name in names]
                for row, each in runs.items()
            ),
            ["sum", *(sums.rounds[name] for name in names)]
            + [f"{sum(each.runs[name].seconds for each in runs.values()):.2f}" for name in names],
        ],
    )
    results.check(sums, OURS)
    results.planned(runs.values())
    results.bars = [
        Bar(row.name, bounds[row], each.runs["batch"].tally.injections, row.fastfi) for row, each in runs.items()
    ]
    results.numbers |= {
        "injections_total": sums.injections["batch"],
        "injections_one_shot": sums.injections["one-shot"],
        "injections_no_inventory": sums.injections["no inventory"],
        "lower_bound_total": sum(bounds.values()),
        "paper_total": sum(row.fastfi for row in TABLE_5),
        "fastfi_simulated_total": sums.injections["FastFI"],
        "ratio_to_bound": ratio(sums.injections["batch"], sum(bounds.values())),
        "worst_ratio_to_bound": max(
            ratio(each.runs["batch"].tally.injections, bounds[row]) for row, each in runs.items()
        ),
        "mean_rounds": ratio(sums.rounds["batch"], sums.systems),
        "max_rounds": max(each.runs["batch"].tally.rounds for each in runs.values()),
        "one_shot_rounds": max(each.runs["one-shot"].tally.rounds for each in runs.values()),
        "rounds_no_inventory": ratio(sums.rounds["no inventory"], sums.systems),
    }


def compare_row(row: Row) -> Comparison:
    simulation = partial(Simulation, system_of(row), Conditions(seed=1))
    papers = {
        name: explored(start(SearchSettings(row.replicas)), simulation(), most=MOST_INJECTIONS)
        for name, start in PAPERS.items()
    }
    planned = compare_planning(row)
    return replace(planned, runs={**planned.runs, **papers})


def compare_planning(row: Row) -> Comparison:
    system = system_of(row)
    assert isinstance(system, All)
    truth = frozenset(cut_of(points_of_call(call)) for call in system.parts if isinstance(call, Call))
    runs = {
        name: explored(ours(system, row.replicas, **settings), Simulation(system, Conditions(seed=1)))
        for name, settings in OURS.items()
    }
    return Comparison(row.name, truth, runs)


def fig10(results: Results) -> None:
    runs = dict(zip(FIGURE_10, compared(compare_skeletons, FIGURE_10), strict=True))
    sums = Sums(runs.values())
    names = ["batch", "worst of 9 seeds", *PAPERS]
    print_table(
        "FastFI Fig. 10: injections; in brackets what FastFI prints, the fault-free run included",
        [
            ["edges/groups/bones", "bound", *names, "rounds", "(fastfi)", "(others)"],
            *(
                [
                    each.name,
                    comparison.bound,
                    *(comparison.runs[name].shown for name in names),
                    comparison.runs["batch"].tally.rounds,
                    f"({each.fastfi or ''})",
                    f"({each.baselines})",
                ]
                for each, comparison in runs.items()
            ),
        ],
    )
    results.check(sums, ("batch", "worst of 9 seeds"))
    results.numbers |= {
        "fig10_bound": sums.bound,
        "fig10_injections": sums.injections["batch"],
        "fig10_injections_worst_seed": sums.injections["worst of 9 seeds"],
        "fig10_rounds": [each.runs["batch"].tally.rounds for each in runs.values()],
    }


def compare_skeletons(each: Skeletons) -> Comparison:
    system = grouped_skeletons(each.edges, each.groups, each.bones)
    bones = (one & two for one, two in zip(system.paths[::2], system.paths[1::2], strict=True))
    truth = frozenset(frozenset(chosen) for chosen in product(*bones))
    seeds = sorted(
        (explored(ours(system, each.groups, seed=seed), Simulation(system)) for seed in range(9)),
        key=lambda run: (run.tally.injections, run.tally.rounds),
    )
    runs = {"batch": seeds[4], "worst of 9 seeds": seeds[-1]}
    for name, start in PAPERS.items():
        runs[name] = explored(start(SearchSettings(each.groups)), Simulation(system), most=MOST_INJECTIONS)
    return Comparison(each.name, truth, runs, bound=len(truth) + len(system.paths) - 1)


@dataclass(frozen=True, slots=True)
class Case:
    family: Family
    number: int
    system: System

    @property
    def name(self) -> str:
        return f"{self.family.name} {self.number}"

    @property
    def truth(self) -> frozenset[Cut]:
        return frozenset(minimal_cuts_by_brute_force(self.system, self.family.max_size))

    @property
    def conditions(self) -> Conditions:
        return Conditions(self.number, self.family.balances[self.number % len(self.family.balances)])

    def ours(self, **settings: Any) -> Search:
        return ours(self.system, self.family.max_size, seed=self.number, **settings)

    def papers(self, *names: str) -> dict[str, Explored]:
        settings = SearchSettings(self.family.max_size)
        simulation = partial(Simulation, self.system, self.conditions)
        return {name: explored(PAPERS[name](settings), simulation(), most=MOST_INJECTIONS) for name in names}


def cases_of(family: Family) -> list[Case]:
    return [Case(family, number, system) for number, system in systems_of(family)]


def random_systems(results: Results) -> None:
    header = ["family", "systems", "cuts", *RANDOM_MODES, "repaired", "LDFI", "lost by FastFI", "rounds", "repaired"]
    rows: list[list[object]] = [[*header]]
    by_family = {}
    for family in FAMILIES:
        sums = Sums(compared(compare_random, cases_of(family)))
        by_family[family.name] = sums
        results.check(sums, RANDOM_MODES)
        rows.append(
            [family.name, sums.systems, sums.cuts, *(sums.injections[mode] for mode in RANDOM_MODES)]
            + [sums.injections["repaired"], sums.injections["LDFI"], sums.missed["FastFI"]]
            + [ratio(sums.rounds[name], sums.systems) for name in ("batch", "repaired")]
        )
        if sums.missed["repaired"]:
            print(f"  {family.name}: repaired FastFI loses {sums.missed['repaired']} of {sums.cuts} cuts")
    print_table("Random systems: injections, and rounds per system", rows)
    plain, mixed = ([sums for name, sums in by_family.items() if name.startswith(kind)] for kind in ("plain", "mixed"))
    exact = by_family[FAMILIES[0].name]
    results.numbers |= {
        "random_systems": sum(sums.systems for sums in by_family.values()),
        "plain_injections_ratio": over_repaired([(sums.injections, "batch") for sums in plain]),
        "plain_rounds_ratio": over_repaired([(sums.rounds, "batch") for sums in plain]),
        "mixed_injections_ratio": over_repaired([(sums.injections, "batch") for sums in mixed]),
        "ratio_to_exact_bound": ratio(exact.injections_where_bound, exact.bound) if exact.bound else None,
    }
    shuffled_systems(results)
    counter_examples(results)


def over_repaired(counts: Sequence[tuple[Counter[str], str]]) -> float:
    return ratio(sum(count[mode] for count, mode in counts), sum(count["repaired"] for count, _ in counts))


def compare_random(case: Case) -> Comparison:
    runs = {
        mode: explored(case.ours(**settings), Simulation(case.system, case.conditions))
        for mode, settings in RANDOM_MODES.items()
    }
    sampled = case.family == FAMILIES[0] and case.number < EXACT_SAMPLE
    bound = exact_bound(case.system, case.family.max_size) if sampled else None
    return Comparison(case.name, case.truth, runs | case.papers("repaired", "LDFI", "FastFI"), bound)


def shuffled_systems(results: Results) -> None:
    sums = Sums(compared(compare_shuffled, [case for family in SHUFFLED for case in cases_of(family)]))
    results.check(sums, ("batch",))
    injections = f"{sums.injections['batch']} injections, repaired FastFI {sums.injections['repaired']}"
    print(f"\nShuffled names: {sums.systems} systems, {sums.missed['batch']} of {sums.cuts} cuts lost, {injections}")
    results.numbers |= {"shuffled_systems": sums.systems, "shuffled_misses": sums.missed["batch"]}


def compare_shuffled(case: Case) -> Comparison:
    names = shuffled_names(case.system, case.number)
    truth = frozenset(frozenset(names[point] for point in cut) for cut in case.truth)
    simulation = Shuffled(Simulation(case.system, case.conditions), names)
    repaired = FastFi(SearchSettings(case.family.max_size), repaired=True)
    runs = {"batch": explored(case.ours(), simulation), "repaired": explored(repaired, simulation)}
    return Comparison(case.name, truth, runs)


def counter_examples(results: Results) -> None:
    names = ("batch", "FastFI", "repaired")
    comparisons = list(compared(compare_counter_example, COUNTER_EXAMPLES))
    print_table(
        "Counter-examples: cuts found",
        [
            ["", "cuts", *names],
            *(
                [each.name, cuts(each.truth), *(len(each.truth & each.runs[name].found) for name in names)]
                for each in comparisons
            ),
        ],
    )
    sums = Sums(comparisons)
    results.check(sums, ("batch",))
    results.numbers["counter_examples_missed"] = sums.missed["batch"]


def compare_counter_example(example: CounterExample) -> Comparison:
    case = Case(Family(example.name, (), example.max_size, 1), 0, example.system)
    batch = explored(case.ours(), Simulation(example.system))
    return Comparison(example.name, case.truth, {"batch": batch, **case.papers("FastFI", "repaired")})


def hidden(results: Results) -> None:
    rows: list[list[object]] = [["family", "systems", "cuts", *KINDS_OF_PROOF, "repaired", "lost by it"]]
    systems = lost = all_cuts = wrong = 0
    for family in HIDDEN_CALLS:
        sums = Sums(compared(compare_hidden, cases_of(family)))
        rows.append(
            [
                family.name,
                sums.systems,
                sums.cuts,
                *(sums.injections[name] for name in (*KINDS_OF_PROOF, "repaired")),
                sums.missed["repaired"],
            ]
        )
        systems, all_cuts, lost = systems + sums.systems, all_cuts + sums.cuts, lost + sums.missed["repaired"]
        wrong += sum(sums.missed[name] + sums.false[name] for name in KINDS_OF_PROOF)
    print_table("A tolerated failure hides a mandatory call: injections", rows)
    results.numbers |= {
        "hidden_call_systems": systems,
        "hidden_call_misses": wrong,
        "hidden_call_cuts": all_cuts,
        "hidden_call_misses_fastfi": lost,
    }


def compare_hidden(case: Case) -> Comparison:
    runs: dict[str, Explored] = {
        certificates: explored(case.ours(certificates=certificates), Simulation(case.system, case.conditions))
        for certificates in KINDS_OF_PROOF
    }
    return Comparison(case.name, case.truth, runs | case.papers("repaired"))


def caches(results: Results) -> None:
    sums = Sums(compared(compare_caches, [case for family in CACHES for case in cases_of(family)]))
    wrong = {name: sums.missed[name] + sums.false[name] for name in ("batch", "one try")}
    print(
        f"\nCaches: {sums.systems} systems, {sums.cuts} cuts, {sums.injections['batch']} injections of {CACHE_TRIES} "
        f"requests each: {wrong['batch']} wrong; with one request each: {wrong['one try']}"
    )
    results.numbers |= {
        "cache_systems": sums.systems,
        "cache_misses": wrong["batch"],
        "cache_misses_one_try": wrong["one try"],
    }


def compare_caches(case: Case) -> Comparison:
    patient = Simulation(case.system, replace(case.conditions, tries=CACHE_TRIES))
    runs = {
        "batch": explored(case.ours(), patient),
        "one try": explored(case.ours(), Simulation(case.system, case.conditions)),
    }
    return Comparison(case.name, case.truth, runs)


def flaky(results: Results) -> None:
    rows: list[list[object]] = [["system", "runs", "wrong", "injections", "requests", "repaired, one try: wrong"]]
    numbers: Counter[str] = Counter()
    for apis, replicas in ((7, 4), (15, 3)):
        sums = Sums(compared(compare_flaky, [(apis, replicas, seed) for seed in range(FLAKY_RUNS)]))
        wrong, wrong_fastfi = sums.wrong["batch"], sums.wrong["repaired"]
        injections, requests = sums.injections["batch"], sums.requests["batch"]
        rows.append([f"{apis}×{replicas}", sums.systems, wrong, injections, requests, wrong_fastfi])
        numbers.update(runs=sums.systems, wrong=wrong, fastfi=wrong_fastfi, injections=injections, requests=requests)
    print_table(f"{FLAKE:.0%} flakes, {FLAKE:.0%} faults that do not fire; failures are believed the second time", rows)
    results.numbers |= {
        "flaky_runs": numbers["runs"],
        "flaky_wrong": numbers["wrong"],
        "flaky_wrong_fastfi_one_try": numbers["fastfi"],
        "requests_per_injection": ratio(numbers["requests"], numbers["injections"]),
    }


def compare_flaky(case: tuple[int, int, int]) -> Comparison:
    apis, replicas, seed = case
    calls = tuple(Call(f"api-{number:02}", replicas=replicas) for number in range(apis))
    doubting = Conditions(seed, flakes=FLAKE, misfires=FLAKE, repeats=2)
    believing = Simulation(All(calls), replace(doubting, repeats=1))
    repaired = FastFi(SearchSettings(replicas), repaired=True)
    runs = {
        "batch": explored(ours(All(calls), replicas, seed=seed), Simulation(All(calls), doubting)),
        "repaired": explored(repaired, believing, most=MOST_INJECTIONS),
    }
    return Comparison(f"{apis}×{replicas}", frozenset(cut_of(points_of_call(call)) for call in calls), runs)


def planning(results: Results) -> None:
    largest = [row for row in TABLE_5 if (row.apis, row.replicas) in ((12, 6), (25, 3))]
    comparisons = list(compared(compare_planning, largest))
    results.planned(comparisons)
    print_table(
        "Planning: CPU seconds",
        [
            ["request", *OURS],
            *([each.name, *(f"{each.runs[name].seconds:.2f}" for name in OURS)] for each in comparisons),
        ],
    )


def million(results: Results) -> None:
    numbers = million_services.measure(say)
    print("\nA million services")
    for name, value in numbers.items():
        print(f"  {name.removeprefix('million_services_'):<20} {value}")
    results.numbers |= numbers


SECTIONS: Mapping[str, Callable[[Results], None]] = {
    "table5": table5,
    "fig10": fig10,
    "random": random_systems,
    "hidden": hidden,
    "caches": caches,
    "flaky": flaky,
    "planning": planning,
    "million": million,
}


def microfi(folder: Path) -> None:
    rows = [
        [f"{row.application}, {row.method}", " ".join(map(str, row.failed)), " ".join(map(str, row.printed))]
        for row in table7(folder)
    ]
    print_table("MicroFI Table 7: functions failed by the first 1 to 8 hypotheses", [["", "here", "paper"], *rows])


def ratio(ours: float, theirs: float) -> float:
    return round(ours / theirs, 3)


def print_table(title: str, rows: Sequence[Sequence[object]]) -> None:
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        first, *others = (str(cell) for cell in row)
        print(first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)))


def say(text: str) -> None:
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def cuts(several: Iterable[Cut]) -> str:
    shown = (",".join(sorted(str(point).removeprefix("simulated/") for point in points_of(cut))) for cut in several)
    return " ".join(sorted(f"{{{names}}}" for names in shown)) or "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description="How many experiments each search strategy needs")
    parser.add_argument("--only", action="append", choices=[*SECTIONS, "microfi"], metavar="SECTION")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the picture of Table 5, as SVG")
    parser.add_argument("--groundtruth", type=Path, metavar="FOLDER", help="for MicroFI's Table 7")
    arguments = parser.parse_args()
    if "microfi" in (arguments.only or ()) and not arguments.groundtruth:
        parser.error("microfi needs --groundtruth FOLDER")
    results = Results()
    for name, section in SECTIONS.items():
        if name in (arguments.only or SECTIONS):
            start = time.perf_counter()
            section(results)
            say(f"{name}: {time.perf_counter() - start:.0f} s\n")
    if arguments.groundtruth and "microfi" in (arguments.only or ["microfi"]):
        microfi(arguments.groundtruth)
    if arguments.plot:
        arguments.plot.write_text(injections_svg(results.bars))
    print(json.dumps(results.numbers))


if __name__ == "__main__":
    main()
