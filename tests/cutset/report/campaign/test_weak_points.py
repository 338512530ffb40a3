from tests.samples.campaign import cut

from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.report.campaign.weak_points import weak_points


def finding(request: str, *faults: str) -> Finding:
    return Finding(request, Outcome(cut(*faults), Verdict.FAILED))


def test_what_fails_alone_comes_before_what_is_in_many_larger_cuts() -> None:
    found = weak_points(
        [
            finding("GET /", "a/1"),
            *(finding("GET /", "b/1", f"c/{number}") for number in range(5)),
            finding("POST /", "a/1"),
            finding("POST /", "d/1:timeout"),
        ]
    )

    assert [str(each.point) for each in found[:3]] == ["a/1", "d/1", "b/1"]
    assert found[0].words == "fails alone in 2 minimal cuts"
    assert found[0].requests == ("GET /", "POST /")
    assert found[2].words == "in 5 cuts of 2 faults"


def test_several_effects_at_one_call_are_several_cuts_of_one_point() -> None:
    (only,) = weak_points([finding("GET /", "a/1:timeout"), finding("GET /", "a/1:empty")])

    assert only.cuts == (2,)


def test_where_nothing_was_found_nothing_is_to_be_fixed() -> None:
    assert weak_points([]) == []
