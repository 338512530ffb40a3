import pytest

from cutset.harden.verification import Effort, Recheck, Verification, compared, new_degradations
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point


def finding(request: str, *points: str) -> Finding:
    return Finding(request, Outcome(cut_of(map(Point.parse, points)), Verdict.FAILED))


def recheck(request: str, verdict: Verdict, *, expected_gone: bool = True) -> Recheck:
    known = finding(request, "cart/Get")
    return Recheck(known, Outcome(known.cut, verdict), expected_gone)


def test_afvr_is_the_share_of_cuts_that_remain_averaged_over_requests() -> None:
    found = Verification(
        (
            recheck("a", Verdict.SURVIVED),
            recheck("a", Verdict.FAILED, expected_gone=False),
            recheck("a", Verdict.DEGRADED),
            recheck("a", Verdict.UNKNOWN),
            recheck("b", Verdict.FAILED),
        )
    )
    assert [(each.request, each.afvr, each.expected_afvr) for each in found.classes] == [("a", 0.5, 0.25), ("b", 1, 0)]
    assert found.afvr == 0.75
    assert found.expected_afvr == 0.125
    assert [each.outcome.verdict for each in found.disappointments] == [Verdict.UNKNOWN, Verdict.FAILED]


def test_cuts_that_contain_a_known_one_take_more_and_others_are_new() -> None:
    before = [finding("a", "cart/Get"), finding("a", "ads/Get", "tax/Get")]
    same, grown = finding("a", "cart/Get"), finding("a", "cart/Get", "cart-fallback/Get")
    elsewhere, part = finding("b", "cart/Get"), finding("a", "ads/Get")
    assert compared(before, [same, grown, elsewhere, part]) == ((elsewhere, part), (grown,))


def test_a_degradation_is_new_for_its_request() -> None:
    one, two = finding("a", "cart/Get"), finding("b", "cart/Get")
    assert new_degradations([one], [one, two]) == (two,)


@pytest.mark.parametrize(
    ("before", "after", "slower", "amplified"),
    [
        (
            Effort(0.1, 10, 4),
            Effort(0.11, 10, 10),
            {},
            {},
        ),  # more calls than when it failed early, but no more than usual
        (Effort(0.1, 10, 4), Effort(0.2, 10, 13), {"a": (0.1, 0.2)}, {"a": (10, 13)}),
        (Effort(0.001, 10, 4), Effort(0.004, 13, 4), {}, {"a": (10, 13)}),
    ],
)
def test_latency_and_calls_that_were_added_are_told_if_notable(
    before: Effort, after: Effort, slower: dict, amplified: dict
) -> None:
    found = Verification((), before={"a": before, "b": before}, after={"a": after})
    assert (found.slower, found.amplified) == (slower, amplified)
