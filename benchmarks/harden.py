"""Which APIs to harden: FastFI's Table 9 at every budget, and the whole frontier of a large system.

The systems of Table 9 are not printed, but its columns leave one reading of each. A step of CR_b is the number of
requests that share the API, and a step of AFVR_b the sum of 1/n over just these requests, n being their numbers of
faults: so one can tell which requests share how many APIs. Every fault is one API with all its replicas, that is one
candidate. Computed from these systems, the columns of FastFI come out as printed, which is checked.

The large system has 1,000 request classes over some 10,000 APIs, a few of which a quarter of the classes share
(FastFI's Table 1b), with fallbacks and caches as `request_classes` draws them; the busiest 5 % have a high priority.

    python -m benchmarks.harden [--small]
"""

import argparse
import json
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter

from benchmarks.fastfi_solver import dfs_based_solver
from benchmarks.greedy_hardening import choose_greedily
from benchmarks.harden_boutique import afvr_of_boutique
from benchmarks.request_classes import Call, Profile, Step
from benchmarks.two_stage_hardening import choose_in_two_stages

from benchmarks import monte_carlo, request_classes
from cutset.harden.choose import choose
from cutset.harden.frontier import frontier
from cutset.harden.problem import Candidate, Choice, Problem, Weakness, expected_afvr

REPEATS = 5  # of a timing; the fastest counts, since other processes only add to it
RANDOM_SYSTEMS = 300
HIGH = 0.05  # of the large system's classes, the busiest: have a high priority
CANDIDATES_OF_A_CUT = (1, 2, 2, 3)


@dataclass(frozen=True, slots=True)
class Shape:
    """Which requests need an API, by the letters of the requests: one word per API."""

    name: str
    high: str
    apis: str
    budgets: tuple[int, ...]  # those of the table
    printed: tuple[float, ...]  # CR_b of FastFI, in percent
    printed_ms: tuple[float, float]  # identification time, the least and the most


SHAPES = (
    # h: GET /, p: GET /product/{id}, c: GET /cart, o: POST /checkout
    Shape(
        "OB-6",
        "h",
        "hpco hpco hpco hpc o co pc pc o o",
        tuple(range(4, 11)),
        (55.00, 65.00, 75.00, 85.00, 90.00, 95.00, 100.00),
        (23.1, 51.8),
    ),
    # r: GET /recommendations, h: GET /hotels, v: POST /reservation
    Shape(
        "HR-6",
        "r",
        "rh r h h h h v v",
        tuple(range(2, 9)),
        (14.29, 28.57, 42.86, 57.14, 71.43, 85.71, 100.00),
        (6.6, 20.1),
    ),
    # c: POST /cart, o: POST /orders, l: GET /login
    Shape(
        "SS-6",
        "c",
        "co c o o o o o o o o l",
        tuple(range(2, 12)),
        (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0),
        (8.3, 23.9),
    ),
    # f: GET /food, l: POST /left, c: POST /cheapest, m: POST /minStation, q: POST /quickest, p: POST /preserve
    Shape(
        "TT-3",
        "f",
        "flcmqp flcmqp flcmqp f f f" + 9 * " lcmqp" + " lcmq lcqp cmq cq mp c c m m m m q q" + 9 * " p",
        (6, 7, *range(9, 38, 2)),
        (16.30, 21.74, 32.61, 43.48, 54.35, 65.22, 73.91, 79.35, 82.61, 84.78, 86.96, 89.13, 91.30, 93.48, 95.65, 97.83,
         100.00),
        (30.6, 54.9),
    ),
)  # fmt: skip


def problem_of_shape(shape: Shape) -> Problem:
    apis = shape.apis.split()
    return Problem(
        tuple(Candidate(f"api-{number:02}") for number in range(len(apis))),
        tuple(
            Weakness(request, (frozenset({number}),), hard=request == shape.high)
            for request in dict.fromkeys("".join(apis))
            for number, requests in enumerate(apis)
            if request in requests
        ),
    )


@dataclass(slots=True)
class Tally:
    budgets: int = 0
    proven: int = 0
    worse_than_heuristic: int = 0
    worse_than_two_stage: int = 0
    as_printed: int = 0


def compare(shape: Shape, tally: Tally) -> list[float]:
    """Every budget from the smallest that is feasible; says how many ms each took."""
    problem = problem_of_shape(shape)
    curve, times = frontier(problem), []
    print(f"{shape.name}: FastFI took {shape.printed_ms[0]}–{shape.printed_ms[1]} ms")
    print("  budget  CR_b  MCG_b  AFVR_b  heuristic  two stages  FastFI printed     ms")
    for point in curve.points:
        budget = int(point.budget)
        spent = []
        for _ in range(REPEATS):
            start = perf_counter()
            choice = choose(problem, budget)
            spent.append(1000 * (perf_counter() - start))
        assert isinstance(choice, Choice)
        greedy, stages = choose_greedily(problem, budget), choose_in_two_stages(problem, budget, dfs_based_solver)
        assert choice.covered == point.covered
        tally.budgets += 1
        tally.proven += choice.proven and curve.proven
        tally.worse_than_heuristic += choice.covered < greedy.covered
        tally.worse_than_two_stage += stages is not None and choice.covered < stages.covered
        printed = dict(zip(shape.budgets, shape.printed, strict=True)).get(budget)
        tally.as_printed += printed is not None and abs(100 * choice.coverage - printed) < 0.006
        times.append(min(spent))
        print(
            f"  {budget:6} {100 * choice.coverage:5.1f} {point.gain or 0:6.1f}"
            f" {100 * expected_afvr(problem, choice):7.2f}"
            f" {100 * greedy.coverage:10.1f} {100 * stages.coverage if stages else 0:11.1f}"
            f" {printed if printed is not None else '–':>15} {times[-1]:6.1f}"
        )
    print(f"  returns diminish from a budget of {curve.points[curve.knee].budget:g} on")
    return times


