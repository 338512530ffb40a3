import htpy as h
from tests.samples.campaign import EVENTS, RUN, experiment
from tests.samples.hostile import HOSTILE, HOSTILE_POINT, text_of

from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished
from cutset.model.outcome import Outcome, Verdict
from cutset.report.campaign.under_way import LATEST, UnderWay, experiments_part, progress_part, under_way

STARTED = CampaignStarted(requests=("GET /", "POST /pay"), max_size=2, experiments=200, minutes=10.0)


def after(*events: CampaignEvent) -> UnderWay:
    """One every six seconds."""
    return under_way((1000.0 + 6 * number, event) for number, event in enumerate([RUN, *events]))


def test_what_is_spent_is_told_of_what_may_be_spent_as_of_the_last_event() -> None:
    known = after(STARTED, *(experiment("GET /", Verdict.SURVIVED, "200", f"a/{number}") for number in range(5)))
    text = text_of(str(h.div[progress_part(known)]))

    assert "experiments 5 of 200" in text
    assert "minutes 0.5 of 10" in text
    assert "rounds 2, no limit" in text
    assert known.status == "5 experiments, 0 failed"


def test_each_request_says_how_far_its_proof_has_come() -> None:
    done = ExperimentFinished(
        request="GET /", outcome=Outcome(frozenset(), Verdict.SURVIVED), left=7, round=3, complete_up_to=1
    )
    text = text_of(str(h.div[progress_part(after(STARTED, done))]))

    assert "GET / size 0 ✓ decided size 1 ✓ decided size 2 ? open round 3" in text
    assert "1 tried, at least 7 to do" in text
    assert "POST /pay size 0 ? open size 1 ? open size 2 ? open not begun" in text


def test_the_latest_experiments_come_first_and_keep_their_numbers() -> None:
    many = [experiment("GET /", Verdict.FAILED, "500", f"a/{number}") for number in range(LATEST + 3)]
    page = str(h.div[experiments_part(after(STARTED, *many))])
    text = text_of(page)

    assert page.count("<li") == LATEST
    assert text.startswith(f"Latest experiments ✗ fails a/{LATEST + 2}")
    assert f'id="experiment-{LATEST + 3}"' in page
    assert 'id="experiment-4"' in page
    assert 'id="experiment-3"' not in page


def test_before_the_first_experiment_it_says_what_happens_instead() -> None:
    assert "None yet" in text_of(str(h.div[experiments_part(after(STARTED))]))
    assert progress_part(after()) is not None


def test_a_whole_campaign_is_counted() -> None:
    assert after(*EVENTS).experiments == 9


def test_what_answers_say_stays_text() -> None:
    evil = experiment(HOSTILE, Verdict.FAILED, HOSTILE, HOSTILE_POINT)
    started = CampaignStarted(requests=(HOSTILE,), max_size=1)

    for part in (experiments_part, progress_part):
        assert "<script>alert(1)" in text_of(str(h.div[part(after(started, evil))]))
