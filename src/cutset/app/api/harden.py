"""Hardening, from Python."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from cutset.app.api.waiting import collected
from cutset.app.harden import Steps, TrialEvent, conclude, decide, try_out
from cutset.app.harden_problem import HardenOptions
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import load_config
from cutset.config.harden import load_harden
from cutset.config.key import signing_key
from cutset.harden.decision import Hardening


def harden_campaign(
    campaign: str = "",
    config: str | Path = "cutset.yaml",
    *,
    budget: float = 3,
    high: Sequence[str] = (),
    apply: bool = False,
    verify: bool = False,
    key: bytes | None = None,
    store: str | Path = ".cutset",
    resume: bool = False,
    on_event: Callable[[TrialEvent], None] | None = None,
) -> Hardening:
    """What to harden, as `cutset harden` does; with `apply` and `verify`, tried on the running local mesh."""
    config = Path(config)
    steps = Steps(mesh_file_of(config), apply, verify)
    options = HardenOptions(budget=budget, high=tuple(high))
    decided = decide(Path(store), campaign, load_harden(None, config), options)
    events: list[TrialEvent] = []
    if apply or verify:
        key = signing_key(os.environ) if key is None else key
        events = collected(try_out(decided, steps, load_config(config), key=key, resume=resume), on_event)
    return conclude(decided, steps, events)
