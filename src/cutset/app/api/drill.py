"""Drills, from Python."""

from collections.abc import Callable
from pathlib import Path

from cutset.app.api.waiting import collected
from cutset.app.drill import drill, read_case
from cutset.config.drill import load_drill
from cutset.model.drill import DrillEvent, DrillResult, results_of


def run_drills(
    config: str | Path = "cutset.yaml",
    *,
    store: str | Path = ".cutset",
    resume: bool = False,
    again: bool = False,
    on_event: Callable[[DrillEvent], None] | None = None,
) -> list[DrillResult]:
    """Tests how a service deals with failures of what it calls, as `cutset drill` does. `again`: also what passed."""
    case = read_case(load_drill(Path(config)))
    events = collected(drill(case, store=Path(store), resume=resume, again=again), on_event)
    return results_of(events)
