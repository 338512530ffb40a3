"""What users send anyway, marked at the edge: it asks about a share of requests, and we answer with signed plans.

MicroFI §4.3.1 configures the entry with what to mark; here nothing is configured that could be left behind. To end
marking is to answer nothing any more, which takes no time; that the edge asks no more follows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from cutset.errors import CutsetError, TargetError
from cutset.experiment.trial import Bench
from cutset.inject.local.marking_switch import is_heard, set_share
from cutset.inject.marking.marker import Marker, MarkingOrder
from cutset.inject.marking.service import serve_marker
from cutset.model.effect import EffectKind
from cutset.model.expect import split_address
from cutset.model.fault import Cut
from cutset.model.impact import ImpactStarted, ImpactWindow, Mark
from cutset.model.point import Point
from cutset_agent.wire import MAX_LIFE_SECONDS

LIFE_SECONDS = 5.0  # of a plan, beyond what it delays: calls that a request makes later escape the fault
HEARD_SECONDS = 15.0  # until the edge has to ask: it looks twice a second, and a busy machine more rarely
LOOK_SECONDS = 0.05
RENEWAL_SECONDS = 1.0  # between two looks at what has become known of routes and agents


class AskingEdge(Protocol):
    """Where users enter."""

    async def ask_about(self, share: float) -> None:
        """This share of requests, or of users, for the fault, and as much again for the control; 0: nobody's."""

    async def is_asking(self) -> bool:
        """Whether it has found whom to ask."""


@dataclass(frozen=True, slots=True)
class LocalEdge:
    admin_url: str
    salt: str  # chooses the users: with the same, those of a smaller share are among those of a larger one

    async def ask_about(self, share: float) -> None:
        await set_share(self.admin_url, share, salt=self.salt)

    async def is_asking(self) -> bool:
        return await is_heard(self.admin_url)


@dataclass(slots=True, eq=False)
class LiveTraffic:
    bench: Bench
    started: ImpactStarted
    edge: AskingEdge
    marker: Marker
    apis: Callable[[], Collection[Point]]  # that are known by now: no plan may be mistaken for one that meets them
    marks: asyncio.Queue[Mark] = field(default_factory=asyncio.Queue)
    asked_before: int = 0

    async def start(self, window: ImpactWindow, share: float) -> None:
        self.marker.order = self._order(with_fault=window is ImpactWindow.DURING)
        await self.edge.ask_about(share)
        try:
            async with asyncio.timeout(HEARD_SECONDS):
                # Once the brake is pulled it will not.
                while self.marker.is_marking and not await self.edge.is_asking():  # noqa: ASYNC110 -- it tells nobody
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            raise TargetError(
                f"The edge did not find us within {HEARD_SECONDS:g} s, so that it cannot ask for marks",
                hint="Was the mesh started with this version of Cutset, and is its `marking_port` free for us?",
            ) from None

    async def stop(self) -> int:
        self.marker.order = None
        with suppress(CutsetError):  # an edge that cannot be told is gone, or asks in vain
            await self.edge.ask_about(0.0)
        asked, self.asked_before = self.marker.asked - self.asked_before, self.marker.asked
        return asked

    def renew(self) -> None:
        """With what has become known since: other names of a route, other peers of an agent's call."""
        if (order := self.marker.order) and (renewed := self._order(with_fault=order.with_fault)) != order:
            with suppress(CutsetError):  # a plan that would not fit: the old one holds
                self.marker.order = renewed

    def _order(self, *, with_fault: bool) -> MarkingOrder:
        bench, started = self.bench, self.started
        apis = frozenset(self.apis())
        cut, known = bench.routes.planned(started.cut), bench.routes.known(apis)
        return MarkingOrder(
            cut=bench.replicas.planned(cut) if bench.replicas else cut,
            environment=bench.target.environment,
            carriers=bench.target.carriers,
            life=life_of(started.cut),
            matching=started.matching,
            user=started.user,
            with_fault=with_fault,
            catalogue=bench.replicas.known(known) if bench.replicas else known,
            call_sites=bench.sites.targets(cut, apis),
        )


@asynccontextmanager
async def marking_live(
    bench: Bench,
    started: ImpactStarted,
    edge: AskingEdge,
    *,
    address: str,
    salt: str,
    apis: Callable[[], Collection[Point]],
    may_mark: Callable[[], bool],
    on_mark: Callable[[Mark], None],
) -> AsyncIterator[LiveTraffic]:
    """Answers at the address where the edge asks, until the block ends.

    `salt` decides with the key who is in which group: that of a run is its id. `on_mark` is told of each mark before
    its request goes on; if it raises, there is none.
    """
    marks: asyncio.Queue[Mark] = asyncio.Queue()

    def marked(mark: Mark) -> None:
        on_mark(mark)
        marks.put_nowait(mark)

    marker = Marker(bench.key, salt, may_mark=may_mark, on_mark=marked)
    host, port = split_address(address)
    async with serve_marker(marker, host=host, port=port):
        traffic = LiveTraffic(bench, started, edge, marker, apis, marks)
        renewing = asyncio.ensure_future(_renew(traffic))
        try:
            yield traffic
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await traffic.stop()


async def _renew(traffic: LiveTraffic) -> None:
    while True:
        await asyncio.sleep(RENEWAL_SECONDS)
        traffic.renew()


def life_of(cut: Cut) -> float:
    """Of a plan, in seconds; what is tried again is delayed again."""
    delays = sum(fault.effect.value for fault in cut if fault.effect.kind is EffectKind.DELAY) / 1000
    return min(LIFE_SECONDS + 2 * delays, MAX_LIFE_SECONDS)
