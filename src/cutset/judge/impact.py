"""What a fault at a rate does to everything upstream, from the events of a run alone (ART §3.4, §4.4).

Differs from ART in what is compared: not before and after, which drift alone tells apart in 7–83 % of runs, but the
requests with the fault and the control at the same time, by user. Analysed as intended: all marked requests of an API
count, whether or not that very one reached the fault. The window before only says what is slow.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from cutset.errors import InputError
from cutset.judge.api_record import ApiRecord, user_of
from cutset.judge.api_verdict import Chances, Terms, describe, judge_api
from cutset.judge.coin import Coin
from cutset.judge.group_balance import balance, is_unequal
from cutset.judge.holm import holm
from cutset.judge.recovery import Aftermath
from cutset.judge.upstream import is_faulted, upstream_of
from cutset.model.fault import BASELINE, Cut, points_of
from cutset.model.impact import (
    ApiImpact,
    Group,
    GuardTripped,
    Impact,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    ObservedRequest,
    RequestsObserved,
    WindowEnded,
    WindowStarted,
)
from cutset.model.point import Point
from cutset.model.run import RunFinished, RunStarted
from cutset.model.wording import count

MOST_NOT_SEEN = 0.02  # of a group's marked requests: what is not seen may be what failed
FEWEST_NOT_SEEN = 3  # one or two are no pattern
FEWEST_UNFIRED = 50  # faults that should have fired by now, had all requests with one reached it
_MARKED = (Group.FAULT, Group.CONTROL)


def impact_of(events: Iterable[ImpactEvent]) -> Impact:
    tally = ImpactTally()
    for event in events:
        tally.add(event)
    return tally.result()


class ImpactTally:
    """Everything that is known so far. A look costs the same however long the run lasts."""

    def __init__(self) -> None:
        self._run = ""
        self._started: ImpactStarted | None = None
        self._cut: Cut = BASELINE
        self._points: Collection[Point] = ()
        self._is_after = False
        self._fault_ended: WindowEnded | None = None  # None: it has not begun, or goes on
        self._guard: GuardTripped | None = None
        self._finished = False
        self._records: dict[Point, ApiRecord] = {}
        self._targets: set[Point] = set()  # those of them that are faulted
        self._callers: set[tuple[Point, Point]] = set()
        self._entries: set[Point] = set()
        self._reaching: set[Point] = set()  # entries of which any request reached the fault
        self._upstream: tuple[tuple[int, int, int], dict[Point, int]] = ((0, 0, 0), {})  # and when it was computed
        self._marked: Counter[Group] = Counter()  # from here on: while there was a fault
        self._not_seen: Counter[Group] = Counter()
        self._faulted = 0
        self._users: set[str] = set()
        self._split = balance()
        self._users_not_seen: set[str] = set()
        self._split_not_seen = Coin(harm_only=False)
        self._others: Counter[Point] = Counter()
        self._others_failed: Counter[Point] = Counter()
        self._aftermath: defaultdict[Point, Aftermath] = defaultdict(Aftermath)

    def add(self, event: ImpactEvent) -> None:
        match event:
            case RunStarted():
                self._run = event.run
            case ImpactStarted():
                self._started, self._cut, self._points = event, event.cut, points_of(event.cut)
            case WindowStarted():
                self._is_after = event.window is ImpactWindow.AFTER
                if event.window is ImpactWindow.DURING:  # the next step of a ramp
                    self._fault_ended = None
            case WindowEnded(window=ImpactWindow.DURING):
                self._fault_ended = event
            case RequestsObserved():
                self._observe(event)
            case GuardTripped():
                self._guard = self._guard or event
            case RunFinished():
                self._finished = True

    def result(self) -> Impact:
        if self._started is None:
            raise InputError(
                f"run `{self._run}` has no event that tells which fault was to be injected",
                hint="Its record is cut short, or it is no run of `cutset impact`",
            )
        judged = self._judged()
        obstacles, losses = tuple(self._obstacles(judged)), tuple(self._losses())
        chances = holm(
            [coin.chance for api in judged for coin in (self._records[api].failures, self._records[api].slowness)]
        )
        terms = Terms(
            self._started.alpha,
            self._started.margin,
            questions=len(chances),
            ended_as_planned=self._ended_as_planned,
            obstacle="; ".join(obstacles),
            lost="; ".join(losses),
            expects_fault=bool(self._points),
        )
        return Impact(
            self._run,
            self._started,
            apis=tuple(
                self._with_surroundings(judge_api(api, self._records[api], Chances(*pair), terms))
                for api, pair in zip(judged, zip(chances[::2], chances[1::2], strict=True), strict=True)
            ),
            target=tuple(
                self._with_surroundings(describe(api, self._records[api], terms)) for api in sorted(self._targets)
            ),
            marked={group: self._marked[group] for group in _MARKED},
            not_seen={group: self._not_seen[group] for group in _MARKED},
            faulted=self._faulted,
            others_failed=(
                sum(self._others_failed[api] for api in self._entries),
                sum(self._others[api] for api in self._entries),
            ),
            callers=tuple(sorted(self._callers)),
            guard=self._guard,
            finished=self._finished,
            problems=obstacles + losses,
        )

    def _observe(self, event: RequestsObserved) -> None:
        for request in event.requests:
            self._follow(request)
            if event.window is ImpactWindow.BEFORE:
                for call in request.calls:
                    self._records[call.api].before.add(request, call, bad=call.failed)
            else:  # in the window after nothing is marked: what is told by then is late
                self._add(request)
        for tally in event.others:
            if event.window is ImpactWindow.BEFORE:
                self._aftermath[tally.api].add_before(tally)
            elif event.window is ImpactWindow.DURING:
                self._others[tally.api] += tally.requests
                self._others_failed[tally.api] += tally.failed
            else:
                self._aftermath[tally.api].add_after(tally, event.at)

    def _follow(self, request: ObservedRequest) -> None:
        """Who calls whom, also in requests without a fault."""
        for call in request.calls:
            if call.api not in self._records:
                self._records[call.api] = ApiRecord()
                if is_faulted(call.api, self._points):
                    self._targets.add(call.api)
        self._callers.update(request.callers)
        if request.entry is None:
            return
        self._entries.add(request.entry)
        if request.entry not in self._reaching and any(call.api in self._targets for call in request.calls):
            self._reaching.add(request.entry)

    def _add(self, request: ObservedRequest) -> None:
        user = user_of(request)
        self._marked[request.group] += 1
        if user not in self._users:
            self._users.add(user)
            self._split.add(request.group)
        if not request.calls:
            self._not_seen[request.group] += 1
            if user not in self._users_not_seen:
                self._users_not_seen.add(user)
                self._split_not_seen.add(request.group)
            return
        faulted = sum(call.faulted for call in request.calls)
        self._faulted += faulted
        for call in request.calls:
            self._records[call.api].add(request, call, fired=faulted > 0)

    def _judged(self) -> list[Point]:
        """The request itself first, then towards the fault. Without any fault all APIs: what chance alone does."""
        known = (len(self._records), len(self._callers), len(self._reaching))
        if known != self._upstream[0]:
            far = len(self._records)  # whoever called the fault, how is not known
            distances = dict.fromkeys(self._reaching if self._points else self._records, far)
            distances |= upstream_of(self._points, self._callers, self._records)
            self._upstream = known, distances
        distances = self._upstream[1]
        return sorted(
            distances.keys() & self._records.keys() - self._targets,
            key=lambda api: (api not in self._entries, -distances[api], api),
        )

    @property
    def _ended_as_planned(self) -> bool:
        ended = self._fault_ended is not None and not self._fault_ended.reason
        return ended and self._guard is None and (self._is_after or self._finished)

    def _obstacles(self, judged: Collection[Point]) -> Iterator[str]:
        """What keeps anybody from telling anything."""
        if is_unequal(self._split):
            yield (
                f"the groups are not of equal size, {count(self._split.fault, 'user')} with the fault and "
                f"{self._split.control:,} of the control: something takes marks of one group away"
            )
        carried, ended = self._marked[Group.FAULT], self._fault_ended is not None
        expected = carried * max((fault.percent for fault in self._cut), default=0) / 100
        if expected and not self._faulted and (ended or expected >= FEWEST_UNFIRED):
            yield f"no fault fired in {count(carried, 'request')} that carried it"
        if self._points and not judged and ended:
            yield "no marked request was seen to call what was to be faulted, or nothing calls it: nothing is upstream"

    def _losses(self) -> Iterator[str]:
        """What keeps APIs from being called resilient: requests that nobody saw may be those that failed."""
        for group in _MARKED:
            lost, marked = self._not_seen[group], self._marked[group]
            if lost >= FEWEST_NOT_SEEN and lost > MOST_NOT_SEEN * marked:
                yield f"{lost:,} of {count(marked, 'marked request')} ({group}) left no span"
        if is_unequal(self._split_not_seen):
            yield (
                f"more requests of one group than of the other left no span: {self._not_seen[Group.FAULT]:,} "
                f"with the fault, {self._not_seen[Group.CONTROL]:,} of the control"
            )

    def _with_surroundings(self, impact: ApiImpact) -> ApiImpact:
        after = self._aftermath.get(impact.api, Aftermath())
        end = self._fault_ended.at if self._fault_ended else 0.0
        return replace(
            impact,
            is_entry=impact.api in self._entries,
            recovered_after=after.seconds_after(end),
            still_off=after.still_off,
        )
