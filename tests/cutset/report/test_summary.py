from sample_campaign import EVENTS

from cutset.model.event import CampaignFinished, RequestFinished
from cutset.report.summary import summarise


def test_only_minimal_cuts_are_findings() -> None:
    (home, *_) = summarise(EVENTS).requests

    assert [len(finding.cut) for finding in home.findings] == [1]


def test_a_campaign_is_complete_when_it_finished_without_problems_and_unknowns() -> None:
    healthy = [
        event
        for event in EVENTS
        if getattr(event, "request", "GET /") == "GET /" and not isinstance(event, CampaignFinished)
    ]
    others = [RequestFinished(request=name, complete_up_to=3, reason="") for name in ("POST /pay", "GET /down")]

    assert summarise([*healthy, *others, CampaignFinished(reason="")]).complete
    assert not summarise([*healthy, *others]).complete
    assert not summarise(EVENTS).complete


def test_no_events_no_summary() -> None:
    assert summarise([]).requests == ()
