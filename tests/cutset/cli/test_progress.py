import asyncio
from collections.abc import AsyncGenerator

import pytest
from tests.samples.campaign import EVENTS, experiment

from cutset.cli.progress import RequestProgress, _short, show_progress, take_note
from cutset.model.event import CampaignEvent, ExperimentFinished, RequestFinished
from cutset.model.outcome import Outcome, Verdict


async def stream(events: list[CampaignEvent]) -> AsyncGenerator[CampaignEvent, None]:
    for event in events:
        yield event


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


def test_without_a_terminal_there_is_a_line_per_request(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(show_progress(stream(EVENTS), []))

    assert capsys.readouterr().err.splitlines() == [
        "GET /down: 0 experiments, round 0, 0 found, 0 certified, nothing proven",
        "GET /: 5 experiments, round 5, 3 found, 0 certified, proven up to size 3",
        "POST /pay: 4 experiments, round 2, 1/4 found, 0 certified, 2 unknown, proven up to size 1",
    ]


def test_on_a_terminal_a_row_of_large_numbers_fits_100_columns() -> None:
    large = RequestProgress(
        done=1204, left=311, found=114, round=12, predicted=6, certificates=130, unknown=14, proven=2
    )
    name = _short("POST /a/path/that/is/longer/than/anybody/wants/to/read")

    assert large.note == "round 12, 114/120 found, 130 certified, 14 unknown, proven up to size 2"
    assert len(f"{name} {large.done}/{large.done + large.left} {large.note}") <= 100
