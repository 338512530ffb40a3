"""Do exact probabilities agree with simulated failures? Random families of cuts, common causes and hardened APIs.

The simulation knows nothing of formulas and diagrams: it draws which points and causes are down, and looks whether all
points of a cut are. An interval of 99.9 % misses the truth in one of a thousand families by chance alone; among 200,
one or two such misses prove nothing. So a family *disagrees* if the probability is outside of the interval that all
families together keep to 99.9 % of the time (Bonferroni). How many are outside of their own is printed as well, with
how likely so many are by chance.

    python -m benchmarks.monte_carlo [--families 200] [--samples 200000]
"""

import argparse
import json
from dataclasses import dataclass, replace
from math import fsum
from random import Random

import numpy as np
from scipy.stats import beta, binom

from cutset.harden.probability import CommonCause, Rates, RequestClass, likelihood, minimal
from cutset.model.point import Point

ERROR = 0.001
BATCH = 50_000  # samples at once, a few MB


@dataclass(frozen=True, slots=True)
class Family:
    request: RequestClass
    rates: Rates
    hardened: dict[str, float]  # by API: the share of failures that still gets past


@dataclass(frozen=True, slots=True)
class Agreement:
    families: int
    disagreements: int
    outside_alone: int  # of their own 99.9 % interval
    chance: float  # of at least so many
    largest_overcount: float  # of the rare-event sum, as a multiple of the probability


def random_family(seed: int) -> Family:
    chance = Random(f"monte carlo {seed}")
    apis = chance.randint(3, 16)
    points = [
        Point(f"s{api // 2}", f"a{api}", replica=replica)
        for api in range(apis)
        for replica in chance.choice(([""], [""], ["1", "2"], ["1", "2", "3"]))
    ]
    scale = chance.choice((0.6, 0.2, 0.05))
    causes = [
        CommonCause(
            f"service {service}", scale * chance.random() / 2, frozenset(p for p in points if p.service == service)
        )
        for service in sorted({point.service for point in points})
        if chance.random() < 0.4
    ]
    causes += [
        CommonCause(f"zone {number}", scale * chance.random() / 2, frozenset(chance.sample(points, len(points) // 3)))
        for number in range(chance.randint(0, 3))
    ]
    cuts = tuple(
        frozenset(chance.sample(points, min(len(points), chance.choice((1, 2, 2, 3, 4)))))
        for _ in range(chance.randint(1, 2 * apis))
    )
    return Family(
        RequestClass(f"family {seed}", cuts),
        Rates({point: scale * chance.random() for point in points}, tuple(causes)),
        {str(p.of_api): chance.choice((0.0, 0.1, 0.5)) for p in points if chance.random() < 0.15},
    )  # fmt: skip


def simulated_failures(family: Family, samples: int, seed: int) -> int:
    """In how many of so many requests all points of a cut were down."""
    random = np.random.default_rng([seed, samples])
    points = sorted(family.rates.of_points)
    column = {point: number for number, point in enumerate(points)}
    return sum(
        int(_failing(family, points, column, random, batch).sum())
        for batch in (min(BATCH, samples - done) for done in range(0, samples, BATCH))
    )


def _failing(
    family: Family, points: list[Point], column: dict[Point, int], random: np.random.Generator, samples: int
) -> np.ndarray:
    down = random.random((samples, len(points))) < [family.rates.of_points[point] for point in points]
    for cause in family.rates.causes:
        hit = random.random(samples) < cause.rate
        down[:, [column[point] for point in cause.points]] |= hit[:, np.newaxis]
    for api, residual in family.hardened.items():
        passed = random.random(samples) < residual  # one remedy per API: it helps all of its replicas, or none
        down[:, [column[point] for point in points if str(point.of_api) == api]] &= passed[:, np.newaxis]
    failing = np.zeros(samples, dtype=bool)
    for cut in family.request.cuts:
        failing |= down[:, [column[point] for point in cut]].all(axis=1)
    return failing


def interval(failures: int, samples: int, error: float) -> tuple[float, float]:
    """Of Clopper and Pearson: exact, for few failures, too."""
    low = float(beta.ppf(error / 2, failures, samples - failures + 1)) if failures else 0.0
    high = float(beta.ppf(1 - error / 2, failures + 1, samples - failures)) if failures < samples else 1.0
    return low, high


def rare_event_sum(family: Family) -> float:
    """What one gets by adding up the probabilities of the cuts."""
    alone = (replace(family.request, cuts=(cut,)) for cut in minimal(family.request.cuts))
    return fsum(likelihood(each, family.rates, family.hardened).probability for each in alone)


def compare(families: int, samples: int) -> Agreement:
    disagreements = outside = 0
    overcount = 1.0
    for seed in range(families):
        family = random_family(seed)
        exact = likelihood(family.request, family.rates, family.hardened)
        assert exact.exact
        failures = simulated_failures(family, samples, seed)
        for error, counts in ((ERROR, False), (ERROR / families, True)):
            low, high = interval(failures, samples, error)
            missed = not low <= exact.probability <= high
            disagreements += missed and counts
            outside += missed and not counts
        overcount = max(overcount, rare_event_sum(family) / exact.probability if exact.probability else 1.0)
    return Agreement(families, disagreements, outside, float(binom.sf(outside - 1, families, ERROR)), overcount)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--families", type=int, default=200)
    options.add_argument("--samples", type=int, default=200_000)
    given = options.parse_args()
    found = compare(given.families, given.samples)
    print(
        f"{found.families} families of {given.samples} requests: {found.disagreements} disagree; {found.outside_alone} "
        f"are outside of their own 99.9 % interval, which has a chance of {found.chance:.2g}; "
        f"adding up cuts would have counted up to {found.largest_overcount:.1f} times too much"
    )
    print(json.dumps({"monte_carlo_families": found.families, "monte_carlo_disagreements": found.disagreements}))


if __name__ == "__main__":
    main()
