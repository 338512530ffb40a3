"""Traffic that we send ourselves, at a rate: the requests of the configuration, or a recording.

Who sends a request can mark it, so that nobody at the edge has to be asked. The load is an open loop: a request is sent
when it is due, however slow the answers to others are, since users do not wait for each other either; a closed one
would hide what a fault does to a system under load. Only when too many are under way some are left out, and counted.

ART §3.3 fails a share of all calls at once and compares with before; here each user is in one group by a coin.
"""

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import cycle

from cutset.errors import HaltedError, TargetError
from cutset.experiment.lifetimes import GRACE_SECONDS, longest_life
from cutset.experiment.trial import Bench, new_trace_id, plan_for, send_planned
from cutset.model.fault import BASELINE, Cut
from cutset.model.impact import Group, ImpactWindow, Mark
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.workload.replay import send_flow
from cutset.workload.templates.template import Template

MOST_UNDER_WAY = 256  # users at once: at 20 per second, as many as come while one waits 10 s for an answer
MOST_BEHIND_SECONDS = 1.0  # that are made up for: more would be a burst, which is no load that anybody asked for
SHARE_BEFORE = 0.5  # of requests that are control before the fault; the others are not marked
FLOW_STEP_SECONDS = 10.0  # for each answer, as `cutset replay` waits

# Asked for the headers of one request right before it is sent: they live for so many seconds.
Give = Callable[[float], Mapping[str, str]]
User = Callable[[Give], Awaitable[object]]  # sends all that one user sends


def requesting(bench: Bench, request: Request, cut: Cut) -> User:
    """A user who makes one request, of any kind, with the steps that must come before it."""

    async def user(give: Give) -> None:
        life = longest_life(request, cut)
        await send_planned(bench, request, lambda: give(life), [], cut)

    return user


def replaying(bench: Bench, template: Template, values: Mapping[str, str], *, seconds: float) -> User:
    """A user who does what somebody was recorded to do: all requests of a flow are in one group."""

    async def user(give: Give) -> None:
        await send_flow(
            bench.client,
            template,
            base_url=bench.url,
            headers=lambda _: give(seconds + GRACE_SECONDS),
            values=values,
            timeout=seconds,
        )

    return user


class DrivenTraffic:
    """Marked traffic, as `impact.traffic` asks for it; `may_mark` is the brake, and `on_mark` the audit log."""

    def __init__(
        self,
        bench: Bench,
        users: Sequence[User],
        cut: Cut,
        *,
        rate: float,  # users per second
        may_mark: Callable[[], bool],
        on_mark: Callable[[Mark], None],
        catalogue: Collection[Point] = (),
        on_note: Callable[[str], None] = lambda _: None,
        coin: Callable[[], float] = random.random,
        parallel: int = MOST_UNDER_WAY,
    ) -> None:
        self.marks: asyncio.Queue[Mark] = asyncio.Queue()
        self.asked = 0  # requests sent since the last stop
        self.left_out = 0  # users who would have come, had not too many been under way
        self._bench, self._cut, self._catalogue = bench, cut, catalogue
        self._coming, self._pause, self._parallel = cycle(users), 1 / rate, parallel
        self._may_mark, self._on_mark, self._on_note, self._coin = may_mark, on_mark, on_note, coin
        self._window: ImpactWindow | None = None
        self._share = 0.0
        self._sending: asyncio.Future[None] | None = None
        self._under_way: set[asyncio.Future[None]] = set()
        self._void: set[str] = set()  # what was told already
        self._problem: BaseException | None = None

    async def start(self, window: ImpactWindow, share: float) -> None:
        self._window, self._share = window, share
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send_at_rate())

    async def stop(self) -> int:
        """Users go on coming, unmarked from now on, as they would at the edge: what the fault leaves behind shows."""
        self._window = None
        if self._problem is not None:
            raise self._problem
        asked, self.asked = self.asked, 0
        return asked

    async def close(self) -> None:
        self._window = None
        tasks = {*self._under_way, *([self._sending] if self._sending else ())}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_at_rate(self) -> None:
        now = asyncio.get_running_loop().time
        due = now()
        for user in self._coming:
            await asyncio.sleep(due - now())
            due = max(due + self._pause, now() - MOST_BEHIND_SECONDS)
            if len(self._under_way) >= self._parallel:
                self.left_out += 1
                continue
            task = asyncio.ensure_future(self._serve(user))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def _serve(self, user: User) -> None:
        name, lot = secrets.token_hex(8), self._coin()
        try:
            await user(lambda seconds: self._headers(name, lot, seconds))
        except TargetError as error:  # of a step before the request, which was then not made
            if error.message not in self._void:
                self._void.add(error.message)
                self._on_note(error.message)
        except Exception as error:  # noqa: BLE001 -- whoever waits for the traffic is told, when it stops
            self._problem = self._problem or error
            self._window = None

    def _headers(self, user: str, lot: float, seconds: float) -> dict[str, str]:
        """Also decides the group, by the user's lot: the brake may have been pulled since the user came."""
        self.asked += 1
        group = self._group(lot)
        if group is Group.OTHERS or not self._may_mark():
            return {}
        mark = Mark(new_trace_id(), secrets.token_hex(8), group, user, time.time())
        cut = self._cut if group is Group.FAULT else BASELINE
        headers = plan_for(self._bench, cut, mark.trace_id, mark.span_id, seconds=seconds, catalogue=self._catalogue)
        try:
            self._on_mark(mark)  # first of all: no injection without a line of the audit log
        except HaltedError:  # the run hears of it from the brake
            return {}
        self.marks.put_nowait(mark)
        return headers

    def _group(self, lot: float) -> Group:
        match self._window:
            case ImpactWindow.BEFORE:
                # Requests that nobody marks tell of the recovery after the fault: they are compared with those here.
                return Group.CONTROL if lot < SHARE_BEFORE else Group.OTHERS
            case ImpactWindow.DURING if lot < 2 * self._share:
                return Group.FAULT if lot < self._share else Group.CONTROL
            case _:
                return Group.OTHERS


@asynccontextmanager
async def driven(traffic: DrivenTraffic) -> AsyncIterator[DrivenTraffic]:
    """Nothing of it is under way after the block."""
    try:
        yield traffic
    finally:
        await traffic.close()
