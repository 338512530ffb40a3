import json

import pytest
from rich.text import Text
from tests.samples.campaign import EVENTS, MIXED, experiment, points

from cutset.errors import CutsetError, InputError, UsageError
from cutset.model.fault import cut_of
from cutset.model.outcome import Verdict
from cutset.report.campaign.explanation import answers, to_document, to_lines

EXPECTED = """\
GET /  ✗ fails  ad/GetAds + cart/GetCart
  It contains a cut that was injected and failed.
  experiment  cart/GetCart: failed, 500 with `no cart`
  evidence    trace aaaaaaaa bbbbbbbb
GET /down  ? not known  ad/GetAds + cart/GetCart
  No experiment tells: it was not injected, and no certificate covers it."""


def test_an_explanation_names_the_experiment_that_proves_it() -> None:
    found = answers("cart/GetCart + ad/GetAds", EVENTS, ["GET /", "GET /down"])

    assert "\n".join(Text.from_markup(line).plain for line in to_lines(found)) == EXPECTED


def test_a_cut_is_read_as_reports_show_it() -> None:
    (answer,) = answers("ad/GetAds:abort(503)", EVENTS, ["GET /"])

    assert answer.cut == cut_of(points("ad/GetAds"))
    assert answer.explanation.verdict is Verdict.SURVIVED


def test_without_names_every_request_class_is_answered_for() -> None:
    document = json.loads(json.dumps(to_document(answers("ad/GetAds", EVENTS), "one")))

    assert document["campaign"] == "one"
    assert document["cut"] == ["ad/GetAds"]
    assert [request["name"] for request in document["requests"]] == ["GET /", "POST /pay", "GET /down"]
    home, _, down = document["requests"]
    assert home["verdict"] == "survived"
    assert home["because"] == {
        "verdict": "degraded",
        "cut": ["ad/GetAds:abort(503)"],
        "reason": "200, but missing section#ads",
        "trace_ids": ["aaaaaaaa", "bbbbbbbb"],
    }
    assert (down["verdict"], down["because"]) == ("unknown", None)


def test_nobody_knows_what_a_call_does_that_no_plan_reaches() -> None:
    (answer,) = answers("currency/Convert", EVENTS, ["POST /pay"])

    assert answer.explanation.verdict is Verdict.UNKNOWN
    assert answer.explanation.reason == "No plan reaches currency/Convert."


def test_no_replica_is_reached_of_a_call_that_no_plan_reaches() -> None:
    tried = experiment("POST /pay", Verdict.SURVIVED, "200", "currency/Convert#1")

    (answer,) = answers("currency/Convert#1", [*EVENTS, tried], ["POST /pay"])

    assert answer.explanation.reason == "No plan reaches currency/Convert#1."


@pytest.mark.parametrize(
    ("cut", "requests", "kind", "message", "hint"),
    [
        ("cart/GetCarts", [], UsageError, "No request of this campaign calls `cart/GetCarts`", "mean `cart/GetCart`"),
        ("ad/GetAds", ["GET"], UsageError, "There is no request `GET` in this campaign", "Did you mean `GET /`"),
        ("cart", [], InputError, "`cart` is not a point", "Write `service/API`"),
        ("", [], InputError, "`` is not a point", "Write `service/API`"),
        (
            "ad/GetAds:delay(3ms)",
            [],
            UsageError,
            "`ad/GetAds:delay(3ms)`: this campaign injected `abort(503)`, `delay(250ms)`",
            "Name the points alone",
        ),
    ],
)
def test_a_wrong_question_is_answered_with_what_is_known(
    cut: str, requests: list[str], kind: type[CutsetError], message: str, hint: str
) -> None:
    with pytest.raises(kind) as caught:
        answers(cut, EVENTS, requests)

    assert caught.value.message == message
    assert hint in caught.value.hint


def test_a_point_alone_stands_for_each_effect_that_is_tried_there() -> None:
    found = answers("payment/Charge", MIXED)

    told = [(sorted(map(str, each.cut)), each.explanation.verdict) for each in found]
    assert told == [
        (["payment/Charge:abort(503)"], Verdict.SURVIVED),
        (["payment/Charge:timeout"], Verdict.FAILED),
        (["payment/Charge:empty"], Verdict.FAILED),
    ]
    (slow,) = answers("payment/Charge:timeout", MIXED)
    assert slow.explanation.because is not None
    assert slow.explanation.because.late
    (joint,) = answers("payment/Charge:abort(503) + ledger/Book:timeout", MIXED)
    assert joint.explanation.verdict is Verdict.FAILED
    assert "ledger/Book:timeout + payment/Charge:abort(503)" in "".join(to_lines([joint]))
