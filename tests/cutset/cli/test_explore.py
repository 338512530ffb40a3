from dataclasses import replace

import pytest
from tests.samples.campaign import EVENTS, cut

from cutset.app.explore import Retrial
from cutset.cli.explore import exit_code, show_retrial
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.summary import RequestSummary, summarise

CLEAN = RequestSummary("GET /", frozenset(), frozenset(), 3, "", (), (), (), experiments=4, requests=4)


@pytest.mark.parametrize(
    ("request_summary", "finished", "code"),
    [
        (CLEAN, True, 0),
        (CLEAN, False, 3),
        (replace(CLEAN, problem="the budget of experiments is spent"), True, 3),
        (replace(CLEAN, predicted=(cut("cart/GetCart"),)), True, 3),
        (replace(CLEAN, uncoverable=(Uncoverable("currency/Convert", OutOfReach.OTHER_TRACE),)), True, 3),
        (replace(CLEAN, uncoverable=(Uncoverable("GET /", OutOfReach.PAST_MESH, "web", "a:80"),)), True, 3),
        (replace(CLEAN, uncoverable=(Uncoverable("redis", OutOfReach.DATA_STORE, "web", "a:6379"),)), True, 0),
        (replace(CLEAN, undecided=summarise(EVENTS).requests[1].undecided), True, 3),
        (replace(CLEAN, findings=summarise(EVENTS).requests[0].findings, problem="spent"), True, 1),
    ],
)
def test_the_exit_code_tells_survived_from_found_from_could_not_tell(
    request_summary: RequestSummary, finished: bool, code: int
) -> None:
    assert exit_code(replace(summarise(EVENTS), requests=(request_summary,), finished=finished)) == code


@pytest.mark.parametrize(
    ("before", "now", "words", "code"),
    [
        (Verdict.FAILED, Verdict.FAILED, "x still fails", 1),
        (Verdict.FAILED, Verdict.DEGRADED, "+ no longer fails, but is degraded", 0),
        (Verdict.FAILED, Verdict.SURVIVED, "+ no longer fails", 0),
        (Verdict.FAILED, Verdict.UNKNOWN, "! could not tell", 3),
        (Verdict.DEGRADED, Verdict.FAILED, "x fails, and was only degraded", 1),
        (Verdict.DEGRADED, Verdict.DEGRADED, "~ is still degraded", 0),
        (Verdict.DEGRADED, Verdict.SURVIVED, "+ is answered in full", 0),
    ],
)
def test_what_is_tried_again_is_held_against_what_it_was(
    before: Verdict, now: Verdict, words: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = Finding("GET /", Outcome(cut("cart/GetCart"), before))

    assert show_retrial(Retrial(finding, Outcome(finding.cut, now, "what is seen")), as_json=False) == code
    assert capsys.readouterr().out.startswith(f"{words}  GET /  cart/GetCart\n")
