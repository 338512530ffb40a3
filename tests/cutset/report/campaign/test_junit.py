"""JUnit XML has no standard; what is checked here is the structure that Jenkins' xUnit plugin validates."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.campaign import EVENTS, REPLAY, SCOPE, VARIATION, VARYING, audited, experiment

from cutset.app.report import exit_code
from cutset.model.event import CampaignEvent, ExperimentFinished, RequestFinished
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import Accepted, accept, compare
from cutset.report.campaign.junit import to_xml

REQUIRED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}}
ALLOWED = {  # attributes, and elements inside
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (REQUIRED["testsuite"] | {"skipped"}, {"testcase"}),
    "testcase": ({"name", "classname", "time"}, {"skipped", "error", "failure", "system-out"}),
    "skipped": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "failure": ({"message", "type"}, set()),
    "system-out": (set(), set()),
}


def parsed(text: str) -> ET.Element:
    """With its structure checked, and every count."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, inside = ALLOWED[element.tag]
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib) <= attributes
        assert {child.tag for child in element} <= inside
    for group in (root, *root.iter("testsuite")):
        counts = {name: len(list(group.iter(tag))) for name, tag in (("tests", "testcase"), ("failures", "failure"))}
        counts |= {"errors": len(list(group.iter("error")))}
        assert {name: int(group.attrib[name]) for name in counts} == counts
    assert all(int(suite.attrib["skipped"]) == len(list(suite.iter("skipped"))) for suite in root)
    return root


def campaign(*experiments: CampaignEvent, reason: str = "") -> list[CampaignEvent]:
    return [
        replace(EVENTS[0], requests=("GET /",)),
        audited("GET /"),
        *experiments,
        RequestFinished(request="GET /", complete_up_to=3, reason=reason),
        RunFinished(reason=reason),
    ]


def test_there_is_a_case_for_each_request_class_and_each_finding() -> None:
    root = parsed(to_xml(summarise(EVENTS), REPLAY))

    cases = [(case.get("classname"), case.get("name"), [child.tag for child in case]) for case in root.iter("testcase")]
    assert cases == [
        ("GET /", "search", ["system-out"]),
        ("GET /", "survives cart/GetCart (4006342a)", ["failure"]),
        ("POST /pay", "search", ["error"]),
        (
            "POST /pay",
            "survives backup/Charge:abort(503),50% + pay/Charge:delay(250ms) (3e6f93d1)",
            ["failure"],
        ),
        ("GET /down", "search", ["error"]),
    ]
    failure = root.findall(".//failure")[1]
    assert failure.attrib == {"message": "no answer: connection lost", "type": "finding"}
    assert (failure.text or "").splitlines() == [
        "user sees  no answer: connection lost",
        "killed     127.0.0.1:5001",
        "evidence   failed 2 of 2 times, never without; trace aaaaaaaa bbbbbbbb",
        "replay     cutset explore --replay 3e6f93d1",
    ]
    assert (root.findall(".//error")[0].text or "").splitlines()[:2] == [
        "the budget of experiments is spent",
        "unknown: x/Y: never fired: x/Y was not called",
    ]


def test_accepted_findings_are_skipped_with_their_reason_and_fixed_ones_pass() -> None:
    gone = Finding("GET /", Outcome(frozenset({Fault.parse("gone/Get")}), Verdict.FAILED, "500"))
    events = campaign(
        experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"),
        experiment("GET /", Verdict.FAILED, "500", "x/New"),
        experiment("GET /", Verdict.SURVIVED, "200", "gone/Get"),
    )
    known = [Accepted(each.finding, "no cart, no shop") for each in accept(summarise(events))[:1]]

    root = parsed(to_xml(summarise(events), REPLAY, compare([*known, Accepted(gone)], events)))

    search, cart, new, fixed = root.iter("testcase")
    assert [child.tag for child in search] == [child.tag for child in fixed] == ["system-out"]
    assert [(child.tag, child.get("message")) for child in cart] == [("skipped", "accepted: no cart, no shop")]
    assert [(child.tag, child.get("type")) for child in new] == [("failure", "new")]
    assert fixed.get("name") == f"survives gone/Get ({gone.id})"


@pytest.mark.parametrize(
    ("events", "code"),
    [
        (campaign(), 0),
        (campaign(reason="the budget of experiments is spent"), 3),
        (campaign()[:-1], 3),
        (campaign(experiment("GET /", Verdict.FAILED, "500", "cart/GetCart")), 1),
        (EVENTS, 1),
    ],
)
def test_it_is_red_exactly_where_the_exit_code_is_not_zero(events: list[CampaignEvent], code: int) -> None:
    root = parsed(to_xml(summarise(events), REPLAY))
    own = parsed(to_xml(summarise(events), REPLAY, compare(accept(summarise(events)), events)))

    assert exit_code(summarise(events)) == code
    assert (int(root.attrib["failures"]) > 0) == (code == 1)
    assert code == 1 or (int(root.attrib["errors"]) > 0) == (code == 3)
    assert int(own.attrib["failures"]) == 0


@given(st.text(st.characters(codec=None)))
def test_whatever_a_service_answers_the_file_is_well_formed(answer: str) -> None:
    events = campaign(experiment("GET /", Verdict.FAILED, answer, "cart/GetCart"))
    assert isinstance(events[2], ExperimentFinished)

    parsed(to_xml(summarise(events), REPLAY).encode("utf-8").decode("utf-8"))


def test_it_says_for_which_way_to_fail_and_what_may_have_been_overlooked() -> None:
    search, finding = parsed(to_xml(summarise(VARYING), REPLAY)).iter("testcase")

    assert (search.findtext("system-out") or "").splitlines() == [
        "complete up to size 1 for grpc(14)",
        SCOPE,
        VARIATION,
    ]
    assert "failed 5 of 10 times, that is 24 % to 76 % of requests" in (finding.findtext("failure") or "")
