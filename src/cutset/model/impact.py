"""A fault at a rate on a share of requests: what is asked for, what happens, in the order in which it counts.

ART §3.3–3.4 fails a vertex or an edge of a workflow at a rate and compares every upstream URL before and after; MicroFI
§4.3 marks live requests at the entry. Here both: marked requests are two groups of equal size, one with the fault and
one, the *control*, with an empty plan; they differ by a coin and by nothing else. The ledger keeps these events; what
reports say of an impact is computed from them alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cutset.model.fault import Cut
from cutset.model.point import Point
from cutset.model.run import RunFinished, RunStarted


class Group(StrEnum):
    FAULT = "fault"  # marked, with the fault
    CONTROL = "control"  # marked, without a fault
    OTHERS = "others"  # not marked


class ImpactWindow(StrEnum):
    BEFORE = "before"  # all that is marked is control
    DURING = "during"
    AFTER = "after"  # nothing is marked


class TrafficSource(StrEnum):
    LIVE = "live"  # what users send anyway, marked at the edge
    LOAD = "load"  # the requests of the configuration, sent by us
    REPLAY = "replay"  # a recording, sent by us


@dataclass(frozen=True, slots=True)
class UserKey:
    """What tells users apart: one header, or one cookie. None of both: each request is a user of its own."""

    header: str = ""
    cookie: str = ""


@dataclass(frozen=True, slots=True)
class Matching:
    """Which live requests may be marked: all that is said must hold. In a path, `*` or `{name}` is one segment."""

    method: str = ""
    path: str = ""  # without query; `/product/*`; a trailing `/**` stands for all below
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)  # by name in lower case; "": any value
    cookies: Mapping[str, str] = field(default_factory=dict, hash=False)
    query: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """What one request was given. One line of the audit log, written before the request goes on."""

    trace_id: str
    span_id: str  # the parent of the mesh's span of the request itself
    group: Group
    user: str  # a keyed digest, never what was sent
    at: float  # Unix seconds


@dataclass(frozen=True, slots=True)
class ApiCall:
    """What became of one API in one request, with all calls of it."""

    api: Point
    failed: bool  # the last attempt of any call of it was answered badly
    seconds: float  # of its slowest call, from the first attempt to the end of the last
    calls: int = 1
    attempts: int = 1  # of all calls
    faulted: int = 0  # attempts of which the mesh or an agent says that they were


@dataclass(frozen=True, slots=True)
class ObservedRequest:
    """A marked request, as its spans tell. Empty `calls`: no span of it arrived in time."""

    trace_id: str
    group: Group
    user: str
    at: float  # Unix seconds, when it was marked
    entry: Point | None = None  # the API that the user called
    calls: tuple[ApiCall, ...] = ()  # the entry's included
    callers: tuple[tuple[Point, Point], ...] = ()  # which API called which


@dataclass(frozen=True, slots=True)
class Tally:
    """Unmarked requests of one API in one second: nobody's trace is kept."""

    api: Point
    requests: int
    failed: int
    slow: int = 0  # answered well, but slower than the limit of the guard
    seconds: float = 0.0  # of all of them together


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactStarted:
    cut: Cut  # with the rate as each fault's percentage
    traffic: TrafficSource
    shares: tuple[
        float, ...
    ]  # of the requests that match, those with the fault: the steps of the ramp; as many again are control
    seconds: Mapping[ImpactWindow, float] = field(hash=False)  # how long each window is at most; `during`: of each step
    entries: tuple[str, ...] = ()  # requests of the configuration that are sent, if we send them
    matching: Matching = field(default_factory=Matching)
    user: UserKey = field(default_factory=UserKey)
    alpha: float = 0.01  # the chance of any false alarm, over all APIs and all looks together
    margin: float = 0.02  # an increase of failures below this is called resilient
    workflow: int = 0  # of which critical workflow the fault is a part; 0: of none
    by: str = ""  # user@host


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStarted:
    window: ImpactWindow
    at: float  # Unix seconds
    share: float = 0.0  # with the fault; as many again are control


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEnded:
    """Of a window that marks: after this no request was given a fault any more."""

    window: ImpactWindow
    at: float
    marked: Mapping[Group, int] = field(default_factory=dict, hash=False)
    asked: int = 0  # requests that Cutset was asked about, whether or not they matched
    reason: str = ""  # why it ended early: decided, a guard, `cutset halt`, …


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsObserved:
    """What has become known since the last one; about one per second."""

    window: ImpactWindow
    at: float
    requests: tuple[ObservedRequest, ...] = ()
    others: tuple[Tally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardTripped:
    """Nothing is injected any more."""

    guard: str  # its name: `error-rate`, `prometheus`, `url`, `budget`, `hours`, `telemetry`, `halt`, …
    reason: str
    at: float


ImpactEvent = RunStarted | ImpactStarted | WindowStarted | WindowEnded | RequestsObserved | GuardTripped | RunFinished


class ApiVerdict(StrEnum):
    AFFECTED = "affected"
    RESILIENT = "resilient"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ApiSample:
    """One API in one window and one group."""

    requests: int = 0  # in which it was called
    failed: int = 0
    users: int = 0
    seconds: Mapping[str, float] = field(
        default_factory=dict, hash=False
    )  # p50, p95, p99; failed ones are infinitely slow
    attempts: float = 0.0  # per request, on average: more than in the control is amplification
    failed_traces: tuple[str, ...] = ()  # the first of them

    @property
    def success_rate(self) -> float:
        return 1 - self.failed / self.requests if self.requests else 1.0


@dataclass(frozen=True, slots=True)
class ApiImpact:
    """What the fault does to one API of one upstream service, or to the request itself."""

    api: Point
    verdict: ApiVerdict
    reason: str  # in words, with the numbers that decide
    before: ApiSample
    fault: ApiSample
    control: ApiSample
    difference: float = 0.0  # of the failure rates, fault less control
    at_any_time: Interval = Interval(-1.0, 1.0)  # covers the truth at every look
    at_end: Interval | None = None  # narrower; only where the end was planned, not chosen by what was seen
    chance: float = 1.0  # always-valid p, adjusted for the number of APIs (Holm)
    slower: Interval | None = None  # of the p95, in seconds, fault less control
    slow_chance: float = 1.0  # as `chance`, for "slow or failed"
    more_requests: int = 0  # in each group would probably decide, if it cannot be told
    recovered_after: float | None = None  # seconds after the last fault; None: was never off, or is not well yet
    still_off: bool = False  # at the end of the window after
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class Impact:
    """All that is known of one run."""

    run: str
    started: ImpactStarted
    apis: tuple[ApiImpact, ...]  # the request itself first, then upstream APIs towards the fault
    target: tuple[ApiImpact, ...] = ()  # the faulted APIs themselves: not judged
    marked: Mapping[Group, int] = field(default_factory=dict, hash=False)
    not_seen: Mapping[Group, int] = field(default_factory=dict, hash=False)  # marked, but no span arrived
    faulted: int = 0  # attempts that were faulted, by the word of the mesh or of agents
    others_failed: tuple[int, int] = (0, 0)  # unmarked requests of the entry that failed during the fault, of how many
    callers: tuple[tuple[Point, Point], ...] = ()
    guard: GuardTripped | None = None
    finished: bool = False
    problems: tuple[
        str, ...
    ] = ()  # what keeps this from being believed: groups of unequal size, lost spans, no fault fired

    @property
    def verdict(self) -> ApiVerdict:
        """The worst that is known of any API that is judged."""
        verdicts = {each.verdict for each in self.apis} or {ApiVerdict.CANNOT_TELL}
        order = (ApiVerdict.AFFECTED, ApiVerdict.CANNOT_TELL, ApiVerdict.RESILIENT)
        return next(verdict for verdict in order if verdict in verdicts)
