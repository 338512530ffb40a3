import pytest
from benchmarks.monte_carlo import Family, compare, interval, random_family, rare_event_sum, simulated_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.cut_families import all_rates, requests

from cutset.harden.probability import Rates, RequestClass, likelihood
from cutset.model.point import Point

A, B = Point("a", "x"), Point("b", "x")
hardenings = st.dictionaries(st.sampled_from(["a/x", "b/x", "c/x"]), st.sampled_from([0.0, 0.1, 1.0]), max_size=3)


def test_probabilities_agree_with_simulated_failures() -> None:
    assert compare(families=40, samples=20_000).disagreements == 0


@settings(max_examples=60, deadline=None)
@given(requests, all_rates(), hardenings)
def test_the_rare_event_sum_is_never_less_than_the_probability(
    request: RequestClass, rates: Rates, hardened: dict[str, float]
) -> None:
    exact = likelihood(request, rates, hardened).probability

    assert rare_event_sum(Family(request, rates, hardened)) >= exact * (1 - 1e-12)


def test_the_rare_event_sum_counts_what_two_cuts_explain_twice() -> None:
    family = Family(RequestClass("r", (frozenset({A}), frozenset({B}))), Rates({A: 0.5, B: 0.5}), {})

    assert rare_event_sum(family) == pytest.approx(1.0)


def test_so_many_simulated_failures_can_tell_the_truth_from_the_rare_event_sum() -> None:
    told_apart = 0
    for seed in range(40):
        family = random_family(seed)
        low, high = interval(simulated_failures(family, 20_000, seed), 20_000, 0.001 / 40)
        told_apart += not low <= rare_event_sum(family) <= high

    assert told_apart > 20
