from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.harden.diagram import Diagrams, TooLargeError, good_order

Cut = list[frozenset[int]]

EVENTS = 7
rates = st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.3, 0.5, 0.99, 1.0]), min_size=EVENTS, max_size=EVENTS)
cuts = st.lists(st.lists(st.frozensets(st.integers(0, EVENTS - 1), min_size=1, max_size=3), max_size=4), max_size=6)


def by_trying_all(cuts: list[Cut], rates: list[float]) -> float:
    return sum(
        prod(rate if occurs else 1 - rate for rate, occurs in zip(rates, state, strict=True))
        for state in product([False, True], repeat=EVENTS)
        if any(all(any(state[event] for event in clause) for clause in cut) for cut in cuts)
    )


def built(cuts: list[Cut], order: list[int] | None = None) -> tuple[Diagrams[int], int]:
    diagrams = Diagrams(good_order(cuts) if order is None else order)
    return diagrams, diagrams.any_of([diagrams.cut(cut) for cut in cuts])


@settings(deadline=None)
@given(cuts, rates)
def test_a_probability_is_the_sum_over_all_states(cuts: list[Cut], rates: list[float]) -> None:
    diagrams, diagram = built(cuts)

    assert diagrams.probabilities(dict(enumerate(rates)))[diagram] == pytest.approx(by_trying_all(cuts, rates))


@settings(deadline=None)
@given(cuts, rates)
def test_a_gradient_is_the_difference_between_certain_and_impossible(cuts: list[Cut], rates: list[float]) -> None:
    diagrams, diagram = built(cuts, list(range(EVENTS)))

    slopes = diagrams.gradient(diagram, dict(enumerate(rates)))

    for event in range(EVENTS):
        certain, impossible = (
            by_trying_all(cuts, [rate if other != event else value for other, rate in enumerate(rates)])
            for value in (1.0, 0.0)
        )
        assert slopes[event] == pytest.approx(certain - impossible, abs=1e-12)


@settings(deadline=None)
@given(cuts, st.permutations(range(EVENTS)), st.randoms(use_true_random=False))
def test_equal_functions_are_one_diagram(cuts: list[Cut], order: list[int], random: st.DataObject) -> None:
    diagrams = Diagrams(order)
    one = diagrams.any_of([diagrams.cut(cut) for cut in cuts])
    other = 0
    for cut in random.sample(cuts, len(cuts)):
        other = diagrams.any_of([diagrams.cut(reversed(cut)), other])

    assert one == other


def test_small_probabilities_are_as_exact_as_large_ones() -> None:
    diagrams, diagram = built([[frozenset({1}), frozenset({2})], [frozenset({2}), frozenset({3})]])

    assert diagrams.probabilities({1: 1e-30, 2: 1e-20, 3: 1e-30})[diagram] == pytest.approx(2e-50, rel=1e-12)


def test_thousands_of_events_do_not_overflow() -> None:
    chain = [[frozenset({event}), frozenset({event + 1})] for event in range(3000)]
    diagrams, diagram = built(chain)

    value = diagrams.probabilities(dict.fromkeys(range(3001), 0.01))[diagram]

    neither, last = 1.0, 0.0  # that no pair occurs so far, the last event not occurring or occurring
    for _ in range(3001):
        neither, last = 0.99 * (neither + last), 0.01 * neither
    assert value == pytest.approx(1 - neither - last)


def test_cuts_that_share_nothing_add_up_and_common_events_come_first() -> None:
    replicas = [[frozenset({(api, replica), "zone"}) for replica in range(6)] for api in range(50)]
    order = good_order(replicas)
    diagrams = Diagrams(order)

    diagrams.any_of([diagrams.cut(cut) for cut in replicas])

    assert order[0] == "zone"
    assert len(diagrams) < 50 * 6 * 10


def test_a_diagram_that_gets_too_large_says_so() -> None:
    pairs = [[frozenset({event}), frozenset({event + 20})] for event in range(20)]
    bad_order = Diagrams(range(40), max_nodes=1000)

    with pytest.raises(TooLargeError):
        bad_order.any_of([bad_order.cut(cut) for cut in pairs])

    good = Diagrams(good_order(pairs), max_nodes=1000)
    assert good.any_of([good.cut(cut) for cut in pairs]) > 1
