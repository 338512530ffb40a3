from tests.samples.campaign import experiment

from cutset.model.event import CampaignEvent, ExperimentFinished, RequestFinished
from cutset.model.outcome import Outcome, Verdict
from cutset.report.campaign.progress import RequestProgress, take_note


def after(*events: CampaignEvent) -> RequestProgress:
    progress_of: dict[str, RequestProgress] = {}
    for event in events:
        take_note(event, progress_of)
    return progress_of["GET /"]


def test_a_tally_tells_round_findings_certificates_and_proof() -> None:
    survived = Outcome(frozenset(), Verdict.SURVIVED)
    event = ExperimentFinished(
        request="GET /", outcome=survived, left=7, round=3, predicted=9, certificates=4, complete_up_to=1
    )
    failed = experiment("GET /", Verdict.FAILED, "500", "a/B")

    assert after(failed, event).note == "round 3, 1/10 found, 5 certified, proven up to size 1"
    assert after(failed, event).left == 7


def test_the_end_of_a_request_says_what_is_proven_in_the_end() -> None:
    ended = RequestFinished(request="GET /", complete_up_to=3, reason="")

    assert after(experiment("GET /", Verdict.UNKNOWN, "", "a/B"), ended).note == (
        "round 2, 0 found, 0 certified, 1 unknown, proven up to size 3"
    )
