from dataclasses import replace

import pytest
from tests.samples.campaign import EVENTS, points

from cutset.cli.demo import compare
from cutset.model.outcome import Points
from cutset.report.campaign.summary import Summary, summarise


def home(complete_up_to: int, problem: str = "", predicted: tuple[Points, ...] = ()) -> Summary:
    summary = summarise(EVENTS)
    request = replace(summary.requests[0], complete_up_to=complete_up_to, problem=problem, predicted=predicted)
    return replace(summary, requests=(request,))


@pytest.mark.parametrize(
    ("summary", "expected", "code", "said"),
    [
        (home(3), {points("cart/GetCart")}, 0, "Exactly the 1 minimal cuts of the answer key"),
        (home(3), set(), 1, "unexpected: GET / cart/GetCart"),
        (home(3), {points("cart/GetCart"), points("x/A", "x/B")}, 1, "missed: GET / x/A + x/B"),
        (home(1, "spent"), {points("cart/GetCart"), points("x/A", "x/B")}, 3, "not found yet: GET / x/A + x/B"),
        (home(3, predicted=(points("x/A"),)), {points("cart/GetCart"), points("x/A")}, 3, "not found yet: GET / x/A"),
    ],
)
def test_a_campaign_is_held_against_the_answer_key_as_far_as_it_claims_to_know(
    capsys: pytest.CaptureFixture[str], summary: Summary, expected: set[Points], code: int, said: str
) -> None:
    assert compare(summary, {"GET /": expected}) == code
    assert said in capsys.readouterr().err
