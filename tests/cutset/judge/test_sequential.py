import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.sequential import chance_of_false_finding, decide, failures_needed
from cutset.model.outcome import Verdict

rates = st.floats(0.0001, 0.5)
trials = st.lists(st.sampled_from(Verdict), max_size=12)


@pytest.mark.parametrize(
    ("flake_rate", "error_rate", "failures"),
    [(0.01, 0.001, 2), (0.05, 0.001, 3), (0.1, 0.001, 3), (0.0, 0.001, 1), (0.5, 0.001, 10), (0.01, 0.5, 1)],
)
def test_flakier_answers_need_more_failures(flake_rate: float, error_rate: float, failures: int) -> None:
    assert failures_needed(flake_rate, error_rate) == failures


@given(rates, rates)
def test_so_many_failures_keep_the_promise_and_one_less_does_not(flake_rate: float, error_rate: float) -> None:
    failures = failures_needed(flake_rate, error_rate)

    assert chance_of_false_finding(flake_rate, failures) <= error_rate * 1.001
    assert failures == 1 or chance_of_false_finding(flake_rate, failures - 1) > error_rate


@given(trials, st.integers(1, 4))
def test_the_first_success_decides_and_failures_only_in_their_number(verdicts: list[Verdict], failures: int) -> None:
    successes = [verdict for verdict in verdicts if verdict in (Verdict.SURVIVED, Verdict.DEGRADED)]
    enough = verdicts.count(Verdict.FAILED) >= failures

    assert decide(verdicts, failures) is (successes[0] if successes else Verdict.FAILED if enough else Verdict.UNKNOWN)


def test_trials_that_prove_nothing_count_for_neither_side() -> None:
    failed, void = Verdict.FAILED, Verdict.UNKNOWN

    assert decide([failed, void], 2) is void
    assert decide([failed, void, void, failed], 2) is failed
