"""In which order faults are tried: ANDURIL's two-level choice (§5.2), its ablations (§8.3, §8.4), and Cutset's own.

A *site* is a place in the code, an *instance* one of its executions in the good run, an *effect* an exception. With L
the steps in the causal graph from a site to a message of the failure log, I how many failed rounds have shown that
message already, and T the log lines between an instance and the message,

    F = min over messages of (L + I)        first the site with the smallest F,
    min T to the message that gave F        then its instance.

Where the paper leaves a choice:

- Two messages with the same L + I: the one that fewer rounds have shown, then the one that comes first in the failure
  log. Two sites with the same F: the one whose best instance is nearer in time.
- The paper has one exception per site; a Python call may have several. Instances and effects of a site are ordered
  together: *step* n has the n-th best effect at its best instances, the best effect at its n-th best instances, and
  what is between. An instance that is slightly off and an exception that is slightly off are equally likely reasons of
  a failed try, so that neither waits for all of the other.
- Sites without a path to any message count as one step further away than the furthest that has one: the causal graph
  may lack an edge. The ablations leave them out.
- A site that the good run did not execute has no instances; it is armed at any occurrence.

`full` is ANDURIL's published code: all instances with the same best T are armed together, and the next step of a site
comes after the present step of all others. With hundreds of sites that is too late for a fault whose best instance was
not quite the right one, so `best-first` takes instances one by one and lets a step of a site weigh as much as a few
steps in the causal graph. And the best of its window fires before the others (see `cutset.reproduce.explorer`).
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from math import inf
from typing import TypeVar

from cutset.model.reproduction import Choice, Observable, Visit
from cutset.reproduce.log_diff import thread_family

ANY = 0  # as an occurrence: the first that comes
WINDOW = 10  # sites: ANDURIL's default; its results hardly depend on it (§8.5)
EVERYTHING = 10**9  # as a window: ANDURIL's cap
# Another try at a site weighs as much as so many steps in the causal graph. A judgement: with one, near sites with many
# instances keep the others waiting; with no limit, the second instance of a site waits for the first of every other.
ANOTHER_TRY = 4
NEARLY = 1  # likewise, where a try brought every message, if not the symptom: the right fault at the wrong time
_Instance = TypeVar("_Instance")
FEW_INSTANCES = 3  # of a site, where an ablation limits them (§8.3)

TimeApart = Callable[[Visit, str], float]  # T: log lines of the failure log from a visit to the key of an observable


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What is known of a site before any fault is tried; its number is its place in the list."""

    name: str
    distances: Mapping[str, int]  # L by the key of an observable; none: no path leads to any
    effects: tuple[str, ...]  # best first
    traced_effects: tuple[str, ...] = ()  # that the failure log's stack traces show arising here
    costs: tuple[int, ...] = ()  # of each effect, in steps, ascending; by default its place


@dataclass(slots=True)
class Knowledge:
    """What rounds have taught so far."""

    seen: Counter[str] = field(default_factory=Counter)  # I, by the key of an observable
    tried: set[Choice] = field(default_factory=set)
    given_up: set[Choice] = field(default_factory=set)  # they never occurred
    later_visits: dict[int, dict[int, Visit]] = field(default_factory=dict)  # of sites that the good run left out
    excluded: set[int] = field(default_factory=set)  # sites
    near: set[tuple[int, str]] = field(default_factory=set)  # site and effect that brought every message


@dataclass(frozen=True, slots=True)
class Candidate:
    """The faults of a site, or of one instance, that are to be tried next, and what their rank follows from."""

    site: int
    choices: tuple[Choice, ...]
    observable: Observable | None  # the first with the key that it is to bring; None: there is none at all
    distance: int
    seen: int
    step: int
    apart: float
    related: bool
    executed: bool  # in the good run
    near: bool  # the same effect, at another time, brought every message

    @property
    def site_priority(self) -> int:
        return self.distance + self.seen


@dataclass(frozen=True, slots=True)
class Strategy:
    description: str  # one line, for help texts
    order: Callable[[Candidate], tuple[float, ...]]
    instances: Callable[[Sequence[tuple[float, int]]], list[list[tuple[float, int]]]]  # in groups, best first
    window: int = WINDOW
    feedback: bool = False
    unrelated_too: bool = False
    per_instance: bool = False  # instances are ranked, not sites
    best_fires_first: bool = False
    effects: Callable[[SiteFacts], tuple[str, ...]] = lambda facts: facts.effects


