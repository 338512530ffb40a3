from dataclasses import replace

from tests.samples.campaign import EVENTS, SCOPE, VARIATION, VARYING, audited, points

from cutset.model.event import CampaignStarted, RequestFinished
from cutset.model.summary import summarise
from cutset.report.campaign.scope import complete, evidence, of_effect, of_variation

VARIES = summarise(VARYING)
STEADY = summarise(EVENTS)


def test_how_calls_failed_is_a_part_of_what_is_said() -> None:
    assert complete(VARIES.requests[0], VARIES.started) == "complete up to size 1 for grpc(14)"
    assert of_effect(VARIES.started) == SCOPE
    assert complete(STEADY.requests[0], STEADY.started) == "complete up to size 3 for abort(503)"


def test_what_may_have_been_overlooked_follows_from_the_number_of_trials() -> None:
    (request,) = VARIES.requests

    assert of_variation(request, VARIES.started) == VARIATION
    assert "had 1 trial or more, in which a set that fails 96 %" in of_variation(
        replace(request, trials=1), VARIES.started
    )
    assert of_variation(replace(request, trials=0), VARIES.started).endswith("runs without a fault")
    assert of_variation(STEADY.requests[0], STEADY.started) == ""


def test_a_share_has_an_interval_and_what_always_fails_has_none() -> None:
    assert evidence(VARIES.findings[0].outcome) == (
        "failed 5 of 10 times, that is 24 % to 76 % of requests, never without"
    )
    assert evidence(STEADY.findings[0].outcome) == "failed 2 of 2 times, never without"
    assert evidence(replace(STEADY.findings[0].outcome, healthy_after=False)) == "failed 2 of 2 times"


def test_what_stands_for_a_status_at_data_stores_is_said() -> None:
    cache = replace(audited("GET /"), calls=points("cart/GetCart", "cart>cache/redis/get"))
    started = CampaignStarted(requests=("GET /",), max_size=1)
    ended = RequestFinished(request="GET /", complete_up_to=1, reason="")
    (request,) = summarise([started, cache, ended]).requests

    assert complete(request, started) == "complete up to size 1 for abort(503) (connection-refused at data stores)"
