from dataclasses import replace

from tests.samples.campaign import EVENTS, VARYING, experiment

from cutset.model.event import CampaignEvent, RequestAudited, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.run import RunFinished
from cutset.model.summary import outcomes_of, summarise


def test_only_minimal_cuts_are_findings() -> None:
    (home, *_) = summarise(EVENTS).requests

    assert [len(finding.cut) for finding in home.findings] == [1]


def test_a_campaign_is_complete_when_it_finished_without_problems_and_unknowns() -> None:
    healthy = [
        event
        for event in EVENTS
        if getattr(event, "request", "GET /") == "GET /" and not isinstance(event, RunFinished)
    ]
    others = [RequestFinished(request=name, complete_up_to=3, reason="") for name in ("POST /pay", "GET /down")]

    assert summarise([*healthy, *others, RunFinished(reason="")]).complete
    assert not summarise([*healthy, *others]).complete
    assert not summarise(EVENTS).complete


def test_no_events_no_summary() -> None:
    assert summarise([]).requests == ()


def test_cuts_larger_than_was_asked_for_are_no_findings() -> None:
    (home, *_) = summarise(EVENTS).requests

    assert "more than was asked for" not in {finding.outcome.reason for finding in home.findings}


def test_a_resumed_campaign_is_summarised_by_its_latest_start() -> None:
    again = replace(EVENTS[0], max_size=4, strategy="ldfi")  # type: ignore[type-var]
    resumed = summarise([*EVENTS, again])

    assert (resumed.started.max_size, resumed.started.strategy) == (4, "ldfi")
    assert not resumed.finished
    assert {request.name: request.problem for request in resumed.requests} == {
        "GET /": "",
        "POST /pay": "the campaign was interrupted",
        "GET /down": "the campaign was interrupted",
    }
    assert summarise([*EVENTS, again, RunFinished(reason="")]).finished


def test_the_runs_of_the_audit_count_as_outcomes_of_their_request() -> None:
    assert [len(outcomes_of(name, EVENTS)) for name in ("GET /", "POST /pay", "GET /down")] == [1 + 5, 4, 0]


def test_a_request_varies_if_its_audit_says_so_or_an_experiment_fails_a_share_of_requests() -> None:
    (request,) = summarise(VARYING).requests
    unaudited = [replace(event, varies="") if isinstance(event, RequestAudited) else event for event in VARYING]
    (noticed,) = summarise(unaudited).requests

    assert (request.varies, request.trials) == ("currency/Convert was called in 1 of 3 runs without a fault", 10)
    assert noticed.varies == "of requests with the same failures some failed and some did not"
    assert [each.varies for each in summarise(EVENTS).requests] == [""] * 3


def test_a_request_varies_if_an_experiment_that_survived_took_more_than_one_request() -> None:
    survivor = experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds", trials=10)
    at_replica = experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds#1", trials=2)
    flaky = experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds", trials=30, failures=1)

    def varies(event: CampaignEvent) -> str:
        return summarise([replace(EVENTS[0], requests=("GET /",)), event]).requests[0].varies

    assert varies(survivor) == "requests with the same failures did not all make the same calls"
    assert (varies(at_replica), varies(flaky)) == ("", "")