class StrategyName(StrEnum):
    BEST_FIRST = "best-first"
    FULL = "full"
    EXHAUSTIVE = "exhaustive"
    DISTANCE = "distance"
    DISTANCE_LIMITED = "distance-limited"
    SITE_FEEDBACK = "site-feedback"
    MULTIPLY = "multiply"
    STACK_TRACE = "stack-trace"


class FaultSpace:
    """All sites, their instances and the messages that are looked for; ranked for any state of knowledge."""

    def __init__(
        self, sites: Sequence[SiteFacts], observables: Sequence[Observable], visits: Sequence[Visit], apart: TimeApart
    ) -> None:
        self.sites = sites
        self.observables: dict[str, Observable] = {}  # the first of each key, in order of the failure log
        for observable in sorted(observables, key=lambda one: (one.line, one)):
            self.observables.setdefault(observable.key, observable)
        self.moments: dict[tuple[int, int], tuple[int, int]] = {}  # process and place in it, by site and occurrence
        self._visits: defaultdict[int, dict[int, Visit]] = defaultdict(dict)
        self._apart = apart
        self._by_time: dict[int, tuple[str, int, list[tuple[float, int]]]] = {}
        for place, visit in enumerate(visits):
            # A fault is named by site and occurrence alone: it fires in the first process that gets there.
            if self._visits[visit.site].setdefault(visit.occurrence, visit) is visit:
                self.moments[visit.site, visit.occurrence] = visit.process, place
        self._distances = [
            {key: steps for key, steps in facts.distances.items() if key in self.observables} for facts in sites
        ]
        self._far = 1 + max((max(distances.values(), default=0) for distances in self._distances), default=0)

    def rank(self, strategy: Strategy, knowledge: Knowledge) -> list[Candidate]:
        """Best first; without faults that were tried or given up."""
        seen = knowledge.seen if strategy.feedback else Counter[str]()
        standing = {key: (seen[key], place) for place, key in enumerate(self.observables)}
        closed = knowledge.tried | knowledge.given_up
        found: list[Candidate] = []
        for site in range(len(self.sites)):
            if site not in knowledge.excluded and (strategy.unrelated_too or self.related(site)):
                found.extend(self._candidates(site, strategy, knowledge, standing, closed))
        return sorted(found, key=lambda candidate: (*strategy.order(candidate), candidate.site, candidate.choices))

    def executed(self, site: int) -> bool:
        return site in self._visits

    def related(self, site: int) -> bool:
        return bool(self._distances[site])

    def _candidates(
        self,
        site: int,
        strategy: Strategy,
        knowledge: Knowledge,
        standing: Mapping[str, tuple[int, int]],
        closed: Collection[Choice],
    ) -> Iterator[Candidate]:
        effects = strategy.effects(self.sites[site])
        distance, seen, key = self._aim(site, standing)
        groups = strategy.instances(self._instances(site, key, knowledge))
        costs = self.sites[site].costs if effects is self.sites[site].effects else ()
        costed = list(zip(costs or range(len(effects)), effects, strict=True))
        steps = _single_steps(groups, costed) if strategy.per_instance else _joint_steps(groups, costed)
        reached: set[int] = set()  # occurrences that a better step has: their other effects come later
        for step, apart, faults in steps:
            choices = tuple(
                choice
                for occurrence, effect in faults
                if occurrence not in reached and (choice := Choice(site, occurrence, effect)) not in closed
            )
            if not choices:
                continue
            reached.update(choice.occurrence for choice in choices)
            yield Candidate(
                site=site,
                choices=choices,
                observable=self.observables.get(key),
                distance=distance,
                seen=seen,
                step=step,
                apart=apart,
                related=self.related(site),
                executed=self.executed(site),
                near=(site, choices[0].effect) in knowledge.near,
            )
            if not strategy.per_instance:
                return

    def _aim(self, site: int, standing: Mapping[str, tuple[int, int]]) -> tuple[int, int, str]:
        """L, I and the message that make F; "" if there are no messages."""
        distances = self._distances[site] or dict.fromkeys(standing, self._far)
        if not distances:
            return self._far, 0, ""
        key = min(distances, key=lambda key: (distances[key] + standing[key][0], *standing[key]))
        return distances[key], standing[key][0], key

    def _instances(self, site: int, key: str, knowledge: Knowledge) -> list[tuple[float, int]]:
        """T and occurrence, the nearest first.

        Of equally near ones, those in the earliest part of the log, as messages repeat while a failure lasts; those
        without a log line between them are equally likely, and neighbours among them much the same (`_spread`).
        """
        visits = self._visits.get(site) or knowledge.later_visits.get(site, {})
        cached = self._by_time.get(site)
        if cached is None or cached[:2] != (key, len(visits)):
            timed = sorted(
                (self._apart(visit, key) if key else 0.0, visit.log_lines, visit.occurrence)
                for visit in self._of_thread(site, key, visits.values())
            )
            spread = (_spread(list(same)) for _, same in groupby(timed, key=lambda instance: instance[:2]))
            cached = key, len(visits), [(apart, occurrence) for same in spread for apart, _, occurrence in same]
            self._by_time[site] = cached
        return cached[2] if self.executed(site) else [(inf, ANY), *cached[2]]

    def _of_thread(self, site: int, key: str, visits: Collection[Visit]) -> Collection[Visit]:
        """Where a stack trace shows the site, the thread that logged it was there; tasks do not tell their names."""
        if not key or not self.sites[site].traced_effects:
            return visits
        family = thread_family(self.observables[key].thread)
        return [visit for visit in visits if thread_family(visit.thread) == family] or visits


