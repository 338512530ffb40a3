"""The search for the fault behind a failure (ANDURIL §3, §5): prepare, explore, confirm, minimise. Yields events.

Every good run and every round is recorded before it counts. A search that goes on later is told what was recorded.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from cutset.model.reproduction.event import (
    GoodRunFinished,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
)
from cutset.model.reproduction.result import Reproduction, ReproductionResult
from cutset.reproduce.confirm import confirm
from cutset.reproduce.explore import explore
from cutset.reproduce.minimise import minimise
from cutset.reproduce.narrate import reproduction_of, summary_of
from cutset.reproduce.prepare import prepare
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.state import ReproductionState, Subject


async def reproduce(
    subject: Subject,
    settings: ReproductionSettings,
    folder: Path,
    *,
    past: Sequence[object] = (),
    record: Callable[[ReproductionEvent], None] = lambda _: None,
) -> AsyncIterator[ReproductionEvent]:
    """`folder` is for the rounds of this search. `past`: what it recorded before an interruption, in order."""
    state = ReproductionState(
        subject,
        settings,
        folder,
        record,
        past_good={event.number: event for event in past if isinstance(event, GoodRunFinished)},
        past=[event for event in past if isinstance(event, RoundFinished)],
    )
    async for event in prepare(state):
        yield event
    async for event in explore(state):
        yield event
    if state.reproductions:
        async for event in confirm(state):
            yield event
        if settings.minimise:
            async for event in minimise(state):
                yield event
    finished = ReproductionFinished(_result(state))
    record(finished)
    yield finished


def _result(state: ReproductionState) -> ReproductionResult:
    best, found = state.best, state.reproductions
    others = [done for done in found if best and done.fired and best.fired and done.fired.number != best.fired.number]
    return ReproductionResult(
        case=summary_of(state.subject.case),
        best=_reproduction(state, best) if best else None,
        alternatives=tuple(_reproduction(state, other) for other in others),
        first_found=_reproduction(state, found[0]) if found else None,
        rounds=len(state.tried),
        seconds=round(time.monotonic() - state.started, 1),
        summary=str(state.explorer.progress()),
        remarks=tuple(state.remarks),
    )


def _reproduction(state: ReproductionState, found: RoundFinished) -> Reproduction:
    repeats = len(state.repeats.get(found.number, ()))
    return reproduction_of(state, found, repeats=repeats, repeated=state.held(found))
