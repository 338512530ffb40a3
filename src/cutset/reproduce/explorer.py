"""Which fault to try next, after what earlier rounds have shown (ANDURIL §5.2). Asked and told; it runs nothing.

    while rounds := explorer.next_rounds(jobs):
        for planned in rounds:
            explorer.learn(planned, fired, present, visits)     # unless the symptom showed: then the search is over

Its state is a fold over `learn`: an explorer that is told the rounds of a ledger goes on as the one that wrote it.

A round arms a *window* of faults, of which the first that occurs fires (§5.2.5): the best one may not occur, and the
round would be wasted. The window starts with ten sites and doubles after a round that fired nothing; it never shrinks.
A fault that was armed in three rounds in which nothing fired is given up. Sites that the good run did not execute are
armed at any occurrence as soon as they rank within the window; they take nobody's place in it.

ANDURIL lets whatever occurs first fire, so that the best of ten may have to wait for nine others. With `best-first`, a
window has its best fault, and of the next ones only those that came later in the good run: they fire if the best one
does not occur, and never in its place. Whichever fires, the round teaches.

Several rounds at once share out the ranking, the best n leading one round each; their windows do not overlap. While
rounds are under way, more can be asked for: `best-first` then may let lead what another round has in reserve.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from cutset.model.reproduction.log import Observable
from cutset.model.reproduction.site import SiteFault, Visit
from cutset.reproduce.fault_space import (
    ANY,
    FaultSpace,
    RoundKnowledge,
    SiteCandidate,
    SiteFacts,
    TimeApart,
    moment_of,
)
from cutset.reproduce.strategies import EVERYTHING, STRATEGIES, SiteStrategyName

GIVE_UP_AFTER = 3  # rounds: what did not occur in so many runs without a fault does not occur in this workload
OTHER_EFFECTS, OTHER_MOMENTS = 3, 6  # next to a fault that shows the symptom
SHOWN = 10  # places of the ranking that a round keeps for display


@dataclass(frozen=True, slots=True)
class PlannedRound:
    window: tuple[SiteFault, ...]  # the best first
    size: int  # of the window, in sites
    ranking: tuple[SiteCandidate, ...] = field(default=(), compare=False)  # the best of all, for display


@dataclass(frozen=True, slots=True)
class ExplorerProgress:
    rounds: int
    idle_rounds: int  # in which nothing fired
    tried: int  # faults
    given_up: int  # faults
    sites_tried: int
    sites_left: int
    sites_never_executed: int  # by a good run; they are armed all the same
    window: int
    exhausted: bool

    def __str__(self) -> str:
        left = "nothing is left to try" if self.exhausted else f"{self.sites_left} sites have faults left to try"
        return (
            f"{self.rounds} rounds tried {self.tried} faults at {self.sites_tried} sites, {self.idle_rounds} fired "
            f"nothing; {left}; {self.given_up} faults never occurred; the workload alone does not execute "
            f"{self.sites_never_executed} of the sites"
        )


class Explorer:
    def __init__(
        self,
        sites: Sequence[SiteFacts],
        observables: Sequence[Observable],
        visits: Sequence[Visit],
        apart: TimeApart,
        strategy: SiteStrategyName = SiteStrategyName.BEST_FIRST,
        *,
        window: int = 0,
        alike: float = 0.0,
        sometimes: Collection[int] = (),
    ) -> None:
        """`visits` are those of the good run, in order; `apart` tells how far one is from a message (§5.2.3).

        `window` is the size of the first, in sites; 0: as the strategy has it. `alike` is the share of its log that the
        good run has in common with the failure log. `sometimes` are sites that another good run executed, and this one
        did not: nobody knows what comes first, they or others.
        """
        self._strategy = STRATEGIES[strategy]
        self._space = FaultSpace(sites, observables, visits, apart, alike)
        self._known = RoundKnowledge()
        self._window = window or self._strategy.window
        self._sometimes = frozenset(sometimes)
        self._idle: Counter[SiteFault] = Counter()  # how often a round armed it and it did not occur
        self._rounds = self._idle_rounds = 0
        self._under_way: list[PlannedRound] = []

    def next_rounds(self, most: int = 1) -> list[PlannedRound]:
        """None: everything was tried, unless rounds are under way."""
        ranking = self.ranking()
        share = self._share_best_first if self._strategy.best_fires_first else self._share
        rounds = [
            PlannedRound(
                tuple(choice for candidate in window for choice in candidate.choices),
                self._window,
                tuple(ranking[:SHOWN]),
            )
            for window in share(ranking, most)
        ]
        self._under_way.extend(rounds)
        return rounds

    def learn(
        self,
        planned: PlannedRound,
        fired: SiteFault | None,
        present: Collection[str],
        visits: Iterable[Visit] = (),
        standing: tuple[int, ...] = (),
    ) -> None:
        """`present`: keys of the observables that are not missing (Algorithm 2). `visits`: all that the run made.

        `standing`: the smaller, the more its log is like the failure log.
        """
        if planned in self._under_way:
            self._under_way.remove(planned)
        self._rounds += 1
        self._known.near_first = not self._known.near_first
        for visit in visits:
            if not self._space.executed(visit.site):
                self._known.later_visits.setdefault(visit.site, {}).setdefault(moment_of(visit), visit)
        if fired is None:
            # Without an injection a log says nothing about any fault: no feedback.
            self._idle_rounds += 1
            self._window = max(self._window, min(2 * planned.size, EVERYTHING))
            self._did_not_occur(planned.window)
            return
        armed = _armed(planned, fired)
        self._known.tried |= {armed, fired}
        self._known.seen.update(present)
        if self._space.explains(fired, present):
            self._came_near(fired, standing)
        best = planned.window[0]
        in_reserve = armed != best and (armed.site, (armed.occurrence, armed.within)) in self._space.moments
        if self._strategy.best_fires_first and in_reserve:
            self._did_not_occur([best])

    def exclude_site(self, site: int) -> None:
        """Nothing more is tried there."""
        self._known.excluded.add(site)

    def neighbours(self, fault: SiteFault) -> list[SiteFault]:
        """What was not tried yet next to a fault: other effects at that moment, the same at moments next to it.

        By turns, since either may be what is not quite right about a fault that shows the symptom.
        """
        effects = [effect for effect in self._space.sites[fault.site].effects if effect != fault.effect]
        moments = self._space.neighbours(fault.site, (fault.occurrence, fault.within), self._known)
        others = zip_longest(
            (replace(fault, effect=effect) for effect in effects[:OTHER_EFFECTS]),
            (replace(fault, occurrence=occurrence, within=within) for occurrence, within in moments[:OTHER_MOMENTS]),
        )
        return [each for pair in others for each in pair if each is not None and each not in self._known.tried]

    def has_other_moments(self, fault: SiteFault) -> bool:
        """Its site is executed at others, too, at which it was not tried."""
        moments = self._space.neighbours(fault.site, (fault.occurrence, fault.within), self._known)
        others = (replace(fault, occurrence=occurrence, within=within) for occurrence, within in moments)
        return any(each not in self._known.tried for each in others)

    def ranking(self) -> list[SiteCandidate]:
        """What is neither tried nor under way, best first."""
        best_only = self._strategy.best_fires_first
        taken = {choice for planned in self._under_way for choice in planned.window[: 1 if best_only else None]}
        return self._space.rank(self._strategy, replace(self._known, tried=self._known.tried | taken))

    def progress(self) -> ExplorerProgress:
        sites_left = {candidate.site for candidate in self.ranking()}
        sites = range(len(self._space.sites))
        return ExplorerProgress(
            rounds=self._rounds,
            idle_rounds=self._idle_rounds,
            tried=len(self._known.tried),
            given_up=len(self._known.given_up),
            sites_tried=len({choice.site for choice in self._known.tried}),
            sites_left=len(sites_left),
            sites_never_executed=sum(not self._space.executed(site) for site in sites),
            window=self._window,
            exhausted=not sites_left and not self._under_way,
        )

    def _came_near(self, fired: SiteFault, standing: tuple[int, ...]) -> None:
        known = self._known
        if not known.near or standing < known.near_standing:
            known.near, known.near_standing = {}, standing
        if standing == known.near_standing:
            known.near.setdefault((fired.site, fired.effect), (fired.occurrence, fired.within))

    def _did_not_occur(self, choices: Iterable[SiteFault]) -> None:
        for choice in choices:
            self._idle[choice] += 1
            if self._idle[choice] >= GIVE_UP_AFTER:
                self._known.given_up.add(choice)

    def _share(self, ranking: Sequence[SiteCandidate], most: int) -> list[list[SiteCandidate]]:
        windows: list[list[SiteCandidate]] = [[] for _ in range(most)]
        placed = 0
        for candidate in ranking:
            if placed == most * self._window:
                break
            windows[placed % most].append(candidate)
            placed += candidate.executed
        return [window for window in windows if window]

    def _share_best_first(self, ranking: Sequence[SiteCandidate], most: int) -> list[list[SiteCandidate]]:
        never = {each.site for each in ranking if not each.executed} - self._sometimes
        best = [candidate for candidate in ranking if candidate.site not in never][:most] or list(ranking[:1])
        windows = [[candidate] for candidate in best]
        room = [self._window - 1] * len(windows)
        turn = 0
        for candidate in ranking:
            if not any(room):
                break
            if candidate in best:
                continue
            for number in (*range(turn, len(windows)), *range(turn)):
                if candidate.site in never or (room[number] and self._comes_later(candidate, windows[number][0])):
                    windows[number].append(candidate)
                    room[number] -= candidate.executed
                    turn = (number + 1) % len(windows)
                    break
        return windows

    def _comes_later(self, candidate: SiteCandidate, best: SiteCandidate) -> bool:
        placed, first = (
            self._space.moments.get((one.choices[0].site, (one.choices[0].occurrence, one.choices[0].within)))
            for one in (candidate, best)
        )
        return placed is not None and first is not None and placed.is_after(first)


def _armed(planned: PlannedRound, fired: SiteFault) -> SiteFault:
    for choice in (fired, replace(fired, occurrence=ANY, within="")):
        if choice in planned.window:
            return choice
    raise ValueError(f"{fired} fired, which its round had not armed")
