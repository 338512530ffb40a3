from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.cut_families import all_rates, requests

from cutset.harden import availability
from cutset.harden.availability import best_for_availability
from cutset.harden.probability import CommonCause, Rates, RequestClass, likelihood, overall
from cutset.harden.problem import Candidate
from cutset.model.point import Point

A, B, C, D = (Point(name, "x") for name in "abcd")

candidate_lists = st.tuples(
    *(
        st.builds(
            Candidate,
            st.just(name),
            st.sampled_from([1.0, 1.0, 2.0, 0.5]),
            untouchable=st.integers(0, 9).map(lambda number: number == 0),
            already=st.integers(0, 9).map(lambda number: number == 0),
        )
        for name in ("a/x", "a/y", "b/x", "c/x")
    )
)


def failed(classes: list[RequestClass], rates: Rates, hardened: list[Candidate], residual: float) -> float:
    passed = {each.name: residual for each in hardened}
    return overall([likelihood(request, rates, passed) for request in classes]).failed_per_day


@settings(max_examples=80, deadline=None)
@given(
    classes=st.lists(requests, min_size=1, max_size=3),
    candidates=candidate_lists,
    budget=st.sampled_from([0.0, 1.0, 2.0, 2.5, 9.0]),
    rates=all_rates(),
    residual=st.sampled_from([0.0, 0.0, 0.1]),
    required=st.lists(st.frozensets(st.integers(0, 3), min_size=1), max_size=1),
)
def test_a_choice_is_as_good_as_the_best_of_all(
    *,
    classes: list[RequestClass],
    candidates: tuple[Candidate, ...],
    budget: float,
    rates: Rates,
    residual: float,
    required: list[frozenset[int]],
) -> None:
    already = [each for each in candidates if each.already]
    free = [each for each in candidates if not each.already and not each.untouchable]
    possible = [
        failed(classes, rates, [*chosen, *already], residual)
        for size in range(len(free) + 1)
        for chosen in combinations(free, size)
        if sum(each.cost for each in chosen) <= budget
        and all(any(candidates[index] in (*chosen, *already) for index in clause) for clause in required)
    ]

    choice = best_for_availability(classes, candidates, budget, rates, residual=residual, required=required)

    if not possible:
        assert choice is None
        return
    assert choice is not None
    assert choice.proven
    assert choice.cost == sum(each.cost for each in choice.chosen) <= budget
    assert choice.failed_per_day == pytest.approx(min(possible), rel=1e-6)
    assert choice.failed_per_day == pytest.approx(failed(classes, rates, [*choice.chosen, *already], residual))
    assert choice.at_least <= min(possible) * (1 + 1e-6)
    assert all(any(candidates[index] in (*choice.chosen, *already) for index in clause) for clause in required)


def test_availability_may_want_another_choice_than_the_number_of_findings() -> None:
    """One API is in two findings that hardly ever occur, the other in one that does."""
    request = RequestClass("r", (frozenset({A, B}), frozenset({A, C}), frozenset({D})), per_day=1000.0)
    candidates = [Candidate(f"{name}/x") for name in "abcd"]

    choice = best_for_availability([request], candidates, 1, Rates({A: 0.001, B: 0.001, C: 0.001, D: 0.01}))

    assert choice is not None
    assert [each.name for each in choice.chosen] == ["d/x"]
    assert choice.failed_before == pytest.approx(10.002, abs=1e-3)
    assert choice.availability == pytest.approx(1 - 2e-6, abs=1e-8)


def test_where_sums_over_findings_mislead_the_best_choice_is_found() -> None:
    """A and B fail together: hardening one of them brings nothing, and both together most."""
    request = RequestClass("r", (frozenset({A}), frozenset({B}), frozenset({C})))
    rates = Rates({A: 0.0, B: 0.0, C: 0.55}, (CommonCause("zone", 0.9, frozenset({A, B})),))
    candidates = [Candidate(f"{name}/x", cost=2.0 if name == "c" else 1.0) for name in "abc"]

    choice = best_for_availability([request], candidates, 2, rates)

    assert choice is not None
    assert choice.proven
    assert sorted(each.name for each in choice.chosen) == ["a/x", "b/x"]
    assert choice.failed_per_day == pytest.approx(0.55)


def test_a_point_with_two_call_sites_needs_both() -> None:
    sites = frozenset({"web>a/x", "api>a/x"})
    request = RequestClass("r", (frozenset({A}), frozenset({B})), sites={A: sites, B: frozenset({"web>b/x"})})
    candidates = [Candidate(name) for name in (*sorted(sites), "web>b/x")]
    rates = Rates({A: 0.2, B: 0.1})

    one, two = (best_for_availability([request], candidates, budget, rates) for budget in (1, 2))

    assert one is not None
    assert two is not None
    assert [each.name for each in one.chosen] == ["web>b/x"]
    assert {each.name for each in two.chosen} == sites


def test_what_brings_nothing_is_not_chosen() -> None:
    request = RequestClass("r", (frozenset({A, B}),))

    choice = best_for_availability(
        [request], [Candidate("a/x", rank=0.1), Candidate("b/x", rank=0.9)], 9, Rates({A: 0.1, B: 0.1})
    )

    assert choice is not None
    assert [each.name for each in choice.chosen] == ["b/x"]
    assert choice.failed_per_day == choice.at_least == 0.0
    assert choice.availability == 1.0


def test_rare_failures_are_told_apart_next_to_frequent_ones() -> None:
    request = RequestClass("r", (frozenset({A}), frozenset({B}), frozenset({C})))
    candidates = [Candidate(f"{name}/x") for name in "abc"]

    choice = best_for_availability([request], candidates, 2, Rates({A: 0.5, B: 1.1e-13, C: 1e-13}))

    assert choice is not None
    assert choice.proven
    assert [each.name for each in choice.chosen] == ["a/x", "b/x"]


def test_a_class_whose_diagram_is_too_large_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    request = RequestClass("r", (frozenset({A, B}), frozenset({B, C}), frozenset({C, D})))
    rates = Rates(dict.fromkeys((A, B, C, D), 0.1))
    monkeypatch.setattr(availability, "MAX_NODES", 3)

    choice = best_for_availability([request], [Candidate("a/x"), Candidate("c/x")], 1, rates)

    assert choice is not None
    assert not choice.proven
    assert choice.at_least <= likelihood(request, rates, {"c/x": 0.0}).probability


def test_a_point_with_a_call_site_that_is_not_ours_cannot_be_hardened() -> None:
    sites = frozenset({"web>a/x", "api>a/x"})
    request = RequestClass("r", (frozenset({A}),), sites={A: sites})
    candidates = [Candidate("web>a/x"), Candidate("api>a/x", untouchable=True)]

    choice = best_for_availability([request], candidates, 2, Rates({A: 0.2}))

    assert choice is not None
    assert choice.proven
    assert choice.chosen == ()
    assert choice.failed_per_day == pytest.approx(0.2)
