from math import inf

import pytest
from hypothesis import given, settings
from tests.samples.cut_families import all_rates, chance, requests, states

from cutset.harden.importance import Importance, caveat, failures_per_day, importances, importances_by_traffic, in_words
from cutset.harden.probability import CommonCause, Rates, RequestClass, likelihood
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point

A, B, C = (Point(name, "x") for name in "abc")


def minimal(request: RequestClass) -> list[frozenset[Point]]:
    return [cut for cut in request.cuts if not any(other < cut for other in request.cuts)]


@settings(max_examples=60, deadline=None)
@given(requests, all_rates())
def test_measures_of_points_are_what_happens_when_they_are_always_or_never_down(
    request: RequestClass, rates: Rates
) -> None:
    for found in importances(request, rates).ranked:
        if isinstance(found.of, Point):
            always = chance(request.cuts, Rates({**rates.of_points, found.of: 1.0}, rates.causes))
            never = chance([cut for cut in request.cuts if found.of not in cut], rates)
            assert found.always == pytest.approx(always, abs=1e-12)
            assert found.never == pytest.approx(never, abs=1e-12)
            its_cuts = [cut for cut in minimal(request) if found.of in cut]
            assert found.by_its_cuts == pytest.approx(chance(its_cuts, rates), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(requests, all_rates())
def test_measures_of_common_causes_are_what_happens_when_they_always_or_never_occur(
    request: RequestClass, rates: Rates
) -> None:
    for found in importances(request, rates).ranked:
        if isinstance(found.of, CommonCause):
            others = tuple(cause for cause in rates.causes if cause != found.of)
            always = Rates(rates.of_points, (*others, CommonCause("", 1.0, found.of.points)))
            assert found.always == pytest.approx(chance(request.cuts, always), abs=1e-12)
            assert found.never == pytest.approx(chance(request.cuts, Rates(rates.of_points, others)), abs=1e-12)
            touched = [cut for cut in minimal(request) if cut & found.of.points]
            occurring = found.of.rate * sum(
                likely for likely, down in states(always) if any(cut <= down for cut in touched)
            )
            assert found.by_its_cuts == pytest.approx(occurring, abs=1e-12)


def test_the_textbook_example_comes_out() -> None:
    """A in series with B and C in parallel."""
    request = RequestClass("r", (frozenset({A}), frozenset({B, C})))
    found = {each.of: each for each in importances(request, Rates({A: 0.01, B: 0.1, C: 0.2})).ranked}
    now = 1 - 0.99 * 0.98

    assert found[A].birnbaum == pytest.approx(0.98)
    assert found[B].birnbaum == pytest.approx(0.99 * 0.2)
    assert found[A].fussell_vesely == pytest.approx(0.01 / now)
    assert found[B].fussell_vesely == found[C].fussell_vesely == pytest.approx(0.02 / now)
    assert found[A].risk_achievement_worth == pytest.approx(1 / now)
    assert found[A].risk_reduction_worth == pytest.approx(now / 0.02)
    assert found[C].risk_reduction_worth == pytest.approx(now / 0.01)


def test_what_saves_most_comes_first_and_a_point_in_all_cuts_saves_everything() -> None:
    request = RequestClass("r", (frozenset({A, B}), frozenset({A, C})))
    first, *_ = importances(request, Rates({A: 0.1, B: 0.2, C: 0.3})).ranked

    assert first.of == A
    assert first.never == 0.0
    assert first.risk_reduction_worth == inf


def test_a_point_that_never_fails_matters_for_what_would_be_if_it_did() -> None:
    found = {each.of: each for each in importances(RequestClass("r", (frozenset({A}),)), Rates({A: 0.0})).ranked}

    assert (found[A].birnbaum, found[A].saved, found[A].fussell_vesely) == (1.0, 0.0, 0.0)
    assert found[A].risk_achievement_worth == inf


def test_over_all_classes_traffic_counts() -> None:
    rates = Rates({A: 0.01, B: 0.02, C: 0.03})
    classes = [RequestClass("busy", (frozenset({A}), frozenset({B})), 1000.0), RequestClass("idle", (frozenset({C}),))]
    found = importances_by_traffic(classes, rates).ranked
    total = sum(likelihood(each, rates).failed_per_day for each in classes)

    assert [each.of for each in found] == [B, A, C]
    assert all(each.now == pytest.approx(total) for each in found)
    assert found[0].never == pytest.approx(1000 * 0.01 + 0.03)
    assert found[2].always == pytest.approx(total + 0.97)


def test_nothing_left_is_nothing_left_over_all_classes_too() -> None:
    classes = [RequestClass(str(number), (frozenset({A}),), number / 3) for number in range(1, 9)]

    (found,) = importances_by_traffic(classes, Rates({A: 0.3})).ranked

    assert found.risk_reduction_worth == inf


def test_numbers_that_rest_on_the_likelier_cuts_only_say_so() -> None:
    points = [Point(f"s{number}", "x") for number in range(30)]
    busy = RequestClass("busy", tuple(frozenset({points[n], points[(n * 7 + 1) % 30]}) for n in range(30)), 1000.0)
    plain = RequestClass("plain", (frozenset({A}),))
    rates = Rates({**dict.fromkeys(points, 0.001), A: 0.5})

    exact, rough = (importances_by_traffic([busy, plain], rates, max_nodes=nodes) for nodes in (100_000, 20))

    assert (exact.in_part, caveat(exact)) == ((), "")
    assert rough.in_part == ("busy",)
    assert caveat(rough) == "`busy` can fail in too many ways to solve: the numbers rest on the likelier cuts only"
    assert {each.of for each in rough.ranked} == {each.of for each in exact.ranked}
    assert 0 < rough.ranked[0].now < exact.ranked[0].now
    assert all(0 <= each.fussell_vesely <= 1 for each in rough.ranked)
    assert all(each.never <= each.now <= each.always for each in rough.ranked)


def test_importance_in_words() -> None:
    importance = Importance(A, now=20.0, always=880.0, never=7.6, by_its_cuts=12.5)

    assert importance.name == "a/x"
    assert in_words(importance) == (
        "without it, 12.4 of 20 failed requests per day would succeed; it takes part in 62% of them; "
        "always down, it would fail 880"
    )


def test_a_common_cause_has_its_own_name() -> None:
    rates = Rates({A: 0.1}, (CommonCause("zone b", 0.05, frozenset({A})),))

    found = importances(RequestClass("r", (frozenset({A}),)), rates).ranked

    assert [each.name for each in found] == ["a/x", "zone b"]


def test_findings_are_ranked_by_the_requests_per_day_in_which_they_occur() -> None:
    def finding(request: str, *points: Point) -> Finding:
        return Finding(request, Outcome(cut_of(points), Verdict.FAILED))

    rates = Rates({A: 0.1, B: 0.1, C: 0.001}, (CommonCause("zone", 0.05, frozenset({A, B})),))
    both, single, unknown = finding("busy", A, B), finding("busy", C), finding("new", A)

    ranked = failures_per_day([unknown, single, both], rates, {"busy": 1000.0})

    assert [each for each, _ in ranked] == [both, single, unknown]
    assert ranked[0][1] == pytest.approx(1000 * (0.05 + 0.95 * 0.01))
    assert ranked[2][1] == pytest.approx(1 - 0.9 * 0.95)
