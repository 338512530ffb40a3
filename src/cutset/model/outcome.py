"""What an experiment showed."""

from dataclasses import dataclass
from enum import StrEnum

from cutset.model.fault import Cut
from cutset.model.point import Point

Points = frozenset[Point]


class Verdict(StrEnum):
    SURVIVED = "survived"
    DEGRADED = "degraded"  # the request was answered, but a part that the baseline always has is missing
    FAILED = "failed"
    UNKNOWN = "unknown"  # the reason says why; a fault that never fired is never "survived"


@dataclass(frozen=True, slots=True)
class Outcome:
    cut: Cut
    verdict: Verdict
    reason: str = ""  # what the user would see, or why nothing can be said
    path: Points = frozenset()  # points that the successful execution relied on
    failed: Points = frozenset()  # points whose call failed outright, after all its retries
    calls: Points = frozenset()  # every point that was called, whatever came of it
    retried: Points = frozenset()  # replicas that one call tried one after the other: alternatives that were seen to be
    trace_ids: tuple[str, ...] = ()
    requests: int = 1  # how many requests the verdict took, repeats and re-checks included
    dead: tuple[str, ...] = ()  # servers that were gone afterwards
