"""The search for the fault behind a failure (ANDURIL §3, §5): prepare, explore, come closer, confirm, minimise.

Every good run and every round is recorded before it counts. A search that goes on later is told what was recorded.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from cutset.model.reproduction.event import (
    GoodRunFinished,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
)
from cutset.model.reproduction.result import ReproductionResult
from cutset.reproduce.closer import come_closer
from cutset.reproduce.confirm import confirm
from cutset.reproduce.explore import explore
from cutset.reproduce.minimise import minimise
from cutset.reproduce.narrate import reproduction_of, summary_of
from cutset.reproduce.prepare import prepare
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.state import ReproductionState, Subject


async def reproduce(
    subject: Subject,
    settings: ReproductionSettings,
    folder: Path,
    *,
    past: Sequence[object] = (),
    record: Callable[[ReproductionEvent], None] = lambda _: None,
    progress: Progress = nobody_watches,
) -> AsyncIterator[ReproductionEvent]:
    """`folder` is for the rounds of this search. `past`: what it recorded before an interruption, in order."""
    state = ReproductionState(
        subject,
        settings,
        folder,
        record,
        past_good={event.number: event for event in past if isinstance(event, GoodRunFinished)},
        past=[event for event in past if isinstance(event, RoundFinished)],
        progress=progress,
    )
    try:
        async for event in _stages(state):
            yield event
    except asyncio.CancelledError:
        if state.reproductions:  # nobody is told any more, but it can be read
            record(ReproductionFinished(_result(state, stopped="it was interrupted")))
        raise
    finished = ReproductionFinished(_result(state))
    record(finished)
    yield finished


async def _stages(state: ReproductionState) -> AsyncIterator[ReproductionEvent]:
    async for event in prepare(state):
        yield event
    steps = (explore, come_closer, confirm)
    while state.best is None:
        for step in steps:
            async for event in step(state):
                yield event
            state.cut_short |= step is not confirm and state.out_of_time  # repeats take their time
            if not state.reproductions:
                break
        if not state.reproductions and (step is explore or not state.rounds_left):
            break  # else what was found turned out to be a coincidence, and the search goes on
    if state.best is not None and state.settings.minimise:
        async for event in minimise(state):
            yield event


def _result(state: ReproductionState, stopped: str = "") -> ReproductionResult:
    found = state.reproductions
    best = state.best or min(found, key=state.likeness, default=None)
    if not stopped and state.cut_short:
        stopped = f"no new fault was tried after {state.settings.minutes:g} minutes"
    return ReproductionResult(
        case=summary_of(state.subject.case),
        best=reproduction_of(state, best) if best else None,
        alternatives=tuple(reproduction_of(state, other) for other in _others(state, best)),
        first_found=reproduction_of(state, found[0]) if found else None,
        rounds=len(state.tried),
        seconds=round(time.monotonic() - state.started, 1),
        summary=str(state.explorer.progress()),
        remarks=tuple(state.remarks),
        stopped=stopped,
    )


def _others(state: ReproductionState, best: RoundFinished | None) -> list[RoundFinished]:
    """Other places, and at the same place what explains the failure log as well; one of each, the most alike first."""
    if best is None or best.fired is None:
        return []
    others: dict[tuple[int, str], RoundFinished] = {}
    for found in sorted(state.reproductions, key=state.likeness):
        assert found.fired is not None
        is_same = (found.fired.number, found.fired.effect) == (best.fired.number, best.fired.effect)
        if found.fired.number != best.fired.number or (not is_same and state.standing(found) <= state.standing(best)):
            others.setdefault((found.fired.number, found.fired.effect), found)
    return list(others.values())
