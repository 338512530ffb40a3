"""What an experiment showed."""

from dataclasses import dataclass
from enum import StrEnum

from cutset.model.coverage import Uncoverable
from cutset.model.difference import Difference
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
    met: tuple[CallSeen, ...] = ()  # the calls that its faults met, likewise, and also of a failure
    late: bool = False  # the request took longer than it may
    milliseconds: int | None = None  # that a survivor took; none: nobody measured
    trace_ids: tuple[str, ...] = ()  # the first is the one to be shown
    requests: int = 1  # how many requests the verdict took, repeats and re-checks included
    trials: int = 1  # of these: requests with the cut that proved something
    failures: int = 0  # of the trials: those that failed
    healthy_after: bool = False  # after the failures, the request without any fault was answered as ever
    dead: tuple[str, ...] = ()  # servers that were gone afterwards
    uncoverable: frozenset[Uncoverable] = frozenset()  # calls past the mesh that no run without a fault had made
    differences: tuple[Difference, ...] = ()  # of a degraded one: from what answers without a fault always have
    says: str = (
        ""  # of a failed one: the text that its reason quotes, bounded; what differs from others is quoted later
    )
    outlived: Points = frozenset()  # calls that were faulted long after the request of this or an earlier outcome ended

    @property
    def is_wrong(self) -> bool:
        """Whether it was answered with what is not so, rather than with less."""
        return self.verdict is Verdict.DEGRADED and any(each.is_wrong for each in self.differences)

    @property
    def is_share(self) -> bool:
        """Whether only some requests fail with these faults."""
        return self.verdict is Verdict.FAILED and self.failures < self.trials

    @property
    def variation(self) -> str:
        """How requests with these same faults differed; empty: not as far as they show.

        That they differ in which replica serves them is no news, and told by which replicas fail. Unless another
        one took over, and some failed nevertheless: then chance decides whether it is asked in time.
        """
        if any(fault.point.replica for fault in self.cut):
            taken_over = {point.of_api for point in self.retried}
            if self.is_share and all(point.of_api in taken_over for point in self.fired):
                return "requests that could turn to another replica did not all do so in time"
            return ""
        if self.is_share:
            return "of requests with the same failures some failed and some did not"
        # Where requests are alike, one that survives is enough, unless others failed by chance.
        if self.verdict is Verdict.SURVIVED and self.trials > 1 and not self.failures:
            return "requests with the same failures did not all make the same calls"
        return ""

    def is_proof(self, trials: int, *, varying: bool) -> bool:
        """Whether it survived often enough, or did not survive: where requests vary, one survivor proves little."""
        survived = self.verdict in (Verdict.SURVIVED, Verdict.DEGRADED)
        return not (varying and survived and self.cut) or self.trials >= trials
