"""A drill (CAST §3.5): one fault at one point of a running service, and what was seen before, during and after.

CAST's *endpoint* is (component, framework, method), as in `cache/redis/get`; the agent, inside the service, knows what
is called by nothing else. The point of a drill is an endpoint as one service calls it: `shop>cache/redis/get@2`.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from cutset.model.expect import Factor, Pause, Positive, Ratio, Seconds
from cutset.model.point import Point
from cutset.model.run import RunFinished, RunStarted

CalledComponent = Literal["cache", "db", "mq", "rpc"]  # as endpoints begin


class Phase(StrEnum):
    STARTUP = "start-up"
    FAULT = "fault"
    RECOVERY = "recovery"


class DrillVerdict(StrEnum):
    """CAST's words, not those of `Verdict`, which are of a request: a drill passes although every request that the
    fault hit failed, if they failed quickly and cleanly and the service recovered. That is not *survived*.
    """

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Symptom(StrEnum):
    NO_RECOVERY = "no-recovery"  # the fault is over, its consequences are not
    NOT_SURVIVED = "not-survived"  # a part that the service should do without took the request down
    HANG = "hang"  # answers come too late or never
    SILENT_LOSS = "silent-loss"  # the user is told that it is done, and it is not
    DUPLICATE = "duplicate"  # done twice
    AMPLIFICATION = "amplification"  # one failure makes many more calls
    WRONG_DATA = "wrong-data"  # a good status with values that are not true


def point_of(service: str, endpoint: str, occurrence: int = 0, peer: str = "") -> Point:
    """An endpoint, as the agent names it, called by this service; 0: any occurrence within a request.

    With a peer, only what goes there, and then occurrences are of these calls.
    """
    component, _, method = endpoint.partition("/")
    api = f"{method} {peer}" if peer else method
    return Point(component, api, caller=service, occurrence=str(occurrence) if occurrence else "")


def endpoint_of(point: Point) -> str:
    """As the agent names it, wherever it goes."""
    return point.endpoint


@dataclass(frozen=True, slots=True, order=True)
class DrillTest:
    flow: str  # the recorded requests that are sent, by their name
    step: int  # which of them carries the fault, from 0
    point: Point  # without an occurrence: every call
    fault: str
    repeatable: bool | None = field(default=None, compare=False)  # what the call sent may be sent twice; None: unknown

    @property
    def id(self) -> str:
        return hashlib.sha256(f"{self.flow}\n{self.step}\n{self.point}\n{self.fault}".encode()).hexdigest()[:8]

    @property
    def endpoint(self) -> str:
        return endpoint_of(self.point)

    @property
    def component(self) -> str:
        return self.point.service

    @property
    def place(self) -> str:
        """The endpoint, with its peer if the test is of one."""
        return f"{self.point.service}/{self.point.api}"

    def is_at(self, operation: "ObservedOperation") -> bool:
        return self.endpoint == operation.endpoint and self.point.peer in ("", operation.peer)

    def __str__(self) -> str:
        return f"{self.fault} at {self.point}"


@dataclass(frozen=True, slots=True)
class ObservedOperation:
    """One call of the service to something else, as the agent reported it."""

    endpoint: str
    occurrence: int
    started_at: float  # seconds since the drill began
    seconds: float
    failed: bool
    fault: str = ""  # that fired at this call
    payload: str = ""  # digest of what was sent
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)  # rows, verb, …

    @property
    def peer(self) -> str:
        return self.facts.get("peer", "")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of the flow: whether all of it went well, and what the request that carries the fault brought about."""

    phase: Phase
    sent_at: float  # seconds since the drill began
    seconds: float  # of its slowest request
    ok: bool  # every request had the status that it had when it was recorded
    status: int = 0  # of the first request that did not go well, else of the one that carries the fault; 0: no answer
    error: str = ""  # why there was no answer
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)
    operations: tuple[ObservedOperation, ...] = ()
    trace_id: str = ""

    def fired(self, fault: str) -> bool:
        return any(fault in operation.fault.split("+") for operation in self.operations)


