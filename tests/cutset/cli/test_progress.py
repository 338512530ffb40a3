import asyncio
from collections.abc import AsyncGenerator

import pytest
from tests.samples.campaign import EVENTS

from cutset.cli.progress import _short, show_progress
from cutset.model.event import CampaignEvent
from cutset.report.campaign.progress import RequestProgress


async def stream(events: list[CampaignEvent]) -> AsyncGenerator[CampaignEvent, None]:
    for event in events:
        yield event


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
