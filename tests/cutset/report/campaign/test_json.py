import json

import pytest
from tests.samples.campaign import EVENTS, REPLAY, SCOPE, VARYING

from cutset.model.summary import summarise
from cutset.report.campaign.json import to_document


def test_a_document_holds_everything_a_machine_needs() -> None:
    document = json.loads(json.dumps(to_document(summarise(EVENTS), "one", REPLAY)))

    assert document["format"] == 2
    assert document["campaign"] == "one"
    assert document["complete"] is False
    home, pay, down = document["requests"]
    assert home["findings"] == [
        {
            "id": "4006342a",
            "cut": ["cart/GetCart:abort(503)"],
            "reason": "500 with `no cart`",
            "trace_ids": ["aaaaaaaa", "bbbbbbbb"],
            "fired": ["cart/GetCart"],
            "share": {"failures": 2, "trials": 2, "interval": [0.3424, 1.0]},
            "healthy_after": True,
            "dead": [],
            "minimal": True,
            "because": "",
            "otherwise": [],
            "replay": "cutset explore --replay 4006342a",
        }
    ]
    assert [each["cut"] for each in home["degraded"]] == [["ad/GetAds:abort(503)"]]
    assert (home["complete_up_to"], home["varies"]) == (3, None)
    assert home["assumption"] == "behaviour depends on which calls fail"
    assert home["masked"] == [
        {"cut": ["cart/GetCart:abort(503)"], "survived": ["cart/GetCart:abort(503)", "flag/Get:abort(503)"]}
    ]
    assert (home["rounds"], home["experiments"], home["requests"]) == (5, 5, 15)
    assert pay["not_reached"] == ["currency/Convert"]
    assert pay["undecided"][0]["cut"] == ["x/Y:abort(503)"]
    assert pay["predicted"][0] == ["a/1:abort(503)", "a/2:abort(503)"]
    assert len(pay["predicted"]) == 3
    assert down["problem"].startswith("unhealthy baseline")


def test_a_document_says_how_the_search_was_made_and_what_it_cost() -> None:
    document = to_document(summarise(EVENTS), "one", REPLAY)

    assert (document["strategy"], document["certificates"], document["across_requests"]) == ("cuts", "exact", "verify")
    assert (document["failures_needed"], document["flake_rate"]) == (2, 0.01)
    assert document["false_finding_chance"] == pytest.approx(0.0002)
    assert document["requests_per_experiment"] == 3.0


def test_a_document_says_how_calls_failed_what_share_of_requests_and_what_may_have_been_overlooked() -> None:
    document = to_document(summarise(VARYING), "one", REPLAY)

    assert (document["effects"], document["scope"]) == ({"usual": ["grpc(14)"], "at": {}}, SCOPE)
    (request,) = document["requests"]
    assert request["varies"] == {
        "reason": "currency/Convert was called in 1 of 3 runs without a fault",
        "trials": 10,
        "overlooked_share": 0.2666,
        "overlooked_chance": pytest.approx(0.05),
    }
    (finding,) = request["findings"]
    assert finding["share"] == {"failures": 5, "trials": 10, "interval": [0.2366, 0.7634]}
    assert [each["cut"] for each in request["degraded"]] == [["cart/GetCart:grpc(14)"]]
    assert request["degraded"][0]["wrong"] is True
    assert request["degraded"][0]["differences"] == [{"kind": "value", "at": "total", "was": "19.99", "is": "0"}]
