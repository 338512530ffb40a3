"""What a run sees, as guards ask for it. Its loop tells, guards read, in the same thread."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

BUCKET_SECONDS = 1.0  # what is counted together


@dataclass(slots=True)
class Answers:
    """Requests without a fault, of some time."""

    requests: int = 0
    failed: int = 0
    slow: int = 0  # answered well, but not in time


class VitalSigns:
    def __init__(
        self, *, over: float = 30.0, latency: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`over`: for how many seconds answers are remembered; `latency`: seconds after which one is slow."""
        self.marked = 0  # requests that were given a plan
        self.failed = 0  # of those with a fault
        self.waiting_since: float | None = None  # the first mark after the last span
        self._over = over
        self._latency = latency
        self._clock = clock
        self._answers: deque[tuple[float, Answers]] = deque()

    def mark(self) -> None:
        self.marked += 1
        if self.waiting_since is None:
            self.waiting_since = self._clock()

    def span_arrived(self) -> None:
        self.waiting_since = None

    def answered_with_fault(self, *, failed: bool) -> None:
        self.failed += failed

    def answered(self, *, failed: bool, seconds: float) -> None:
        """A request without a fault: of control, or of nobody's concern."""
        self.counted(1, int(failed), int(not failed and bool(self._latency) and seconds > (self._latency or 0.0)))

    def counted(self, requests: int, failed: int, slow: int = 0) -> None:
        """The same of many."""
        now = self._clock()
        if not self._answers or now - self._answers[-1][0] >= BUCKET_SECONDS:
            self._answers.append((now, Answers()))
        last = self._answers[-1][1]
        last.requests, last.failed, last.slow = last.requests + requests, last.failed + failed, last.slow + slow
        self._forget(now)

    def lately(self) -> Answers:
        self._forget(self._clock())
        kept = [each for _, each in self._answers]
        return Answers(
            sum(each.requests for each in kept), sum(each.failed for each in kept), sum(each.slow for each in kept)
        )

    def silence(self) -> float:
        """Seconds for which marked requests wait for any span at all."""
        return 0.0 if self.waiting_since is None else self._clock() - self.waiting_since

    def _forget(self, now: float) -> None:
        while self._answers and now - self._answers[0][0] > self._over:
            self._answers.popleft()
