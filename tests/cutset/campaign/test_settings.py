import pytest

from cutset.campaign.settings import Limits


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
