"""Hardening, from Python."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from cutset.app.api.waiting import collected
from cutset.app.harden import TrialEvent, conclude, decide, try_out
from cutset.app.harden_place import Apply, Steps
from cutset.app.harden_problem import HardenOptions
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import load_config, plan_key
from cutset.config.harden import load_harden
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
    """What to harden, as `cutset harden` does; with `apply` and `verify`, tried on the running mesh.

    That is the cluster of the configuration's section `istio`, if there is one, and else the local mesh.
    """
    config = Path(config)
    wanted = load_config(config) if apply or verify else None
    place = Apply.ISTIO if wanted and wanted.istio else Apply.LOCAL
    steps = Steps(mesh_file_of(config), place if apply else None, verify)
    options = HardenOptions(budget=budget, high=tuple(high))
    decided = decide(Path(store), campaign, load_harden(None, config), options)
    events: list[TrialEvent] = []
    if wanted:
        key = key or plan_key(wanted, os.environ)
        events = collected(try_out(decided, steps, wanted, key=key, resume=resume), on_event)
    return conclude(decided, steps, events)
