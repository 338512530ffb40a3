import pytest
from tests.samples.campaign import experiment

from cutset.harden.verification import Verification, compared, new_degradations, verification_of
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.hardening import CallsObserved, CutRechecked, Effort, HardeningStarted
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.model.summary import CampaignSummary, summarise


def finding(request: str, *points: str) -> Finding:
    return Finding(request, Outcome(cut_of(map(Point.parse, points)), Verdict.FAILED))


def recheck(request: str, verdict: Verdict, *, expected_gone: bool = True) -> CutRechecked:
    outcome = Outcome(finding(request, "cart/Get").cut, verdict)
    return CutRechecked(request=request, outcome=outcome, expected_gone=expected_gone)


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


def summary(*events: CampaignEvent) -> CampaignSummary:
    return summarise([CampaignStarted(requests=("a", "b"), max_size=2), *events, RunFinished()])


def test_it_is_made_of_what_was_recorded_in_the_order_of_what_was_known() -> None:
    known = summary(
        experiment("b", Verdict.FAILED, "500", "cart/Get"), experiment("a", Verdict.FAILED, "500", "ad/Get")
    )
    after = summary(
        experiment("a", Verdict.FAILED, "500", "ad/Get", "ad-fallback/Get"),
        experiment("a", Verdict.FAILED, "500", "tax/Get"),
        experiment("b", Verdict.DEGRADED, "200, but", "cart/Get"),
    )
    calm, hardened = ({"a": Effort(0.1, calls, 0), "b": Effort(0.1, calls, 0)} for calls in (1, 2))
    gone = CutRechecked(request="a", outcome=Outcome(known.findings[0].cut, Verdict.SURVIVED), expected_gone=True)
    events = [
        HardeningStarted(campaign="one"),
        CallsObserved(efforts=calm),
        CallsObserved(efforts=hardened),
        recheck("b", Verdict.DEGRADED),
        gone,
    ]

    found = verification_of(events, known, after)

    assert found is not None
    assert found.rechecks == (gone, events[3])
    assert (found.before, found.after, found.explored) == (calm, hardened, True)
    assert [each.outcome.cut for each in found.grown_cuts] == [after.findings[1].cut]
    assert [each.outcome.cut for each in found.new_cuts] == [after.findings[0].cut]
    assert [each.request for each in found.new_degradations] == ["b"]


def test_without_an_exploration_nothing_new_is_claimed_and_without_rechecks_nothing_at_all() -> None:
    known = summary(experiment("b", Verdict.FAILED, "500", "cart/Get"))
    observed = CallsObserved(efforts={"b": Effort(0.1, 1, 0)})

    found = verification_of([observed, recheck("b", Verdict.FAILED)], known, None)

    assert found is not None
    assert (found.before, found.after, found.explored) == ({}, observed.efforts, False)
    assert verification_of([observed], known, None) is None
