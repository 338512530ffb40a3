"""What an experiment showed."""

from dataclasses import dataclass
from enum import StrEnum

from cutset.model.coverage import Uncoverable
from cutset.model.fault import Cut
from cutset.model.point import Point

Points = frozenset[Point]


class Verdict(StrEnum):
    SURVIVED = "survived"
    DEGRADED = "degraded"  # answered, but a part that the baseline always has is missing, or a value is another
    FAILED = "failed"
    UNKNOWN = "unknown"  # the reason says why; a fault that never fired is never "survived"


@dataclass(frozen=True, slots=True, order=True)
class CallSeen:
    """One attempt of a call, as whoever made it saw it."""

    point: Point
    caller: str  # the API that made the call; empty: the one that the request itself is for, or nobody knows
    status: str  # `200`, `503`, `grpc 14`; `0`: the caller gave up before there was an answer
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Outcome:
    cut: Cut
    verdict: Verdict
    reason: str = ""  # what the user would see, or why nothing can be said
    path: Points = frozenset()  # points that the successful execution relied on
    failed: Points = frozenset()  # points whose call failed outright, after all its retries
    calls: Points = frozenset()  # every point that was called, whatever came of it
    fired: Points = frozenset()  # those of the cut's points whose fault is proven to have happened
    retried: Points = frozenset()  # replicas that one call tried one after the other: alternatives that were seen to be
    seen: tuple[CallSeen, ...] = ()  # each call in the order of its beginning; of a survivor only
    trace_ids: tuple[str, ...] = ()
    requests: int = 1  # how many requests the verdict took, repeats and re-checks included
    trials: int = 1  # of these: requests with the cut that proved something
    failures: int = 0  # of the trials: those that failed
    healthy_after: bool = False  # after the failures, the request without any fault was answered as ever
    dead: tuple[str, ...] = ()  # servers that were gone afterwards
    uncoverable: frozenset[Uncoverable] = frozenset()  # calls past the mesh that no run without a fault had made
    outlived: Points = frozenset()  # calls that were faulted long after the request of this or an earlier outcome ended

    @property
    def is_share(self) -> bool:
        """Whether only some requests fail with these faults."""
        return self.verdict is Verdict.FAILED and self.failures < self.trials
