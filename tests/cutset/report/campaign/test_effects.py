from dataclasses import replace

from rich.text import Text
from tests.samples.campaign import EVENTS, MIXED, REPLAY, choice

from cutset.model.event import CampaignStarted, ExperimentFinished
from cutset.model.outcome import Verdict
from cutset.model.summary import summarise
from cutset.report.campaign import json, junit, sarif, terminal
from cutset.report.campaign.effects import otherwise, rows, sentence, to_documents, why_alone
from cutset.report.campaign.gaps import gaps

SUMMARY = summarise(MIXED)
(PAY,) = SUMMARY.requests
SLOW = "fails with timeout (no timeout at checkout/PlaceOrder: waited for 5.0 s), empty (it is taken for an answer)"
OPEN = "not known with empty (never fired); not tried alone with timeout"
TERMINAL = """\
POST /pay  complete up to size 1 for abort(503), timeout, empty  6 experiments in 3 rounds, 18 requests
  ✗ fails     payment/Charge:empty
    user sees  500 with `oops`
    because    it is taken for an answer
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
    replay     cutset explore --replay f69b1231
  ✗ fails     payment/Charge:timeout
    user sees  no answer: none within 5 s
    because    no timeout at checkout/PlaceOrder: waited for 5.0 s
    evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb
"""


def test_a_row_says_which_effects_a_call_survives_and_which_not_and_why() -> None:
    assert [f"{row.point} {sentence(row)}" for row in rows(PAY)] == [
        f"payment/Charge survives abort(503); {SLOW}",
        f"ledger/Book is answered in part with abort(503); {OPEN}",
    ]


def test_a_finding_says_why_and_what_other_effects_do_there() -> None:
    _, timeout, joint = PAY.findings

    assert why_alone(timeout, PAY) == "no timeout at checkout/PlaceOrder: waited for 5.0 s"
    assert list(otherwise(timeout, PAY)) == [
        "payment/Charge survives abort(503); fails with empty (it is taken for an answer)"
    ]
    assert why_alone(joint, PAY) == ""
    assert len(list(otherwise(joint, PAY))) == 2


def test_with_one_effect_there_is_nothing_to_compare() -> None:
    home = summarise(EVENTS).requests[0]

    assert rows(home) == []
    assert list(otherwise(home.findings[0], home)) == []
    assert to_documents(home)[0] == {
        "point": "ad/GetAds",
        "effects": [{"effect": "abort(503)", "toleration": "degraded", "why": ""}],
    }


def test_every_format_says_for_which_effects_and_which_of_them_each_call_survives() -> None:
    lines = Text.from_markup("\n".join(terminal.to_lines(SUMMARY, REPLAY))).plain
    assert lines.startswith(TERMINAL)
    assert f"  · by effect payment/Charge  survives abort(503); {SLOW}\n" in lines
    assert "  ✗ fails     ledger/Book:timeout + payment/Charge:abort(503)\n" in lines

    request = json.to_document(SUMMARY, "one", REPLAY)["requests"][0]
    assert [each["toleration"] for each in request["points"][1]["effects"]] == ["tolerated", "fatal", "fatal"]
    assert request["findings"][1]["because"].startswith("no timeout at")
    assert request["findings"][1]["otherwise"] == list(otherwise(PAY.findings[1], PAY))

    for text in (junit.to_xml(SUMMARY, REPLAY), str(sarif.to_document(SUMMARY, "one", REPLAY))):
        assert "complete up to size 1 for abort(503), timeout, empty" in text
        assert f"payment/Charge survives abort(503); {SLOW}" in text
        assert "no timeout at checkout/PlaceOrder: waited for 5.0 s" in text


def test_a_call_at_which_none_of_the_effects_is_possible_was_not_tested() -> None:
    started = MIXED[0]
    assert isinstance(started, CampaignStarted)
    refused = summarise([replace(started, effects=choice("connection-refused", ledger="abort(503)")), *MIXED[1:]])

    assert [str(point) for point in refused.requests[0].untried] == ["payment/Charge"]
    assert refused.out_of_reach
    assert "not coverable: payment/Charge: none of the effects is possible there" in gaps(refused.requests[0], refused)
    lines = Text.from_markup("\n".join(terminal.to_lines(refused, REPLAY))).plain
    assert "for connection-refused, others at 1 place" in lines
    assert "fail by connection-refused; abort(503) at ledger; nothing" in lines
    assert "  ! not coverable  payment/Charge  none of the effects is possible there\n" in lines


def test_where_every_effect_is_fatal_findings_say_so_and_no_row_does() -> None:
    again = [
        replace(each, outcome=replace(each.outcome, verdict=Verdict.FAILED))
        if isinstance(each, ExperimentFinished)
        else each
        for each in MIXED
    ]
    (request,) = summarise(again).requests

    assert [str(row.point) for row in rows(request)] == ["ledger/Book"]  # of which one was not tried
