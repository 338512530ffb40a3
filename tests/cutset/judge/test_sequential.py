from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.sequential import (
    MOST_TRIALS,
    OVERLOOKED,
    Repetition,
    chance_of_false_finding,
    chance_of_so_many,
    decide,
    failures_needed,
    overlooked_share,
    trials_to_see,
)
from cutset.model.outcome import Verdict

SURVIVED, DEGRADED, FAILED, UNKNOWN = Verdict.SURVIVED, Verdict.DEGRADED, Verdict.FAILED, Verdict.UNKNOWN
rates = st.floats(0.0001, 0.5)
DEPTH = 60  # trials looked at by brute force: what is open by then is so seldom that it does not matter


@pytest.mark.parametrize(
    ("flake_rate", "error_rate", "failures"),
    [(0.01, 0.001, 2), (0.05, 0.001, 3), (0.1, 0.001, 4), (0.0, 0.001, 1), (0.5, 0.001, 11), (0.01, 0.5, 1)],
)
def test_flakier_answers_need_more_failures(flake_rate: float, error_rate: float, failures: int) -> None:
    assert failures_needed(flake_rate, error_rate) == failures


@given(rates, rates)
def test_so_many_failures_keep_the_promise_and_one_less_does_not(flake_rate: float, error_rate: float) -> None:
    failures = failures_needed(flake_rate, error_rate)

    assert chance_of_false_finding(flake_rate, failures) <= error_rate * 1.001
    assert failures == 1 or chance_of_false_finding(flake_rate, failures - 1) > error_rate


# By brute force: the chance of each verdict when a share of requests fails


def chances(rule: Repetition, share: float, *, varying: bool) -> dict[Verdict | None, float]:
    """Follows all sequences of trials at once."""

    @cache
    def verdict(trials: tuple[Verdict, ...]) -> Verdict | None:
        return decide(trials, rule, varying=varying)

    ends: dict[Verdict | None, float] = {SURVIVED: 0.0, FAILED: 0.0, UNKNOWN: 0.0}
    open_ones: dict[tuple[Verdict, ...], float] = {(): 1.0}
    for _ in range(DEPTH):
        following: dict[tuple[Verdict, ...], float] = {}
        for trials, chance in open_ones.items():
            for outcome, likely in ((FAILED, share), (SURVIVED, 1 - share)):
                longer = (*trials, outcome)
                if (found := verdict(longer)) is not None:
                    ends[found] += chance * likely
                elif chance * likely > 1e-12:
                    key = longer if len(longer) < rule.trials else _canonical(longer)
                    following[key] = following.get(key, 0.0) + chance * likely
        open_ones = following
    return ends


