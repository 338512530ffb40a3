"""Reproductions, from Python."""

from collections.abc import Callable
from pathlib import Path

from cutset.app.api.waiting import collected
from cutset.app.reproduce import plan_reproduction, reproduce
from cutset.config.case import CaseFile
from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished
from cutset.model.reproduction.result import ReproductionResult


def reproduce_failure(
    case: str | Path = "case.yaml",
    *,
    store: str | Path = ".cutset",
    on_event: Callable[[ReproductionEvent], None] | None = None,
) -> ReproductionResult:
    """Finds the fault behind a failure log, as `cutset reproduce CASE.yaml` does."""
    events = collected(reproduce(plan_reproduction(CaseFile(), Path(case), store=Path(store))), on_event)
    return next(event.result for event in events if isinstance(event, ReproductionFinished))
