import pytest

from cutset.campaign.settings import CampaignSettings, Limits, SearchChoice
from cutset.errors import UsageError
from cutset.lineage.path import Level
from cutset.model.effect import Effect, EffectChoice
from cutset.search.strategies import StrategyName

ABORT, TIMEOUT = Effect.parse("abort(503)"), Effect.parse("timeout")
SEVERAL = EffectChoice((ABORT, TIMEOUT))
HERE_AND_THERE = EffectChoice((ABORT,), (("payment", (TIMEOUT,)),))  # one at each point


@pytest.mark.parametrize(
    ("limits", "needed"),
    [
        (Limits(), 2),  # 1 % flakes twice in a row: less than one in a thousand
        (Limits(flake_rate=0.0), 1),
        (Limits(flake_rate=0.1, error_rate=0.001), 4),
        (Limits(repeats=5, flake_rate=0.1), 5),
    ],
)
def test_how_often_a_failure_must_repeat_follows_from_the_rates_unless_it_is_given(limits: Limits, needed: int) -> None:
    assert limits.failures_needed == needed


@pytest.mark.parametrize(
    ("effects", "limits", "size"),
    [
        (EffectChoice(), Limits(), 3),
        (SEVERAL, Limits(), 2),
        (HERE_AND_THERE, Limits(), 3),
        (SEVERAL, Limits(max_size=3), 3),
        (EffectChoice((ABORT,), (("payment", (ABORT, TIMEOUT)),)), Limits(), 2),
    ],
)
def test_cuts_are_looked_for_up_to_size_3_or_2_with_several_effects_at_a_point(
    effects: EffectChoice, limits: Limits, size: int
) -> None:
    assert CampaignSettings(limits=limits, effects=effects).max_size == size


@pytest.mark.parametrize("strategy", [each for each in StrategyName if each is not StrategyName.CUTS])
def test_published_strategies_know_one_effect_per_point(strategy: StrategyName) -> None:
    search = SearchChoice(strategy=strategy)

    assert CampaignSettings(search=search, effects=HERE_AND_THERE)
    with pytest.raises(UsageError, match=f"The strategy `{strategy}` knows one effect per point"):
        CampaignSettings(search=search, effects=SEVERAL)


def test_replicas_are_told_apart_with_one_effect_per_point() -> None:
    assert CampaignSettings(points=Level.REPLICA, effects=HERE_AND_THERE)
    with pytest.raises(UsageError, match="Replicas are told apart with one effect per point"):
        CampaignSettings(points=Level.REPLICA, effects=SEVERAL)
