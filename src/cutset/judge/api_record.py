"""What is known of one API: its requests before the fault, with it, and of the control meanwhile, added one by one.

Everything that a verdict needs is a sum, or kept in order: a look costs the same after ten requests and after 20,000.
"""

from bisect import insort
from dataclasses import dataclass, field
from math import inf

from cutset.judge.coin import Coin
from cutset.judge.quantile_interval import has_quantile, quantile_of
from cutset.judge.user_sums import UserSums
from cutset.model.impact import ApiCall, ApiSample, Group, ObservedRequest

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
FAILED_TRACES = 10  # of each API and group: to look at, not to count
# Slow is what takes longer than 99 % of requests before the fault, and notably so: half as long again, and a tenth of a
# second more, which is about what people notice. A retry that goes well stays below.
SLOW_RANK = 0.99
SLOW_FACTOR = 1.5
SLOW_SLACK = 0.1  # seconds
FEWEST_FOR_SLOW = 100  # requests that went well: among fewer the slowest would decide


@dataclass(slots=True)
class GroupRecord:
    """One API in one window and one group."""

    failed: UserSums = field(default_factory=UserSums)
    slow_or_failed: UserSums = field(default_factory=UserSums)
    requests_of: dict[str, int] = field(default_factory=dict)  # by user
    seconds: list[float] = field(default_factory=list)  # in order; failed ones are infinitely slow
    attempts: int = 0
    failed_traces: list[str] = field(default_factory=list)

    def add(self, request: ObservedRequest, call: ApiCall, *, bad: bool) -> None:
        user = user_of(request)
        earlier = self.requests_of.get(user, 0)
        self.requests_of[user] = earlier + 1
        self.failed.add(user, earlier, bad=call.failed)
        self.slow_or_failed.add(user, earlier, bad=bad)
        insort(self.seconds, inf if call.failed else call.seconds)
        self.attempts += call.attempts
        if call.failed and len(self.failed_traces) < FAILED_TRACES:
            self.failed_traces.append(request.trace_id)

    @property
    def slow_limit(self) -> float | None:
        """In seconds; None: too few requests went well to tell."""
        well = self.failed.requests - self.failed.bad
        if well < FEWEST_FOR_SLOW:
            return None
        usual = self.seconds[int(SLOW_RANK * well)]
        return max(SLOW_FACTOR * usual, usual + SLOW_SLACK)

    def sample(self) -> ApiSample:
        return ApiSample(
            requests=self.failed.requests,
            failed=self.failed.bad,
            users=self.failed.users,
            seconds={
                name: quantile_of(self.seconds, rank)
                for name, rank in QUANTILES.items()
                if has_quantile(self.seconds, rank)
            },
            attempts=self.attempts / self.failed.requests if self.failed.requests else 0.0,
            failed_traces=tuple(self.failed_traces),
        )


@dataclass(slots=True)
class ApiRecord:
    before: GroupRecord = field(default_factory=GroupRecord)
    fault: GroupRecord = field(default_factory=GroupRecord)
    control: GroupRecord = field(default_factory=GroupRecord)
    failures: Coin = field(default_factory=Coin)
    slowness: Coin = field(default_factory=Coin)  # or failures
    slow_limit: float | None = None  # seconds; what is told after it is known counts
    fired: int = 0  # requests of the fault group in which it was called, and a fault fired anywhere

    def add(self, request: ObservedRequest, call: ApiCall, *, fired: bool) -> None:
        if self.slow_limit is None:  # by what is known up to here: it must not depend on this very request
            self.slow_limit = self.before.slow_limit or self.control.slow_limit
        bad = call.failed or (self.slow_limit is not None and call.seconds > self.slow_limit)
        user = user_of(request)
        if call.failed and not self._has_any(user, self.fault.failed, self.control.failed):
            self.failures.add(request.group)
        if bad and not self._has_any(user, self.fault.slow_or_failed, self.control.slow_or_failed):
            self.slowness.add(request.group)
        if request.group is Group.FAULT:
            self.fired += fired
            self.fault.add(request, call, bad=bad)
        else:
            self.control.add(request, call, bad=bad)

    @staticmethod
    def _has_any(user: str, *sums: UserSums) -> bool:
        return any(user in each.bad_of for each in sums)


def user_of(request: ObservedRequest) -> str:
    """Who is not told apart is a user of one request."""
    return request.user or request.trace_id
