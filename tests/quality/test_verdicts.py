"""Whether verdicts are true where requests vary and answers are flaky, judged by brute force on generated systems."""

from dataclasses import dataclass, replace
from random import Random

import pytest

from cutset.experiment.trials import amount_to
from cutset.judge.sequential import Repetition, failures_needed
from cutset.model.fault import Cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.search.cuts import CutSearch
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import All, Balance, Balancer, Cache, Call, Execution, FirstOf, Optional, System

SYSTEMS = 40
TRIALS = 12
HIT_RATE = 0.3  # so that the rarest failure here hits half of the requests: overlooked once in a thousand times
MOST_IDLE = 60


@dataclass
class Laboratory:
    """Repeats trials of a simulated system as the real one does."""

    system: System
    rule: Repetition
    flakes: float
    chance: Random

    def run(self, cut: Cut) -> Outcome:
        trials: list[Outcome] = []
        while (outcome := amount_to(trials, self.rule, varying=True)) is None:
            trials.append(self._trial(cut))
            if len(trials) == MOST_IDLE and not any(each.fired for each in trials):
                return Outcome(cut, Verdict.UNKNOWN, "never fired", calls=_called(trials))
        return replace(outcome, healthy_after=outcome.verdict is Verdict.FAILED)

    def _trial(self, cut: Cut) -> Outcome:
        execution = Execution(points_of(cut), balancer=Balancer(Balance.RANDOM, self.chance), chance=self.chance)
        path = execution.run(self.system)
        calls, fired = frozenset(execution.calls), points_of(cut) & execution.calls
        failed = path is None or (bool(cut) and self.chance.random() < self.flakes)  # the audit drops its flakes
        if failed and cut and not fired:
            return Outcome(cut, Verdict.UNKNOWN, calls=calls)
        return Outcome(
            cut,
            Verdict.FAILED if failed else Verdict.SURVIVED,
            path=frozenset() if failed or path is None else path,
            failed=frozenset(execution.failed),
            calls=calls,
            fired=fired,
        )


def _called(trials: list[Outcome]) -> Points:
    return frozenset().union(*(each.calls for each in trials))


def random_system(chance: Random) -> System:
    names = iter(range(100))

    def call() -> Call:
        return Call(f"p{next(names)}")

    def part() -> System:
        match chance.randrange(5):
            case 0:
                return Optional(call())
            case 1:
                return FirstOf((call(), call()))
            case 2:
                return Cache(call(), HIT_RATE)
            case 3:
                return Cache(FirstOf((call(), call())), HIT_RATE)
        return call()

    return All(tuple(part() for _ in range(chance.randrange(2, 5))))


@pytest.mark.parametrize("flakes", [0.0, 0.01, 0.05])
def test_what_fails_only_some_requests_is_found_and_chance_is_not(flakes: float) -> None:
    missed, false, cuts = 0, 0, 0
    rule = Repetition(failures_needed(flakes, 0.001), flakes, TRIALS)
    for seed in range(SYSTEMS):
        system = random_system(Random(seed))
        laboratory = Laboratory(system, rule, flakes, Random(1000 + seed))
        search = CutSearch(SearchSettings(max_size=2))
        drive(search, laboratory)
        truth, found = minimal_cuts_by_brute_force(system, 2), set(search.result().minimal_cuts)
        missed, false, cuts = missed + len(truth - found), false + len(found - truth), cuts + len(truth)

    assert (missed, false) == (0, 0)
    assert cuts > 2 * SYSTEMS
