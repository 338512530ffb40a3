from math import comb, exp, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.coin import PRIORS, Coin, log_evidence
from cutset.model.impact import Group

failures = st.integers(0, 400)


def evidence(fault: int, control: int, *, harm_only: bool = True) -> float:
    return exp(log_evidence(fault, control, PRIORS, harm_only=harm_only))


@pytest.mark.parametrize("harm_only", [True, False])
@pytest.mark.parametrize("count", range(13))
def test_without_an_effect_one_is_expected_after_any_number_of_failures(count: int, harm_only: bool) -> None:
    expected = sum(comb(count, k) * evidence(k, count - k, harm_only=harm_only) for k in range(count + 1)) / 2**count

    assert expected == pytest.approx(1, rel=1e-9)


@given(failures, failures, st.booleans())
def test_the_next_failure_is_expected_to_change_nothing(fault: int, control: int, harm_only: bool) -> None:
    now = evidence(fault, control, harm_only=harm_only)
    later = (evidence(fault + 1, control, harm_only=harm_only) + evidence(fault, control + 1, harm_only=harm_only)) / 2

    assert later == pytest.approx(now, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_chance_ever_raises_an_alarm_as_seldom_as_promised_by_exact_enumeration(alpha: float) -> None:
    quiet, alarmed = {0: 1.0}, 0.0  # the probability of each number of failures with the fault, without alarm so far
    for count in range(1, 300):
        after: dict[int, float] = {}
        for k, probability in quiet.items():
            for more in (0, 1):
                after[k + more] = after.get(k + more, 0.0) + probability / 2
        loud = {k for k in after if log_evidence(k, count - k, PRIORS, harm_only=True) >= -log(alpha)}
        alarmed += sum(after[k] for k in loud)
        quiet = {k: probability for k, probability in after.items() if k not in loud}

    assert 0.2 * alpha < alarmed <= alpha


def test_seven_failures_with_the_fault_and_none_without_are_an_alarm_at_5_percent_and_six_are_not() -> None:
    chances = []
    coin = Coin(priors=(1.0,))
    for _ in range(7):
        coin.add(Group.FAULT)
        chances.append(coin.chance)

    # Beta(1,1) above one half, k of k: e = 2^k / (k+1) · 2 · (1 − 2^−(k+1))
    assert chances == pytest.approx([(k + 1) / (2 ** (k + 1) - 1) for k in range(1, 8)])
    assert [chance <= 0.05 for chance in chances] == [False] * 6 + [True]


def test_what_was_once_seen_is_not_unseen() -> None:
    coin = Coin()
    for _ in range(20):
        coin.add(Group.FAULT)
    lowest = coin.chance
    for _ in range(100):
        coin.add(Group.CONTROL)

    assert coin.chance == lowest < 1e-4


def test_a_fault_that_helps_is_no_harm_but_no_fair_coin_either() -> None:
    harm, either = Coin(), Coin(harm_only=False)
    for coin in (harm, either):
        for _ in range(40):
            coin.add(Group.CONTROL)

    assert harm.chance == 1
    assert either.chance < 1e-6


def test_many_failures_do_not_overflow() -> None:
    assert log_evidence(100_000, 100, PRIORS, harm_only=True) > 60_000


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_as_many_failures_of_the_control_are_never_evidence_of_harm(fault: int, more: int) -> None:
    assert log_evidence(fault, fault + more, PRIORS, harm_only=True) <= 1e-6


def test_frequent_failures_need_the_narrow_prior() -> None:
    """5 % that become 6 %: of first failures, 6 in 11 fall into the fault group."""

    def failures_needed(priors: tuple[float, ...], seed: int) -> int:
        random, coin, needed = Random(seed), Coin(priors), 0
        while coin.chance > 0.05:
            needed += 1
            coin.add(Group.FAULT if random.random() < 6 / 11 else Group.CONTROL)
        return needed

    seeds = range(15)

    assert sum(failures_needed(PRIORS, seed) for seed in seeds) < sum(failures_needed((1.0,), seed) for seed in seeds)
