import pytest

from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.search.strategies import STRATEGIES, StrategyName
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call, Execution, Optional

SYSTEM = All((Call("A"), Call("B"), Optional(Call("C"))))


def outcome(cut: Cut) -> Outcome:
    execution = Execution(points_of(cut))
    path = execution.run(SYSTEM)
    verdict = Verdict.FAILED if path is None else Verdict.SURVIVED
    return Outcome(
        cut,
        verdict,
        path=path or frozenset(),
        failed=frozenset(execution.failed),
        calls=frozenset(execution.calls),
    )


@pytest.mark.parametrize("name", StrategyName)
def test_every_strategy_starts_without_faults_and_finds_the_single_points_of_failure(name: StrategyName) -> None:
    search = STRATEGIES[name].start(SearchSettings(2))
    asked: list[Cut] = []
    while cuts := search.ask(9):
        asked += cuts
        for cut in cuts:
            search.learn(outcome(cut))

    assert asked[0] == frozenset()
    assert len(asked) == len(set(asked))
    assert set(search.result().minimal_cuts) == {cut_of({Point("simulated", api)}) for api in "AB"}
    assert search.result().assumption


@pytest.mark.parametrize("name", StrategyName)
def test_every_strategy_is_described_in_one_line(name: StrategyName) -> None:
    description = STRATEGIES[name].description

    assert description
    assert "\n" not in description
    assert not description.endswith(".")
