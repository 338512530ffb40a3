import asyncio
from collections.abc import AsyncGenerator

import pytest
from tests.samples.impacts import BEGIN, impact_events

from cutset.cli.impact_progress import ImpactProgress, show_impact_progress
from cutset.model.impact import GuardTripped, ImpactEvent, ImpactWindow, WindowStarted

EVENTS = list(impact_events())


def lines_of(*events: ImpactEvent) -> str:
    progress = ImpactProgress()
    for event in events:
        progress.take(event)
    return progress.line(BEGIN)


def until(window: ImpactWindow) -> list[ImpactEvent]:
    (begin,) = (
        number for number, event in enumerate(EVENTS) if isinstance(event, WindowStarted) and event.window is window
    )
    return EVENTS[: begin + 1]


def test_each_window_says_how_much_is_left_and_what_each_group_met() -> None:
    assert lines_of(*EVENTS[:2]) == "currency/Convert:abort(503),30%: getting ready"
    assert lines_of(*until(ImpactWindow.BEFORE)) == (
        "currency/Convert:abort(503),30%: before, at most 20 s left; 0 requests seen"
    )
    during = lines_of(*until(ImpactWindow.DURING))
    assert "during, at most" in during
    assert "in 5 % of requests; fault 0 requests; control 0 requests" in during
    after = lines_of(*until(ImpactWindow.AFTER))
    fault, control = (part for part in after.split("; ") if part.startswith(("fault", "control")))
    assert "failed (" in fault
    assert "failed (" in control


def test_the_next_run_of_a_workflow_begins_anew() -> None:
    assert lines_of(*EVENTS, *until(ImpactWindow.BEFORE)) == lines_of(*until(ImpactWindow.BEFORE))


def test_what_stopped_it_is_said() -> None:
    tripped = GuardTripped(guard="halt", reason="halted by ada@till", at=BEGIN)
    assert lines_of(*until(ImpactWindow.DURING), tripped).endswith("; halt: halted by ada@till")


def test_without_a_terminal_there_is_a_line_for_each_window(capsys: pytest.CaptureFixture[str]) -> None:
    async def events() -> AsyncGenerator[ImpactEvent, None]:
        for event in EVENTS:
            yield event

    recorded: list[ImpactEvent] = []
    asyncio.run(show_impact_progress(events(), recorded))

    assert recorded == EVENTS
    captured = capsys.readouterr()
    assert not captured.out
    assert [line.split(": ")[1].split(",")[0] for line in captured.err.splitlines()][:3] == [
        "before",
        "during",
        "after",
    ]
