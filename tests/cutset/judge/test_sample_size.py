import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.sample_size import MOST, fixed_requests, requests_to_exclude_harm, requests_to_see_harm

shares = st.floats(0, 0.5)


@pytest.mark.parametrize(
    ("control", "fault", "power_80", "power_90"),
    [
        (0.001, 0.301, 21, 28),
        (0.001, 0.031, 273, 366),
        (0.001, 0.011, 935, 1251),
        (0.001, 0.004, 4348, 5821),
        (0.01, 0.31, 22, 29),
        (0.01, 0.11, 87, 116),
        (0.01, 0.04, 424, 567),
        (0.01, 0.02, 2318, 3103),
        (0.05, 0.10, 434, 581),
        (0.05, 0.07, 2212, 2961),
        (0.05, 0.06, 8158, 10920),
    ],
)
def test_a_fixed_end_needs_what_tables_have(control: float, fault: float, power_80: int, power_90: int) -> None:
    assert fixed_requests(control, fault, 0.05) == pytest.approx(power_80, abs=1)
    assert fixed_requests(control, fault, 0.05, power=0.9) == pytest.approx(power_90, abs=1)


@given(shares, shares, st.sampled_from([0.05, 0.01]))
def test_who_looks_at_any_time_plans_for_twice_as_many(control: float, fault: float, alpha: float) -> None:
    assert requests_to_see_harm(control, fault, alpha) == min(MOST, 2 * fixed_requests(control, fault, alpha))


@pytest.mark.parametrize(
    ("share", "margin", "simulated"),
    [(0.001, 0.01, 580), (0.01, 0.01, 2290), (0.01, 0.03, 310), (0.05, 0.03, 1179), (0.001, 0.003, 3064)],
)
def test_to_exclude_harm_takes_what_80_percent_of_simulated_runs_took(
    share: float, margin: float, simulated: int
) -> None:
    assert requests_to_exclude_harm(share, share, margin, 0.05) == pytest.approx(simulated, rel=0.15)


@given(shares, st.floats(0.001, 0.2))
def test_less_margin_and_more_failures_take_more_requests(share: float, margin: float) -> None:
    needed = requests_to_exclude_harm(share, share, margin, 0.01)

    assert needed >= requests_to_exclude_harm(share, share, 1.5 * margin, 0.01)
    assert requests_to_exclude_harm(share, share + margin / 2, margin, 0.01) >= needed


def test_what_is_not_so_is_not_shown_by_any_number() -> None:
    assert requests_to_exclude_harm(0.01, 0.04, 0.02, 0.01) == MOST
    assert requests_to_see_harm(0.01, 0.01, 0.01) == MOST


def test_no_failure_at_all_shows_that_a_margin_of_2_percent_holds_after_some_250_requests() -> None:
    assert requests_to_exclude_harm(0.0, 0.0, 0.02, 0.01) == pytest.approx(250, abs=10)
