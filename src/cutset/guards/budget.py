"""How many requests may be marked, and how many may fail for it. Asked at each injection, so that none is too many."""

from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import VitalSigns


def spent_budget(signs: VitalSigns, settings: GuardSettings) -> str:
    if settings.max_marked and signs.marked >= settings.max_marked:
        return f"{signs.marked:,} requests were marked, and `max_marked` is {settings.max_marked:,}"
    if settings.max_failed and signs.failed >= settings.max_failed:
        return f"{signs.failed:,} requests with a fault failed, and `max_failed` is {settings.max_failed:,}"
    return ""
