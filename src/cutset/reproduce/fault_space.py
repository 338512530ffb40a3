"""All faults that can be tried, and their rank for any state of knowledge (ANDURIL §5.2).

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
- Executions are counted within their calling context, where visits tell it: `write` as `flush` calls it, whatever else
  writes meanwhile. Where a stack trace of the failure log shows the context, instances in it come first; those of the
  thread that logged it, if the program names its threads, by turns with others that do the same. An exception gets to
  who called: instances below the function that says the message come by turns with the others, and first. Of those that
  are about as near in time, each calling context has its turn.
- Where a fault brought every message and yet not the symptom, or the very stack trace that the failure log has, it may
  be the right one at the wrong time: of those whose log is most like the failure log, a few neighbours in time
  (`NEIGHBOURS`) come first in every second round.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, zip_longest
from math import inf
from typing import NamedTuple, TypeVar

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import SiteFault, Visit
from cutset.reproduce.logs.difference import thread_family

ANY = 0  # as an occurrence: the first that comes
WINDOW = 10  # sites: ANDURIL's default; its results hardly depend on it (§8.5)
NEIGHBOURS = 8  # in time, of a fault that explained the messages
_NUMBER = re.compile(r"\d+")  # in the name of a thread: its number in another run is another
_Item = TypeVar("_Item")
_Timed = tuple[bool, float, int, int, Visit]  # elsewhere, T, log lines, place

TimeApart = Callable[[Visit, str], float]  # T: log lines of the failure log from a visit to the key of an observable
Moment = tuple[int, str]  # occurrence, and the calling context that it is counted in


class Instance(NamedTuple):
    apart: float  # T
    occurrence: int
    within: str = ""


def moment_of(visit: Visit) -> Moment:
    """The name of an execution that is the same in other runs."""
    return (visit.nth, visit.within) if visit.within else (visit.occurrence, "")


class PlacedVisit(NamedTuple):
    place: int  # among all of the good run
    visit: Visit

    def is_after(self, other: "PlacedVisit") -> bool:
        """Whether it comes later in other runs, too.

        Of different processes that is not known; of different threads, unless something was logged in between.
        """
        here, there = self.visit, other.visit
        ordered = here.thread == there.thread or here.log_lines > there.log_lines
        return here.process == there.process and self.place > other.place and ordered


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What is known of a site before any fault is tried; its number is its place in the list."""

    name: str
    distances: Mapping[str, int]  # L by the key of an observable; none: no path leads to any
    effects: tuple[str, ...]  # best first
    traced_effects: tuple[str, ...] = ()  # that the failure log's stack traces show arising here
    costs: tuple[int, ...] = ()  # of each effect, in steps, ascending; by default its place
    contexts: tuple[str, ...] = ()  # how calling contexts begin in which stack traces of the failure log show it


@dataclass(slots=True)
class RoundKnowledge:
    """What rounds have taught so far."""

    seen: Counter[str] = field(default_factory=Counter)  # I, by the key of an observable
    tried: set[SiteFault] = field(default_factory=set)
    given_up: set[SiteFault] = field(default_factory=set)  # they never occurred
    later_visits: dict[int, dict[Moment, Visit]] = field(default_factory=dict)  # of sites that the good run left out
    excluded: set[int] = field(default_factory=set)  # sites
    near: dict[tuple[int, str], Moment] = field(default_factory=dict)  # when a site's effect explained the messages
    near_standing: tuple[int, ...] = ()  # of these: how alike their logs were to the failure log
    near_first: bool = False  # it is their turn


@dataclass(frozen=True, slots=True)
class SiteCandidate:
    """The faults of a site, or of one instance, that are to be tried next, and what their rank follows from."""

    site: int
    choices: tuple[SiteFault, ...]
    observable: Observable | None  # the first with the key that it is to bring; None: there is none at all
    distance: int
    seen: int
    step: int
    apart: float
    away: float  # what T counts for, in steps: its bits, as far as times tell
    related: bool
    executed: bool  # in the good run
    near: bool  # the same effect, at a time close to it, explained the messages

    @property
    def site_priority(self) -> int:
        return self.distance + self.seen


@dataclass(frozen=True, slots=True)
class SiteStrategy:
    description: str  # one line, for help texts
    order: Callable[[SiteCandidate], tuple[float, ...]]
    instances: Callable[[Sequence[Instance]], list[list[Instance]]]  # in groups, best first
    window: int = WINDOW
    feedback: bool = False
    unrelated_too: bool = False
    per_instance: bool = False  # instances are ranked, not sites
    best_fires_first: bool = False
    effects: Callable[[SiteFacts], tuple[str, ...]] = lambda facts: facts.effects