def _canonical(trials: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The future of what is open after that many trials depends on how many failed, and not on their order."""
    return (*[SURVIVED] * trials.count(SURVIVED), *[FAILED] * trials.count(FAILED))


@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize("flake_rate", [0.001, 0.01, 0.05, 0.1])
def test_chance_alone_makes_no_more_false_findings_than_is_said(flake_rate: float, varying: bool) -> None:
    for error_rate in (0.001, 0.01):
        rule = Repetition(failures_needed(flake_rate, error_rate), flake_rate, trials=8)

        ends = chances(rule, flake_rate, varying=varying)

        assert ends[FAILED] <= chance_of_false_finding(flake_rate, rule.repeats) <= error_rate
        assert ends[SURVIVED] > 0.9


@pytest.mark.parametrize("trials", [4, 8])
@pytest.mark.parametrize("flake_rate", [0.0, 0.001, 0.01, 0.05])
def test_a_share_of_the_size_that_is_said_is_overlooked_no_more_often_than_is_said(
    flake_rate: float, trials: int
) -> None:
    rule, share = (
        Repetition(failures_needed(flake_rate, 0.001), flake_rate, trials),
        overlooked_share(flake_rate, trials),
    )

    assert chances(rule, share, varying=True)[SURVIVED] <= OVERLOOKED
    assert chances(rule, (1 + share) / 2, varying=True)[SURVIVED] < OVERLOOKED / 2


@pytest.mark.parametrize("flake_rate", [0.01, 0.1])
def test_where_requests_behave_alike_what_always_fails_is_always_found(flake_rate: float) -> None:
    rule = Repetition(failures_needed(flake_rate, 0.001), flake_rate)

    assert decide([FAILED] * rule.repeats, rule, varying=False) is FAILED
    assert decide([FAILED] * (rule.repeats - 1), rule, varying=False) is None


def test_without_flakes_the_share_that_is_overlooked_follows_from_the_number_of_trials() -> None:
    share = overlooked_share(0.0, 10)

    assert (1 - share) ** 10 <= OVERLOOKED
    assert share == pytest.approx(0.267, abs=0.001)
    assert overlooked_share(0.0, 100) < 0.031
    assert overlooked_share(0.2, 100) == pytest.approx(0.6)  # what is hardly more than chance is not asked for


@pytest.mark.parametrize("share", [0.03, 0.07, 0.25, 0.9])
@pytest.mark.parametrize("flake_rate", [0.0, 0.01])
def test_there_are_as_many_trials_as_it_takes_to_see_a_share(share: float, flake_rate: float) -> None:
    rule = Repetition(2, flake_rate, trials=4)
    trials = trials_to_see(share, rule)

    assert overlooked_share(flake_rate, trials) <= share + 1e-9
    assert trials == 4 or overlooked_share(flake_rate, trials - 1) > share
    assert trials_to_see(0.001, Repetition(2, 0.1)) == trials_to_see(0.3, Repetition(2, 0.1))  # it is hardly chance


# What decides


RULE = Repetition(repeats=2, flake_rate=0.01, trials=5)


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        ([], None),
        ([SURVIVED], SURVIVED),
        ([DEGRADED], None),
        ([DEGRADED, DEGRADED], DEGRADED),
        ([FAILED], None),
        ([FAILED, FAILED], FAILED),
        ([FAILED, SURVIVED], None),  # they contradict each other
        ([FAILED, SURVIVED, FAILED, SURVIVED], None),
        ([FAILED, SURVIVED, FAILED, SURVIVED, FAILED, FAILED], FAILED),
        ([FAILED] + [SURVIVED] * 20, SURVIVED),
        ([DEGRADED] + [SURVIVED] * 20, SURVIVED),
        ([DEGRADED, FAILED, DEGRADED, SURVIVED, DEGRADED] + [SURVIVED, DEGRADED] * 10, DEGRADED),
    ],
)
def test_where_requests_behave_alike_the_first_survival_decides_and_contradictions_are_looked_into(
    trials: list[Verdict], verdict: Verdict | None
) -> None:
    assert decide(trials, RULE, varying=False) is verdict


def test_where_requests_vary_each_experiment_has_its_trials() -> None:
    for number in range(1, 5):
        assert decide([SURVIVED] * number, RULE, varying=True) is None
        assert decide([FAILED] * number, RULE, varying=True) is None
    assert decide([SURVIVED] * 5, RULE, varying=True) is SURVIVED
    assert decide([FAILED] * 5, RULE, varying=True) is FAILED


def test_trials_without_the_fault_are_trials_but_never_excuse_a_failure_of_those_with_it() -> None:
    assert decide([SURVIVED], RULE, varying=False, unfired=3) is SURVIVED
    assert decide([SURVIVED], RULE, varying=True, unfired=3) is None
    assert decide([SURVIVED], RULE, varying=True, unfired=4) is SURVIVED
    assert decide([FAILED, FAILED], RULE, varying=False, unfired=1) is None  # of what share, is to be told
    assert decide([FAILED, FAILED], RULE, varying=False, unfired=3) is FAILED
    assert decide([FAILED], RULE, varying=True, unfired=100) is None
    assert decide([FAILED] * 3, RULE, varying=True, unfired=100) is FAILED
    assert decide([], RULE, varying=True, unfired=100) is None


def test_what_nobody_can_tell_from_chance_is_unknown_in_the_end() -> None:
    rule = Repetition(repeats=4, flake_rate=0.1, trials=10)
    undecided = ([FAILED] + [SURVIVED] * 4) * MOST_TRIALS

    assert decide(undecided[: MOST_TRIALS - 1], rule, varying=True) is None
    assert decide(undecided[:MOST_TRIALS], rule, varying=True) is UNKNOWN


def test_without_flakes_one_failure_among_many_counts() -> None:
    rule = Repetition(repeats=1, flake_rate=0.0, trials=5)

    assert decide([SURVIVED] * 4 + [FAILED], rule, varying=True) is FAILED


@given(st.integers(1, 6), st.floats(0.0, 1.0))
def test_the_chance_of_so_many_failures_is_that_of_all_sequences_that_have_them(of: int, rate: float) -> None:
    for failures in range(of + 1):
        counted = sum(
            rate ** sum(each) * (1 - rate) ** (of - sum(each))
            for each in product((0, 1), repeat=of)
            if sum(each) >= failures
        )
        assert chance_of_so_many(failures, of, rate) == pytest.approx(counted)