@dataclass(frozen=True, slots=True)
class Thresholds:
    startup_success: Ratio = 0.95  # below: the service is not healthy, and nothing can be said
    recovery_success: Ratio = 0.9  # of the share at start-up
    latency_factor: Factor = 5.0  # how many times the 95th percentile at start-up the median may be after recovery …
    latency_slack: Pause = 0.25  # … and at least so many seconds more
    recovery_throughput: Ratio = 0.5  # of that at start-up
    recovery_operations: Ratio = 0.5  # calls per run at each endpoint, of those at start-up
    limit_seconds: Seconds | None = None  # an answer that takes longer is none; not given: `limit_for` says
    amplification_factor: Factor = 5.0  # how many times as many calls as at start-up one failure may bring about …
    amplification_floor: Positive = 10  # … if they are more than this
    must_survive: tuple[CalledComponent, ...] = ("cache",)  # what the service should do without

    def limit_for(self, recorded_seconds: float = 0.0) -> float:
        """By default five seconds, or five times as long as the request took when it was recorded."""
        return self.limit_seconds or max(5.0, 5.0 * recorded_seconds)


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, and between which shares the true one lies with 95 % confidence."""

    count: int
    of: int
    low: float
    high: float

    def __str__(self) -> str:
        if not self.of:
            return "none of 0"
        return f"{self.count} of {self.of} ({100 * self.count / self.of:.0f} %, at 95 % {self.low:.0%}–{self.high:.0%})"


@dataclass(frozen=True, slots=True)
class PhaseStatistics:
    phase: Phase
    seconds: float
    success: Share
    fired: int  # runs in which the fault fired
    median: float  # seconds
    p95: float  # seconds
    throughput: float  # good answers per second


@dataclass(frozen=True, slots=True)
class DrillFinding:
    symptom: Symptom
    level: str  # `entry`, or the point at which it was seen, whoever calls there
    what: str
    trace_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrillJudgement:
    verdict: DrillVerdict
    reason: str
    findings: tuple[DrillFinding, ...] = ()
    notes: tuple[str, ...] = ()  # worth knowing, but no failure
    phases: tuple[PhaseStatistics, ...] = ()


@dataclass(frozen=True, slots=True)
class TimelinePoint:
    """A sample as far as pictures need it."""

    phase: Phase
    at: float
    seconds: float
    ok: bool
    fired: bool


@dataclass(frozen=True, slots=True)
class DrillResult:
    test: DrillTest
    judgement: DrillJudgement
    timeline: tuple[TimelinePoint, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillsPlanned:
    """The tests to run, in order, now that the service was asked what it calls."""

    tests: tuple[DrillTest, ...]
    not_repeated: int = 0  # tests that passed lately


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStarted:
    number: int  # 1 for the first start of the run


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan:
    test: DrillTest
    phase: Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillFinished:
    result: DrillResult
    subject: str  # a digest of what was tested: the command, its environment and the flow


DrillEvent = RunStarted | DrillsPlanned | ServiceStarted | PhaseBegan | DrillFinished | RunFinished


def worst_first(results: Iterable[DrillResult]) -> list[DrillResult]:
    order = (DrillVerdict.FAILED, DrillVerdict.UNKNOWN, DrillVerdict.PASSED)
    return sorted(results, key=lambda result: order.index(result.judgement.verdict))


def results_of(events: Iterable[object]) -> list[DrillResult]:
    return [event.result for event in events if isinstance(event, DrillFinished)]


@dataclass(frozen=True, slots=True)
class DrillSession:
    """How far a session is."""

    results: tuple[DrillResult, ...]
    to_do: tuple[DrillTest, ...]  # in order; the first may be under way
    not_repeated: int  # tests that passed lately
    starts: int  # of the service
    phase: Phase | None  # that began last, of the first test to do
    finished: bool


def session_of(events: Iterable[object]) -> DrillSession:
    """By the events of one run, as far as it is."""
    planned, starts, began, finished = DrillsPlanned(tests=()), 0, None, False
    results: list[DrillResult] = []
    for event in events:
        match event:
            case DrillsPlanned():
                planned = event
            case ServiceStarted():
                starts += 1
            case PhaseBegan():
                began = event
            case DrillFinished():
                results.append(event.result)
            case RunFinished():
                finished = not event.reason
    done = {result.test for result in results}
    to_do = tuple(test for test in planned.tests if test not in done)
    phase = began.phase if began and to_do and began.test == to_do[0] else None
    return DrillSession(tuple(results), to_do, planned.not_repeated, starts, phase, finished)