def random_systems(count: int) -> tuple[int, int, int]:
    """With fallbacks, unlike Table 9: comparisons, and how often heuristic and two stages stay below the optimum."""
    compared = heuristic = stages = 0
    for seed in range(count):
        chance = Random(f"harden {seed}")
        apis = chance.randint(6, 14)
        weaknesses = tuple(
            Weakness(
                f"r{request}", (frozenset(chance.sample(range(apis), chance.choice((1, 2, 2, 3)))),), hard=request == 0
            )
            for request in range(5)
            for _ in range(chance.randint(2, 6))
        )
        problem = Problem(tuple(Candidate(f"api-{number:02}") for number in range(apis)), weaknesses)
        points = frontier(problem).points
        for point in points[: len(points) // 2 + 1]:
            best = point.covered + 1e-9
            greedy = choose_greedily(problem, point.budget)
            two = choose_in_two_stages(problem, point.budget, dfs_based_solver)
            assert greedy.covered <= best or any(each.hard for each in greedy.remaining)
            assert two is None or two.covered <= best
            compared += 1
            heuristic += greedy.covered < point.covered or any(each.hard for each in greedy.remaining)
            stages += two is None or two.covered < point.covered
    return compared, heuristic, stages


def large_system(classes: int, services: int) -> Problem:
    profile = Profile(services=services, classes=classes, median_calls=9.0)
    world = request_classes.system(1, profile)
    position: dict[str, int] = {}
    weaknesses: list[Weakness] = []
    for number in range(classes):
        request, high = f"class {number}", number < HIGH * classes  # popularity falls with the number
        for cut in sorted(map(sorted, cuts_of(request_classes.request_class(world, number).steps))):
            clause = frozenset(position.setdefault(api, len(position)) for api in cut)
            weaknesses.append(Weakness(request, (clause,), hard=high))
    chance = Random("ranks")
    return Problem(tuple(Candidate(api, rank=round(chance.random(), 4)) for api in position), tuple(weaknesses))


def cuts_of(steps: Sequence[Step]) -> set[frozenset[str]]:
    """The minimal cuts of a request, or of what a call needs."""
    cuts = {cut for step in steps if not step.tolerated for cut in _cuts_of_step(step)}
    return {cut for cut in cuts if not any(other < cut for other in cuts)}


def _cuts_of_step(step: Step) -> Iterator[frozenset[str]]:
    otherwise = (step.fallback,) if step.fallback else step.on_miss
    for call in step.calls:
        for cut in _cuts_of_call(call):
            yield from (cut | other for other in cuts_of(otherwise)) if otherwise else (cut,)


def _cuts_of_call(call: Call) -> set[frozenset[str]]:
    return {frozenset({str(call.point)}), *cuts_of(call.steps)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--small", action="store_true", help="a tenth of the large system")
    small = options.parse_args().small
    tally = Tally()
    times = [each for shape in SHAPES for each in compare(shape, tally)]
    compared, heuristic, stages = random_systems(RANDOM_SYSTEMS // (10 if small else 1))
    print(
        f"random systems: {compared} budgets; the heuristic misses the optimum at {heuristic}, two stages at {stages}"
    )
    problem = large_system(*((100, 125) if small else (1046, 1250)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    curve = frontier(problem)
    seconds = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    knee = curve.points[curve.knee]
    start = perf_counter()
    choice = choose(problem, knee.budget)
    choose_seconds = perf_counter() - start
    assert isinstance(choice, Choice)
    assert choice.covered == knee.covered
    print(
        f"large: {len({w.request for w in problem.weaknesses})} classes, {len(problem.candidates)} APIs, "
        f"{len(problem.weaknesses)} cuts, {len(curve.points)} budgets from {curve.points[0].budget:g} to "
        f"{curve.points[-1].budget:g} in {seconds:.1f} s, {(after - before) / 1024:.0f} MB on top; "
        f"returns diminish from {knee.budget:g} ({100 * knee.coverage:.0f} %) on"
    )
    agreement = monte_carlo.compare(20 if small else 200, 200_000)
    predicted, measured = afvr_of_boutique()
    print(
        json.dumps(
            {
                "budgets": tally.budgets,
                "budgets_as_printed": tally.as_printed,
                "optimal_proven": tally.proven,
                "worse_than_heuristic": tally.worse_than_heuristic,
                "worse_than_two_stage": tally.worse_than_two_stage,
                "identification_ms_median": round(median(times), 2),
                "random_budgets": compared,
                "heuristic_missed": heuristic,
                "two_stage_missed": stages,
                "large_apis": len(problem.candidates),
                "large_budgets": len(curve.points),
                "large_optimal_proven": curve.proven,
                "large_choose_seconds": round(choose_seconds, 2),
                "large_frontier_seconds": round(seconds, 2),
                "large_frontier_peak_mb": round(after / 1024),
                "monte_carlo_families": agreement.families,
                "monte_carlo_disagreements": agreement.disagreements,
                "afvr_predicted": round(predicted, 4),
                "afvr_measured": round(measured, 4),
            }
        )
    )


if __name__ == "__main__":
    main()
