"""The loop of an impact: before, during, after, each event in the ledger before it counts.

ART §3.3 injects for a fixed time and compares afterwards. Here statistics look every second: the window of the fault
ends as soon as every API is decided, a ramp goes on only while nothing speaks against it, and whatever pulls the brake
ends injection at once. However this ends, marking ends first, and then what is known is recorded. An impact that was
cut short is over: it watched traffic that does not come back, so there is nothing to resume.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from cutset.errors import HaltedError
from cutset.guards.brake import Brake
from cutset.guards.vital_signs import VitalSigns
from cutset.impact.agreement import Agreement
from cutset.impact.observe import RequestObserver
from cutset.impact.traffic import MarkedTraffic
from cutset.judge.impact import ImpactTally
from cutset.model.impact import (
    ApiVerdict,
    Group,
    GuardTripped,
    Impact,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    Mark,
    WindowEnded,
    WindowStarted,
)
from cutset.model.run import RunFinished
from cutset.store.ledger import Ledger

NEWS_SECONDS = 1.0  # between two records of what was observed, and looks of statistics at it
LOOKS = 5  # at the brake in that time: whoever marks asks it before every mark anyway
DECIDED_LOOKS = 2  # in a row: what is slow is told of late, and may undo what one look said
DECIDED = "decided"
INTERRUPTED = "interrupted"
CONTROL, TELEMETRY = "control", "telemetry"  # names of guards


async def run_impact(  # noqa: PLR0917 -- no loop needs less
    run: str,
    started: ImpactStarted,
    traffic: MarkedTraffic,
    observer: RequestObserver,
    ledger: Ledger,
    brake: Brake,
    *,
    signs: VitalSigns | None = None,
    stop_when_decided: bool = True,
    clock: Callable[[], float] = time.time,
    news_seconds: float = NEWS_SECONDS,
) -> AsyncGenerator[ImpactEvent, None]:
    """Yields each event after it was recorded, and goes on whether or not anybody takes them.

    Raises HaltedError at the end, if the brake was pulled. `signs` are told what guards watch, but for marks: whoever
    makes those counts them.
    """
    events: asyncio.Queue[ImpactEvent | None] = asyncio.Queue()

    def append(event: ImpactEvent) -> None:
        ledger.append(run, event)
        events.put_nowait(event)

    impact = _Impact(
        started,
        traffic,
        observer,
        brake,
        append,
        clock,
        news_seconds,
        stop_when_decided,
        Agreement(signs or VitalSigns()),
    )
    runner = asyncio.ensure_future(impact.all())
    runner.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await runner
    finally:
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)


@dataclass(slots=True, eq=False)
class _Impact:
    started: ImpactStarted
    traffic: MarkedTraffic
    observer: RequestObserver
    brake: Brake
    append: Callable[[ImpactEvent], None]
    clock: Callable[[], float]
    news_seconds: float
    stop_when_decided: bool
    agreement: Agreement
    tally: ImpactTally = field(default_factory=ImpactTally)
    window: ImpactWindow = ImpactWindow.BEFORE
    is_open: bool = False  # it has begun, and not ended
    is_marking: bool = False
    asked: int = 0
    marked: Counter[Group] = field(default_factory=Counter)  # in this window
    tripped: GuardTripped | None = None
    decided_looks: int = 0

    async def all(self) -> None:
        taking = asyncio.ensure_future(self._take_marks())
        try:
            self._record(self.started)
            await self._watch_before()
            if not await self._is_braked():
                await self._inject()
                await self._watch_after()
            self._record(RunFinished())
        except BaseException as error:
            await self._end_window(INTERRUPTED if isinstance(error, asyncio.CancelledError) else str(error))
            raise
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
        if self.tripped:
            raise HaltedError(
                f"The guard `{self.tripped.guard}` ended injection: {self.tripped.reason}",
                hint="Nothing is left to be undone, and what is known so far is kept",
            )

    async def _watch_before(self) -> None:
        if self.started.seconds[ImpactWindow.BEFORE] and not await self._is_braked():
            # As many are marked as will be: to be asked costs a request the same in all windows.
            await self._begin(ImpactWindow.BEFORE, self.started.shares[0])
            await self._end_window(await self._watch())

    async def _inject(self) -> None:
        reason = ""
        for share in self.started.shares:
            is_last = share == self.started.shares[-1]
            self.agreement.begin_step()
            await self._begin(ImpactWindow.DURING, share)
            reason = await self._watch(self._enough if is_last else self._too_much)
            if self.tripped or is_last:
                break
            if objection := self.agreement.objection(self.tally.result()):
                reason = f"not beyond a share of {100 * share:g} %: {objection}"
                break
        await self._end_window(reason)

    def _enough(self) -> str:
        self.decided_looks = self.decided_looks + 1 if is_decided(self.tally.result()) else 0
        return DECIDED if self.stop_when_decided and self.decided_looks >= DECIDED_LOOKS else ""

    def _too_much(self) -> str:
        """A step of a ramp takes its time, for what a larger share alone does, unless it would hurt in vain."""
        return self._enough() if self.tally.result().verdict is ApiVerdict.AFFECTED else ""

    async def _watch_after(self) -> None:
        """Nothing is marked, everything is watched; what was marked before is waited for."""
        self.window = ImpactWindow.AFTER
        if self.started.seconds[ImpactWindow.AFTER]:
            await self._begin(ImpactWindow.AFTER)
            await self._watch()
            await self._end_window()
        await self.observer.settle()
        while self._record_news():
            pass

    async def _begin(self, window: ImpactWindow, share: float = 0.0) -> None:
        """Again in the next step of a ramp, without an end of the window in between."""
        self.window, self.is_open = window, True
        self._record(WindowStarted(window=window, at=self.clock(), share=share))
        if share:
            self.is_marking = True
            await self.traffic.start(window, share)

    async def _stop_marking(self) -> None:
        if self.is_marking:
            self.asked += await self.traffic.stop()
            self.is_marking = False

    async def _end_window(self, reason: str = "") -> None:
        """First of all nothing is marked any more."""
        await self._stop_marking()
        at = self.clock()
        while not self.traffic.marks.empty():
            self._take(self.traffic.marks.get_nowait())
        if self.is_open:
            self.is_open = False
            marked, self.marked = dict(self.marked), Counter()
            asked, self.asked = self.asked, 0
            self._record(WindowEnded(window=self.window, at=at, marked=marked, asked=asked, reason=reason))
        self._record_news()

    async def _watch(self, enough: Callable[[], str] = lambda: "") -> str:
        """Until the time of the window is up, or why it ends earlier."""
        seconds = self.started.seconds[self.window]
        now = asyncio.get_running_loop().time
        end, news_at = now() + seconds, now() + self.news_seconds
        while (left := end - now()) > 0:
            await asyncio.sleep(min(left, self.news_seconds / LOOKS))
            if self.is_marking and await self._is_braked() and self.tripped:
                return self.tripped.reason
            if now() >= news_at:
                news_at = now() + self.news_seconds
                self._record_news()
                if reason := enough():
                    return reason
        return ""

    async def _is_braked(self) -> bool:
        if self.observer.problem:
            self.brake.pull(TELEMETRY, self.observer.problem)
        if self.agreement.control_worse:
            self.brake.pull(CONTROL, self.agreement.control_worse)
        if self.tripped is None and (tripped := self.brake.pulled):
            self.tripped = tripped
            await self._stop_marking()
            self._record(tripped)
        return self.tripped is not None

    def _record_news(self) -> bool:
        """Whether there were any."""
        news = self.observer.news(self.window, self.clock())
        for event in news:
            self._record(event)
            self.agreement.add(event)
        return bool(news)

    def _record(self, event: ImpactEvent) -> None:
        self.append(event)
        self.tally.add(event)

    async def _take_marks(self) -> None:
        while True:
            self._take(await self.traffic.marks.get())

    def _take(self, mark: Mark) -> None:
        self.marked[mark.group] += 1
        self.observer.expect(mark, self.window)


def is_decided(result: Impact) -> bool:
    """Of every API that is judged, and by a fault that happened."""
    return bool(result.faulted and result.apis) and all(
        each.verdict is not ApiVerdict.CANNOT_TELL for each in result.apis
    )