def _spread(instances: Sequence[_Instance]) -> Iterator[_Instance]:
    """The last, as a message follows its cause; the first; then whatever is in the middle of the widest gaps."""
    if instances:
        yield instances[-1]
    if len(instances) > 1:
        yield instances[0]
    gaps = deque([(0, len(instances) - 1)])
    while gaps:
        low, high = gaps.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            yield instances[middle]
            gaps.extend([(low, middle), (middle, high)])


def _joint_steps(
    groups: Sequence[Sequence[tuple[float, int]]], effects: Sequence[tuple[int, str]]
) -> Iterator[tuple[int, float, list[tuple[int, str]]]]:
    for step in range(len(groups) + effects[-1][0] if groups and effects else 0):
        for cost, effect in effects:
            if 0 <= step - cost < len(groups):
                group = groups[step - cost]
                yield step, group[0][0], [(occurrence, effect) for _, occurrence in group]


def _single_steps(
    groups: Sequence[Sequence[tuple[float, int]]], effects: Sequence[tuple[int, str]]
) -> Iterator[tuple[int, float, list[tuple[int, str]]]]:
    for cost, effect in effects:
        for group in groups:
            for apart, occurrence in group:
                yield cost, apart, [(occurrence, effect)]


def _equally_near(instances: Sequence[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    groups: dict[float, list[tuple[float, int]]] = defaultdict(list)
    for instance in instances:
        groups[instance[0]].append(instance)
    return list(groups.values())


def _one_by_one(instances: Sequence[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    return [[instance] for instance in instances]


def _together(instances: Sequence[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    return [list(instances)] if instances else []


def _first_few(instances: Sequence[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    return _together(sorted(instances, key=lambda instance: instance[1])[:FEW_INSTANCES])


STRATEGIES: Mapping[StrategyName, Strategy] = {
    StrategyName.BEST_FIRST: Strategy(
        "full feedback; the best-ranked fault fires first, and other instances and exceptions follow sooner",
        order=lambda candidate: (
            candidate.site_priority + (NEARLY if candidate.near else ANOTHER_TRY) * candidate.step,
            candidate.apart,
        ),
        instances=_one_by_one,
        feedback=True,
        unrelated_too=True,
        best_fires_first=True,
    ),
    StrategyName.FULL: Strategy(
        "ANDURIL's full feedback: the site by L + I, its instances by T",
        order=lambda candidate: (not candidate.related, candidate.step, candidate.site_priority, candidate.apart),
        instances=_equally_near,
        feedback=True,
        unrelated_too=True,
    ),
    StrategyName.EXHAUSTIVE: Strategy(
        "every instance of every site of the causal graph, as they come",
        order=lambda candidate: (candidate.step,),
        instances=_together,
        window=EVERYTHING,
    ),
    StrategyName.DISTANCE: Strategy(
        "the site by L alone, all its instances as they come",
        order=lambda candidate: (candidate.step, candidate.distance),
        instances=_together,
    ),
    StrategyName.DISTANCE_LIMITED: Strategy(
        "the site by L alone, its first three instances",
        order=lambda candidate: (candidate.step, candidate.distance),
        instances=_first_few,
    ),
    StrategyName.SITE_FEEDBACK: Strategy(
        "the site by L + I, its first three instances",
        order=lambda candidate: (candidate.step, candidate.site_priority),
        instances=_first_few,
        feedback=True,
    ),
    StrategyName.MULTIPLY: Strategy(
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
    StrategyName.STACK_TRACE: Strategy(
        "the exceptions of the failure log's stack traces at the sites in them, as they come",
        order=lambda candidate: (candidate.step,),
        instances=_together,
        window=EVERYTHING,
        unrelated_too=True,
        effects=lambda facts: facts.traced_effects,
    ),
}
