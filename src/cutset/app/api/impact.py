"""Impacts, from Python."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutset.app.api.waiting import collected
from cutset.app.impact import ImpactPlan, measure
from cutset.app.impact_results import impacts_in
from cutset.config.explore import Config, adjusted, load_place, plan_key
from cutset.errors import HaltedError
from cutset.model.impact import Impact, ImpactEvent, TrafficSource


def measure_impact(
    *faults: str,
    config: str | Path | Config = "cutset.yaml",
    load: float | None = None,
    requests: Sequence[str] = (),
    recording: str | Path | None = None,
    key: bytes | None = None,
    store: str | Path = ".cutset",
    on_event: Callable[[ImpactEvent], None] | None = None,
    **settings: Any,
) -> Impact:
    """Fails calls at a rate on a share of requests, and says what that does to each API upstream, as `cutset impact`.

    `faults`, as `"payment/Charge"` or `"payment:timeout"`, happen together. With `load` these are the requests of the
    configuration, so many per second, or those named in `requests`; with a `recording` what was recorded, `load` flows
    per second; else what users send, of which a share is marked. `settings` take the place of those of the section
    `impact`, by the same names: `rate=30, during=60`. A guard that ends it is in `Impact.guard`.
    """
    wanted = adjusted(config if isinstance(config, Config) else load_place(Path(config)), requests=requests)
    said = settings | ({"load": float(load)} if load else {})
    wanted = replace(wanted, impact=replace(wanted.impact, **said))
    own = TrafficSource.LOAD if load else TrafficSource.LIVE
    plan = ImpactPlan(
        (faults,), TrafficSource.REPLAY if recording else own, recording=Path(recording) if recording else None
    )
    events: list[ImpactEvent] = []

    def note(event: ImpactEvent) -> None:
        events.append(event)
        if on_event:
            on_event(event)

    try:
        collected(measure(wanted, plan, key=key or plan_key(wanted, os.environ), store=Path(store)), note)
    except HaltedError:
        if not impacts_in(events):  # before anything was injected
            raise
    return impacts_in(events)[-1]
