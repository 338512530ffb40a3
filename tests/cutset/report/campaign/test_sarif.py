"""The structure of SARIF 2.1.0 as far as Cutset uses it, and what GitHub's code scanning asks for besides."""

import json
from typing import Any

from tests.samples.campaign import EVENTS, REPLAY, SCOPE, VARIATION, VARYING

from cutset import __version__
from cutset.model.finding import findings_of
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import Accepted, accept, compare
from cutset.report.campaign.sarif import RULES, Places, to_document

RESULT_KEYS = {
    "ruleId",
    "ruleIndex",
    "level",
    "message",
    "locations",
    "relatedLocations",
    "partialFingerprints",
    "properties",
    "baselineState",
    "suppressions",
}


def run_of(document: dict[str, Any]) -> dict[str, Any]:
    """The one run, with its structure checked."""
    document = json.loads(json.dumps(document))
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert set(run) == {"tool", "automationDetails", "properties", "invocations", "results"}
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert set(result) <= RESULT_KEYS
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == rules[result["ruleIndex"]]["defaultConfiguration"]["level"]
        assert result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"]["startLine"] >= 1
        assert not physical["artifactLocation"]["uri"].startswith("/")
        assert all(set(each) == {"name", "fullyQualifiedName", "kind"} for each in location["logicalLocations"])
        assert result.get("baselineState", "new") in {"new", "unchanged"}
    for notification in run["invocations"][0]["toolExecutionNotifications"]:
        assert set(notification) == {"level", "message"}
    return dict(run)


def test_each_finding_is_a_result_of_its_kind_at_its_services() -> None:
    run = run_of(to_document(summarise(EVENTS), "one", REPLAY))

    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("single-point-of-failure", "error"),
        ("degraded-answer", "note"),
        ("joint-failure", "error"),
        ("trace-context-lost", "warning"),
    ]
    single, _, joint, lost = run["results"]
    assert single["message"]["text"] == (
        "GET / fails with cart/GetCart. The user sees: 500 with `no cart`. It failed 2 of 2 times, never without. "
        "Try it again: cutset explore --replay 4006342a"
    )
    assert "Killed: 127.0.0.1:5001." in joint["message"]["text"]
    assert [each["fullyQualifiedName"] for each in joint["locations"][0]["logicalLocations"]] == [
        "backup/Charge",
        "pay/Charge",
    ]
    assert lost["message"]["text"] == (
        "POST /pay calls currency/Convert, which cannot be tested: "
        "called without the trace context, so no plan reaches it."
    )
    assert "baselineState" not in single


def test_fingerprints_are_those_of_the_findings_and_differ() -> None:
    results = run_of(to_document(summarise(EVENTS), "one", REPLAY))["results"]
    again = run_of(to_document(summarise(EVENTS), "two", REPLAY))["results"]

    fingerprints = [result["partialFingerprints"] for result in results]
    assert fingerprints == [result["partialFingerprints"] for result in again]
    assert {each.id for each in findings_of(EVENTS) if len(each.cut) <= 3} <= {
        each["cutsetFinding/v1"] for each in fingerprints
    }
    assert fingerprints[0] == {"cutsetFinding/v1": "4006342a", "primaryLocationLineHash": "4006342a:1"}
    assert len({each["primaryLocationLineHash"] for each in fingerprints}) == len(results)


def test_every_rule_explains_itself_and_says_what_to_do() -> None:
    driver = run_of(to_document(summarise(EVENTS), "one", REPLAY))["tool"]["driver"]

    assert (driver["name"], driver["version"]) == ("Cutset", __version__)
    assert len({rule["id"] for rule in driver["rules"]}) == len(RULES)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"].endswith(".")
        assert "What to do:\n- " in rule["help"]["text"]
        assert "**What to do**\n\n- " in rule["help"]["markdown"]


def test_accepted_findings_are_suppressed_and_others_new() -> None:
    single, *others = accept(summarise(EVENTS))[1:]
    known = [Accepted(single.finding, "no cart, no shop")]

    results = run_of(to_document(summarise(EVENTS), "one", REPLAY, compare(known, EVENTS)))["results"]

    assert results[0]["baselineState"] == "unchanged"
    assert results[0]["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "no cart, no shop"}
    ]
    assert [(result["baselineState"], "suppressions" in result) for result in results[1:3]] == [("new", False)] * 2
    assert len(others) == 1


def test_what_was_left_open_is_a_notification() -> None:
    (invocation,) = run_of(to_document(summarise(EVENTS), "one", REPLAY))["invocations"]

    assert invocation["executionSuccessful"] is True
    texts = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert texts[:2] == ["GET /: complete up to size 3 for abort(503)", "POST /pay: the budget of experiments is spent"]
    assert texts[-1].startswith("GET /down: unhealthy baseline")
    unfinished = run_of(to_document(summarise(EVENTS[:-1]), "one", REPLAY))
    assert unfinished["invocations"][0]["executionSuccessful"] is False


def test_results_are_shown_in_the_file_of_their_service_or_where_requests_are_described() -> None:
    places = Places("ci/my shop.yaml", (("pay", "services/pay.py"), ("backup", "services/backup.py")))

    single, _, joint, _ = run_of(to_document(summarise(EVENTS), "one", REPLAY, places=places))["results"]

    def uri(location: dict[str, Any]) -> str:
        return str(location["physicalLocation"]["artifactLocation"]["uri"])

    assert uri(single["locations"][0]) == "ci/my%20shop.yaml"
    assert uri(joint["locations"][0]) == "services/backup.py"
    assert [(each["message"]["text"], uri(each)) for each in joint["relatedLocations"]] == [
        ("backup/Charge", "services/backup.py"),
        ("pay/Charge", "services/pay.py"),
    ]


def test_it_says_for_which_way_to_fail_what_share_of_requests_fails_and_what_may_have_been_overlooked() -> None:
    run = run_of(to_document(summarise(VARYING), "one", REPLAY))

    assert run["properties"] == {"effects": {"usual": ["grpc(14)"], "at": {}}, "scope": SCOPE}
    notes = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert notes == ["GET /: complete up to size 1 for grpc(14)", f"GET /: {VARIATION}"]
    assert "It failed 5 of 10 times, that is 24 % to 76 % of requests" in run["results"][0]["message"]["text"]
