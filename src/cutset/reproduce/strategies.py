"""In which order faults are tried: ANDURIL's two-level choice (§5.2), its ablations (§8.3, §8.4), and Cutset's own.

`full` is ANDURIL's published code: all instances with the same best T are armed together, and the next step of a site
comes after the present step of all others. With hundreds of sites that is too late for a fault whose best instance was
not quite the right one, so `best-first` takes instances one by one and lets a step of a site weigh as much as a few
steps in the causal graph. So does the time between an instance and the message, by the bits of the number of log
lines: of hundreds of sites that are as near in the graph, most were executed long before. And the best of its window
fires before the others (see `cutset.reproduce.explorer`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import inf

from cutset.reproduce.fault_space import Instance, SiteStrategy

EVERYTHING = 10**9  # as a window: ANDURIL's cap
# Another try at a site weighs as much as so many steps in the causal graph. A judgement: with one, near sites with many
# instances keep the others waiting; with no limit, the second instance of a site waits for the first of every other.
ANOTHER_TRY = 4
FEW_INSTANCES = 3  # of a site, where an ablation limits them (§8.3)


class SiteStrategyName(StrEnum):
    BEST_FIRST = "best-first"
    FULL = "full"
    EXHAUSTIVE = "exhaustive"
    DISTANCE = "distance"
    DISTANCE_LIMITED = "distance-limited"
    SITE_FEEDBACK = "site-feedback"
    MULTIPLY = "multiply"
    STACK_TRACE = "stack-trace"


def _equally_near(instances: Sequence[Instance]) -> list[list[Instance]]:
    groups: dict[float, list[Instance]] = defaultdict(list)
    for instance in instances:
        groups[instance.apart].append(instance)
    return list(groups.values())


def _one_by_one(instances: Sequence[Instance]) -> list[list[Instance]]:
    return [[instance] for instance in instances]


def _together(instances: Sequence[Instance]) -> list[list[Instance]]:
    return [list(instances)] if instances else []


def _first_few(instances: Sequence[Instance]) -> list[list[Instance]]:
    return _together(sorted(instances, key=lambda instance: instance.occurrence)[:FEW_INSTANCES])


STRATEGIES: Mapping[SiteStrategyName, SiteStrategy] = {
    SiteStrategyName.BEST_FIRST: SiteStrategy(
        "full feedback; the best-ranked fault fires first, and other instances and exceptions follow sooner",
        order=lambda candidate: (
            not candidate.near,
            candidate.site_priority + ANOTHER_TRY * candidate.step + candidate.away,
            candidate.apart,
        ),
        instances=_one_by_one,
        feedback=True,
        unrelated_too=True,
        best_fires_first=True,
    ),
    SiteStrategyName.FULL: SiteStrategy(
        "ANDURIL's full feedback: the site by L + I, its instances by T",
        order=lambda candidate: (not candidate.related, candidate.step, candidate.site_priority, candidate.apart),
        instances=_equally_near,
        feedback=True,
        unrelated_too=True,
    ),
    SiteStrategyName.EXHAUSTIVE: SiteStrategy(
        "every instance of every site of the causal graph, as they come",
        order=lambda candidate: (candidate.step,),
        instances=_together,
        window=EVERYTHING,
    ),
    SiteStrategyName.DISTANCE: SiteStrategy(
        "the site by L alone, all its instances as they come",
        order=lambda candidate: (candidate.step, candidate.distance),
        instances=_together,
    ),
    SiteStrategyName.DISTANCE_LIMITED: SiteStrategy(
        "the site by L alone, its first three instances",
        order=lambda candidate: (candidate.step, candidate.distance),
        instances=_first_few,
    ),
    SiteStrategyName.SITE_FEEDBACK: SiteStrategy(
        "the site by L + I, its first three instances",
        order=lambda candidate: (candidate.step, candidate.site_priority),
        instances=_first_few,
        feedback=True,
    ),
    SiteStrategyName.MULTIPLY: SiteStrategy(
        "instances by (L + I) × T, instead of in two levels",
        order=lambda candidate: (
            candidate.step,
            candidate.site_priority * candidate.apart if candidate.executed else inf,
            candidate.site_priority,
        ),
        instances=_one_by_one,
        feedback=True,
        per_instance=True,
    ),
    SiteStrategyName.STACK_TRACE: SiteStrategy(
        "the exceptions of the failure log's stack traces at the sites in them, as they come",
        order=lambda candidate: (candidate.step,),
        instances=_together,
        window=EVERYTHING,
        unrelated_too=True,
        effects=lambda facts: facts.traced_effects,
    ),
}
