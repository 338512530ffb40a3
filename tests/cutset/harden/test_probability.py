import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.cut_families import POINTS, all_rates, chance, requests

from cutset.errors import InputError
from cutset.harden.probability import CommonCause, Rates, RequestClass, common_cause, likelihood, overall, rates_of
from cutset.model.point import Point

A, B, C = (Point(name, "x") for name in "abc")
hardenings = st.dictionaries(st.sampled_from(["a/x", "b/x", "c/x"]), st.sampled_from([0.0, 0.1, 1.0]), max_size=3)


@settings(max_examples=60, deadline=None)
@given(requests, all_rates(), hardenings)
def test_a_request_fails_as_often_as_in_all_states_together(
    request: RequestClass, rates: Rates, hardened: dict[str, float]
) -> None:
    found = likelihood(request, rates, hardened)

    assert found.exact
    assert found.probability == pytest.approx(chance(request.cuts, rates, hardened=hardened))


@settings(max_examples=60, deadline=None)
@given(requests, all_rates(), st.integers(1, 6))
def test_a_diagram_that_is_too_large_leaves_bounds_around_the_truth(
    request: RequestClass, rates: Rates, nodes: int
) -> None:
    found = likelihood(request, rates, max_nodes=nodes)
    truth = chance(request.cuts, rates)

    assert found.probability <= truth * (1 + 1e-12)
    assert found.at_most >= truth * (1 - 1e-12)


def test_where_failures_are_rare_the_bounds_are_close() -> None:
    points = [Point(f"s{number}", "x") for number in range(30)]
    request = RequestClass("r", tuple(frozenset({points[n], points[(n * 7 + 1) % 30]}) for n in range(30)))
    rates = Rates(dict.fromkeys(points, 0.001))

    found, truth = likelihood(request, rates, max_nodes=20), likelihood(request, rates)

    assert truth.exact
    assert not found.exact
    assert truth.probability * 0.999 < found.probability < truth.probability < found.at_most < truth.probability * 1.01


def test_two_cuts_that_overlap_are_not_just_added_up() -> None:
    found = likelihood(RequestClass("r", (frozenset({A}), frozenset({B})), 1000.0), Rates({A: 0.5, B: 0.5}))

    assert found.probability == 0.75
    assert found.failed_per_day == 750.0


def test_a_common_cause_defeats_redundancy() -> None:
    request = RequestClass("r", (frozenset({A, B}),))
    alone = likelihood(request, Rates({A: 0.001, B: 0.001}))
    together = likelihood(request, Rates({A: 0.001, B: 0.001}, (CommonCause("zone", 0.001, frozenset({A, B})),)))

    assert alone.probability == pytest.approx(1e-6)
    assert together.probability == pytest.approx(0.001 + 0.999 * 1e-6)


def test_a_hardened_point_holds_against_common_causes_too_but_for_what_gets_past() -> None:
    request = RequestClass("r", (frozenset({A}),))
    rates = Rates({A: 0.0}, (CommonCause("node", 0.5, frozenset({A})),))

    assert likelihood(request, rates, {"a/x": 0.0}).probability == 0.0
    assert likelihood(request, rates, {"a/x": 0.1}).probability == pytest.approx(0.05)


def test_a_point_is_hardened_once_all_of_its_sites_are() -> None:
    request = RequestClass("r", (frozenset({A}),), sites={A: frozenset({"web>a/x", "api>a/x"})})

    assert likelihood(request, Rates({A: 0.5}), {"web>a/x": 0.0}).probability == 0.5
    assert likelihood(request, Rates({A: 0.5}), {"web>a/x": 0.0, "api>a/x": 0.0}).probability == 0.0


def test_availability_is_weighted_by_traffic() -> None:
    rates = Rates({A: 0.5, B: 0.0})
    classes = [RequestClass("often", (frozenset({B}),), 90.0), RequestClass("rare", (frozenset({A}),), 10.0)]

    together = overall([likelihood(request, rates) for request in classes])

    assert together.failed_per_day == together.failed_at_most == 5.0
    assert together.availability == 0.95
    assert overall([]).availability == 1.0


@pytest.mark.parametrize(
    ("member", "count"), [("a", 2), ("b", 2), ("b#2", 1), ("a/y", 1), ("b/x", 2), ("web>a/x", 0), ("c", 1)]
)
def test_a_common_cause_takes_down_what_its_members_mean(member: str, count: int) -> None:
    assert len(common_cause("zone", 0.1, [member], POINTS).points) == count


def test_what_was_measured_includes_common_causes() -> None:
    rates = rates_of({A: 0.2, B: 0.01}, [CommonCause("zone", 0.1, frozenset({A, B}))])

    assert rates.of_points == {A: pytest.approx(1 / 9), B: 0.0}
    assert likelihood(RequestClass("r", (frozenset({A}),)), rates).probability == pytest.approx(0.2)


def test_rates_have_to_be_known_and_make_sense() -> None:
    with pytest.raises(InputError, match="`a/x` is not known"):
        likelihood(RequestClass("r", (frozenset({A}),)), Rates({}))
    with pytest.raises(InputError, match=r"`a/x`: expected a failure rate from 0 to 1, found 1\.5"):
        Rates({A: 1.5})