class FaultSpace:
    """All sites, their instances and the messages that are looked for; ranked for any state of knowledge."""

    def __init__(
        self,
        sites: Sequence[SiteFacts],
        observables: Sequence[Observable],
        visits: Sequence[Visit],
        apart: TimeApart,
        alike: float = 0.0,
    ) -> None:
        self.sites = sites
        self.observables: dict[str, Observable] = {}  # the first of each key, in order of the failure log
        for observable in sorted(observables, key=lambda one: (one.line, one)):
            self.observables.setdefault(observable.key, observable)
        self.moments: dict[tuple[int, Moment], PlacedVisit] = {}  # of a site's executions
        self._visits: defaultdict[int, dict[Moment, Visit]] = defaultdict(dict)
        self._apart = apart
        self._times_tell = alike**2  # a moment is told by the entries before and after it
        self._by_time: dict[int, tuple[str, int, list[Instance]]] = {}
        for place, visit in enumerate(visits):
            # A fault is named by site and moment alone: it fires in the first process that gets there.
            if self._visits[visit.site].setdefault(moment_of(visit), visit) is visit:
                self.moments[visit.site, moment_of(visit)] = PlacedVisit(place, visit)
        self._distances = [
            {key: steps for key, steps in facts.distances.items() if key in self.observables} for facts in sites
        ]
        self._far = 1 + max((max(distances.values(), default=0) for distances in self._distances), default=0)

    def rank(self, strategy: SiteStrategy, knowledge: RoundKnowledge) -> list[SiteCandidate]:
        """Best first; without faults that were tried or given up."""
        seen = knowledge.seen if strategy.feedback else Counter[str]()
        standing = {key: (seen[key], place) for place, key in enumerate(self.observables)}
        closed = knowledge.tried | knowledge.given_up
        found: list[SiteCandidate] = []
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
        strategy: SiteStrategy,
        knowledge: RoundKnowledge,
        standing: Mapping[str, tuple[int, int]],
        closed: Collection[SiteFault],
    ) -> Iterator[SiteCandidate]:
        effects = strategy.effects(self.sites[site])
        distance, seen, key = self._aim(site, standing)
        groups = strategy.instances(self._instances(site, key, knowledge))
        costs = self.sites[site].costs if effects is self.sites[site].effects else ()
        costed = list(zip(costs or range(len(effects)), effects, strict=True))
        steps = iter(_single_steps(groups, costed) if strategy.per_instance else _joint_steps(groups, costed))
        neighbours = self._right_at_the_wrong_time(site, knowledge, closed) if knowledge.near_first else None
        if neighbours is not None:
            steps = chain([(0, 0.0, [neighbours])], steps)
        reached: set[Moment] = set()  # that a better step has: their other effects come later
        for step, apart, faults in steps:
            choices = tuple(
                choice
                for (occurrence, within), effect in faults
                if (occurrence, within) not in reached
                and (choice := SiteFault(site, occurrence, effect, within)) not in closed
            )
            if not choices:
                continue
            reached.update((choice.occurrence, choice.within) for choice in choices)
            yield SiteCandidate(
                site=site,
                choices=choices,
                observable=self.observables.get(key),
                distance=distance,
                seen=seen,
                step=step,
                apart=apart,
                away=self._times_tell * int(apart).bit_length() if apart < inf else 0.0,
                related=self.related(site),
                executed=self.executed(site),
                near=neighbours is not None,
            )
            if not strategy.per_instance:
                return

    def explains(self, fault: SiteFault, present: Collection[str]) -> bool:
        """Whether it is the right fault, by what it brought: if only the symptom is missing, it was at the wrong time.

        It brought every message; or it is what a stack trace of the failure log shows there, and brought that one.
        """
        if self.observables and self.observables.keys() <= set(present):
            return True
        facts, distances = self.sites[fault.site], self._distances[fault.site]
        shown = [key for key, steps in distances.items() if steps == min(distances.values()) and key in present]
        return fault.effect in facts.traced_effects and bool(shown)

    def neighbours(self, site: int, moment: Moment, knowledge: RoundKnowledge) -> list[Moment]:
        """Other executions of a site, by turns: those just before and after it, and the nearest to the message.

        Where log lines are few, many executions are as near, and those next to each other much the same.
        """
        visits = self._visits.get(site) or knowledge.later_visits.get(site, {})
        moments = list(visits)
        at = moments.index(moment) if moment in visits else -1
        beside = sorted(range(len(moments)), key=lambda place: (abs(place - at), place > at)) if at >= 0 else []
        standing = {key: (knowledge.seen[key], place) for place, key in enumerate(self.observables)}
        nearest = self._instances(site, self._aim(site, standing)[2], knowledge)
        turns = zip_longest(((each.occurrence, each.within) for each in nearest), (moments[at] for at in beside[1:]))
        found = dict.fromkeys(chain.from_iterable(turns))
        return [each for each in found if each is not None and each != moment and each[0] != ANY]

    def _right_at_the_wrong_time(
        self, site: int, knowledge: RoundKnowledge, closed: Collection[SiteFault]
    ) -> tuple[Moment, str] | None:
        for (of_site, effect), moment in knowledge.near.items():
            if of_site != site:
                continue
            for neighbour in self.neighbours(site, moment, knowledge)[:NEIGHBOURS]:
                if SiteFault(site, neighbour[0], effect, neighbour[1]) not in closed:
                    return neighbour, effect
        return None

    def _aim(self, site: int, standing: Mapping[str, tuple[int, int]]) -> tuple[int, int, str]:
        """L, I and the message that make F; "" if there are no messages."""
        distances = self._distances[site] or dict.fromkeys(standing, self._far)
        if not distances:
            return self._far, 0, ""
        key = min(distances, key=lambda key: (distances[key] + standing[key][0], *standing[key]))
        return distances[key], standing[key][0], key

    def _instances(self, site: int, key: str, knowledge: RoundKnowledge) -> list[Instance]:
        """The nearest first.

        Of equally near ones, those in the earliest part of the log, as messages repeat while a failure lasts; those
        without a log line between them are equally likely, and neighbours among them much the same (`_spread`).
        """
        visits = self._visits.get(site) or knowledge.later_visits.get(site, {})
        cached = self._by_time.get(site)
        if cached is None or cached[:2] != (key, len(visits)):
            timed = sorted(
                (self._elsewhere(site, visit), self._apart(visit, key) if key else 0.0, visit.log_lines, place, visit)
                for place, visit in enumerate(self._of_thread(site, key, visits.values()))
            )
            spread = (_spread(list(same)) for _, same in groupby(timed, key=lambda instance: instance[:3]))
            about_as_near = groupby(chain.from_iterable(spread), key=lambda each: (each[0], int(each[1]).bit_length()))
            ranked = [(apart, visit) for _, same in about_as_near for _, apart, _, _, visit in _each_context(same)]
            of_thread = _by_turns(ranked, lambda one: self._is_of_thread(site, key, one[1]))
            instances = [Instance(apart, *moment_of(visit)) for apart, visit in of_thread]
            cached = key, len(visits), self._below_first(instances, key)
            self._by_time[site] = cached
        return cached[2] if self.executed(site) else [Instance(inf, ANY), *cached[2]]

    def _below_first(self, instances: Sequence[Instance], key: str) -> list[Instance]:
        observable = self.observables.get(key)
        return _by_turns(instances, lambda each: observable is not None and _is_below(each.within, observable))

    def _elsewhere(self, site: int, visit: Visit) -> bool:
        """A stack trace of the failure log shows how the site was called, and not so."""
        contexts = self.sites[site].contexts
        return bool(contexts) and not any(_agree(visit.within, each) for each in contexts)

    def _of_thread(self, site: int, key: str, visits: Collection[Visit]) -> Collection[Visit]:
        """Where a stack trace shows the site, the thread that logged it was there; tasks do not tell their names."""
        if not key or not self.sites[site].traced_effects:
            return visits
        kind = _NUMBER.sub("", self.observables[key].thread)
        return [visit for visit in visits if _NUMBER.sub("", visit.thread) == kind] or visits

    def _is_of_thread(self, site: int, key: str, visit: Visit) -> bool:
        """Likewise: which of several that do the same, where the program has given them names."""
        traced = bool(key and self.sites[site].traced_effects)
        return traced and thread_family(visit.thread) == thread_family(self.observables[key].thread)


