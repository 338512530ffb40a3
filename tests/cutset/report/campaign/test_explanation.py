import json
from random import Random

import pytest
from rich.text import Text
from tests.samples.campaign import EVENTS, MIXED, audited, cut, experiment, points
from tests.samples.large_campaign import EFFECTS, large_campaign

from cutset.errors import CutsetError, InputError, UsageError
from cutset.model.event import CampaignStarted
from cutset.model.fault import Fault, cut_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.summary import outcomes_of
from cutset.report.campaign.explanation import answers, prepare, to_document, to_lines
from cutset.search.certificates import explain
from cutset.search.strategy import Certificates

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
    ("asked", "requests", "kind", "message", "hint"),
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
    asked: str, requests: list[str], kind: type[CutsetError], message: str, hint: str
) -> None:
    with pytest.raises(kind) as caught:
        answers(asked, EVENTS, requests)

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


def test_what_is_prepared_once_answers_as_if_it_were_asked_alone() -> None:
    events = list(large_campaign(24, 300))
    prepared = prepare(events)
    chance = Random(1)
    for _ in range(60):
        request = chance.choice(prepared.summary.requests)
        chosen = chance.sample(sorted(request.calls), chance.choice((1, 2, 3)))
        faults = frozenset(Fault(point, EFFECTS.at(point)[0]) for point in chosen)
        (found,) = prepared.answers(faults, [request.name])
        assert found.explanation == explain(outcomes_of(request.name, events), faults, Certificates.EXACT)


def test_a_call_that_a_request_never_makes_changes_nothing_for_it() -> None:
    prepared = prepare(MIXED)
    (alone,) = prepared.answers(cut("payment/Charge:timeout"))
    (along,) = prepared.answers(cut("payment/Charge:timeout", "nobody/Calls"))
    (nothing,) = prepare(EVENTS).answers(cut("pay/Charge"), ["GET /"])

    assert (along.verdict, along.explanation.because) == (alone.verdict, alone.explanation.because)
    assert nothing.verdict is Verdict.SURVIVED
    assert nothing.explanation.reason == "An experiment survived that differs from it in nothing that was called."


def test_what_is_answered_in_part_is_degraded_where_its_own_run_was_seen() -> None:
    (found,) = prepare(EVENTS).answers(cut("ad/GetAds"), ["GET /"])

    assert (found.verdict, found.explanation.verdict) == (Verdict.DEGRADED, Verdict.SURVIVED)


def test_the_finding_inside_a_cut_is_named() -> None:
    prepared = prepare(EVENTS)
    (contains,) = prepared.answers(cut("cart/GetCart", "ad/GetAds"), ["GET /"])
    (harmless,) = prepared.answers(cut("ad/GetAds"), ["GET /"])

    assert contains.finding is not None
    assert contains.finding.cut == cut("cart/GetCart")
    assert harmless.finding is None


def test_an_experiment_by_hand_counts_and_is_told_from_those_of_the_campaign() -> None:
    open_cut = cut("cart/GetCart:delay(250ms)")
    (before,) = prepare(EVENTS).answers(open_cut, ["GET /"])
    assert (before.verdict, before.can_be_tried, before.by_hand_at) == (Verdict.UNKNOWN, True, None)
    by_hand = experiment("GET /", Verdict.FAILED, "no answer", "cart/GetCart:delay(250ms)")

    (after,) = answers("cart/GetCart:delay(250ms)", EVENTS, ["GET /"], [(1_800_000_000.0, by_hand)])

    assert (after.verdict, after.can_be_tried, after.by_hand_at) == (Verdict.FAILED, False, 1_800_000_000.0)
    assert "  by hand     2027-01-15 08:00:00 UTC, after the campaign" in list(to_lines([after]))


def test_what_was_injected_in_vain_is_said_to_have_been() -> None:
    called = points("cart/GetCart", "ad/GetAds")
    events = [
        CampaignStarted(requests=("GET /",), max_size=1),
        audited("GET /", runs=(Outcome(frozenset(), Verdict.SURVIVED, "200", calls=called),)),
        experiment("GET /", Verdict.UNKNOWN, "no trace came", "ad/GetAds", calls=called),
    ]

    (found,) = prepare(events).answers(cut("ad/GetAds"))

    assert (found.verdict, found.can_be_tried) == (Verdict.UNKNOWN, True)
    assert found.explanation.reason == "It was injected, and its outcome stayed unknown."
    assert found.explanation.because is not None
    assert found.explanation.because.reason == "no trace came"


def test_what_no_plan_reaches_cannot_be_tried() -> None:
    (found,) = prepare(EVENTS).answers(cut("currency/Convert"), ["POST /pay"])

    assert not found.can_be_tried
