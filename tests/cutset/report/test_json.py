import json

from sample_campaign import EVENTS

from cutset.report.json import to_document
from cutset.report.summary import summarise


def test_a_document_holds_everything_a_machine_needs() -> None:
    document = json.loads(json.dumps(to_document(summarise(EVENTS), "one")))

    assert document["format"] == 1
    assert document["campaign"] == "one"
    assert document["complete"] is False
    home, pay, down = document["requests"]
    assert home["findings"] == [
        {
            "id": "4006342a",
            "cut": ["cart/GetCart:abort(503)"],
            "reason": "500 with `no cart`",
            "trace_ids": ["aaaaaaaa", "bbbbbbbb"],
            "dead": [],
            "replay": "cutset explore --replay 4006342a",
        }
    ]
    assert [each["cut"] for each in home["degraded"]] == [["ad/GetAds:abort(503)"]]
    assert home["complete_up_to"] == 3
    assert pay["not_reached"] == ["currency/Convert"]
    assert pay["undecided"][0]["cut"] == ["x/Y:abort(503)"]
    assert down["problem"].startswith("unhealthy baseline")
