"""What all loops that inject have around them: the brake, guards that watch, and a record of who injects what now."""

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from cutset.experiment.gate import Gate
from cutset.guards.brake import Brake
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import VitalSigns
from cutset.guards.watch import watched
from cutset.model.run import Loop
from cutset.process.whom import user_at_host
from cutset.store.active import ActiveInjection, injecting
from cutset.store.audit import AuditLog


@asynccontextmanager
async def guarded(store: Path, settings: GuardSettings, loop: Loop, environment: str) -> AsyncIterator[Gate]:
    """Raises HaltedError before anything is sent, if nothing may be injected. Guards watch until the block ends."""
    brake = Brake(store)
    signs = VitalSigns(over=settings.over, latency=settings.latency)
    with closing(AuditLog(store)) as audit:
        gate = Gate(brake, audit, signs, settings, loop, environment, user_at_host())
        async with watched(brake, settings, signs):
            yield gate


@contextmanager
def shown_as_active(
    gate: Gate, store: Path, run: str, what: str, *, until: float = 0.0, config: Path | None = None
) -> Iterator[Callable[[ActiveInjection], None]]:
    """`cutset status` tells of the run until the block ends; from now on its injections are in its name."""
    gate.run = run
    active = ActiveInjection(
        run,
        gate.loop,
        gate.environment,
        gate.by,
        os.getpid(),
        time.time(),
        what,
        until,
        str(config or ""),
    )
    with injecting(store, active) as tell:
        yield tell
