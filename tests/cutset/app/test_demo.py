from dataclasses import replace

import pytest
from tests.samples.campaign import EVENTS, cut

from cutset.app.demo import check_answers
from cutset.model.fault import Cut
from cutset.model.summary import CampaignSummary, summarise

HOME = cut("cart/GetCart")


def home(complete_up_to: int, problem: str = "", predicted: tuple[Cut, ...] = ()) -> CampaignSummary:
    summary = summarise(EVENTS)
    request = replace(summary.requests[0], complete_up_to=complete_up_to, problem=problem, predicted=predicted)
    return replace(summary, requests=(request,))


@pytest.mark.parametrize(
    ("summary", "expected", "wrong", "unfinished"),
    [
        (home(3), {HOME}, [], []),
        (home(3), set(), ["unexpected: GET / cart/GetCart"], []),
        (home(3), {HOME, cut("x/A", "x/B")}, ["missed: GET / x/A + x/B"], []),
        (
            home(1, "spent"),
            {HOME, cut("x/A", "x/B")},
            [],
            ["not complete: GET /: spent", "not found yet: GET / x/A + x/B"],
        ),
        (
            home(3, predicted=(cut("x/A"),)),
            {HOME, cut("x/A")},
            [],
            ["not complete: GET /: cuts that are predicted to fail were not tried", "not found yet: GET / x/A"],
        ),
    ],
)
def test_a_campaign_is_held_against_the_answer_key_as_far_as_it_claims_to_know(
    summary: CampaignSummary, expected: set[Cut], wrong: list[str], unfinished: list[str]
) -> None:
    check = check_answers(summary, {"GET /": expected})

    assert (list(check.wrong), list(check.unfinished), check.expected) == (wrong, unfinished, len(expected))