_Step = tuple[int, float, list[tuple[Moment, str]]]  # its cost, T, and what is tried in it


def _agree(one: str, other: str) -> bool:
    """Of two calling contexts, one may end sooner: a stack trace where it was caught, that of a visit at its limit."""
    shorter, longer = sorted((f"{one} < ", f"{other} < "), key=len)
    return longer.startswith(shorter)


def _is_below(within: str, observable: Observable) -> bool:
    """Whether an exception would get to the function that says a message, by a call that it says it of."""
    frames = within.split(" < ")
    if observable.said_in not in frames:
        return False
    at = frames.index(observable.said_in)
    return at == 0 or not observable.called or not observable.called.isdisjoint(frames[at - 1].split("."))


def _each_context(instances: Iterable[_Timed]) -> Iterator[_Timed]:
    """One of each calling context by turns: executions in the same one are much the same."""
    contexts: dict[str, list[_Timed]] = {}
    for each in instances:
        contexts.setdefault(each[-1].within, []).append(each)
    for turn in zip_longest(*contexts.values()):
        yield from (each for each in turn if each is not None)


def _by_turns(items: Iterable[_Item], is_preferred: Callable[[_Item], bool]) -> list[_Item]:
    """What is preferred, and what is not, by turns: the others may be right after all."""
    preferred: list[_Item] = []
    others: list[_Item] = []
    for each in items:
        (preferred if is_preferred(each) else others).append(each)
    return [each for turn in zip_longest(preferred, others) for each in turn if each is not None]


def _spread(instances: Sequence[_Item]) -> Iterator[_Item]:
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


def _joint_steps(groups: Sequence[Sequence[Instance]], effects: Sequence[tuple[int, str]]) -> Iterator[_Step]:
    for step in range(len(groups) + effects[-1][0] if groups and effects else 0):
        for cost, effect in effects:
            if 0 <= step - cost < len(groups):
                group = groups[step - cost]
                yield step, group[0].apart, [((each.occurrence, each.within), effect) for each in group]


def _single_steps(groups: Sequence[Sequence[Instance]], effects: Sequence[tuple[int, str]]) -> Iterator[_Step]:
    for cost, effect in effects:
        for group in groups:
            for each in group:
                yield cost, each.apart, [((each.occurrence, each.within), effect)]
