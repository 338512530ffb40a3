"""A real gate over a store, for tests of what has to pass it."""

from pathlib import Path

from cutset.experiment.gate import Gate
from cutset.guards.brake import Brake
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import VitalSigns
from cutset.model.run import Loop
from cutset.store.audit import AuditLog


def gate_of(store: Path, settings: GuardSettings | None = None) -> Gate:
    settings = settings or GuardSettings()
    signs = VitalSigns(over=settings.over, latency=settings.latency)
    return Gate(
        Brake(store), AuditLog(store), signs, settings, Loop.CAMPAIGN, "local", "anna@laptop", "run-1", lambda: 1.5
    )
