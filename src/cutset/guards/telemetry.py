"""Requests are marked and no span arrives: what the faults do cannot be seen, so there must be none."""

from cutset.guards.settings import GuardSettings


def blind(silent_seconds: float, settings: GuardSettings) -> str:
    if not settings.telemetry or silent_seconds <= settings.telemetry:
        return ""
    return f"requests are marked, but no span came for {silent_seconds:.0f} s: `telemetry` is {settings.telemetry:g} s"
