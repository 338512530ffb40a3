"""What is known of one API over time: requests, failures and latencies of each group in columns of equal width.

A column is as narrow as it can be with some requests of each marked group in it on average, so that one failure does
not look like a disaster. None reaches from one window into the next.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cutset.model.impact import (
    Group,
    GuardTripped,
    ImpactEvent,
    ImpactWindow,
    RequestsObserved,
    WindowEnded,
    WindowStarted,
)
from cutset.model.point import Point

STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_200, 3_600, 21_600, 86_400)  # seconds that a column may be wide
MOST_COLUMNS, FEWEST_COLUMNS = 60, 8
ENOUGH = 10  # requests of a group in a column on average


@dataclass(slots=True)
class Column:
    """What one group did in some seconds."""

    requests: int = 0
    failed: int = 0
    seconds: list[float] = field(default_factory=list)  # of good answers; those of unmarked requests nobody keeps

    @property
    def rate(self) -> float:
        return 1 - self.failed / self.requests


@dataclass(frozen=True, slots=True)
class WindowSpan:
    window: ImpactWindow
    share: float
    start: float  # seconds since the beginning
    end: float


@dataclass(frozen=True, slots=True)
class ImpactTimeline:
    """Of one API."""

    api: Point
    windows: tuple[WindowSpan, ...]
    end: float  # seconds since the beginning
    edges: tuple[float, ...]  # where columns begin, and the end of the last: seconds since the beginning
    columns: Mapping[Group, Mapping[int, Column]]  # by group and number; only those in which there are requests
    guard: str = ""  # what stopped it
    stopped_at: float = 0.0  # seconds since the beginning


class _Seen(NamedTuple):
    group: Group
    at: float  # Unix seconds
    requests: int
    failed: int
    seconds: float | None


def impact_timelines(apis: Iterable[Point], events: Sequence[ImpactEvent]) -> list[ImpactTimeline]:
    """Of those APIs of which something was seen, in the events of one run."""
    spans = _windows(events)
    if not spans:
        return []
    begin, end = spans[0].start, spans[-1].end - spans[0].start
    windows = tuple(WindowSpan(each.window, each.share, each.start - begin, each.end - begin) for each in spans)
    tripped = next((event for event in events if isinstance(event, GuardTripped)), None)
    guard, stopped_at = (tripped.guard, tripped.at - begin) if tripped else ("", 0.0)
    by_api: dict[Point, list[_Seen]] = defaultdict(list)
    for api, seen in _all_seen(events):
        by_api[api].append(seen)
    timelines = []
    for api in apis:
        if everything := by_api.get(api):
            step = _step(end, sum(seen.group is not Group.OTHERS for seen in everything))
            edges = _edges(windows, step)
            columns = _columns(everything, begin, edges)
            timelines.append(ImpactTimeline(api, windows, end, edges, columns, guard, stopped_at))
    return timelines


def _all_seen(events: Iterable[ImpactEvent]) -> Iterator[tuple[Point, _Seen]]:
    for event in events:
        if not isinstance(event, RequestsObserved):
            continue
        for request in event.requests:
            for call in request.calls:
                seconds = None if call.failed else call.seconds
                yield call.api, _Seen(request.group, request.at, 1, int(call.failed), seconds)
        for tally in event.others:
            if tally.requests:  # of the second that ended just now
                yield tally.api, _Seen(Group.OTHERS, event.at - 0.5, tally.requests, tally.failed, None)


def _windows(events: Sequence[ImpactEvent]) -> list[WindowSpan]:
    """In Unix seconds. One that has no end lasts until the next, or as long as something is known of it."""
    spans: list[WindowSpan] = []
    open_until = 0.0
    for event in events:
        match event:
            case WindowStarted():
                if spans and open_until:
                    spans[-1] = replace(spans[-1], end=event.at)
                spans.append(WindowSpan(event.window, event.share, event.at, event.at + 1))
                open_until = event.at + 1
            case WindowEnded() if spans:
                spans[-1] = replace(spans[-1], end=event.at)
                open_until = 0.0
            case RequestsObserved():
                open_until = open_until and max(open_until, event.at)
    if spans and open_until:
        spans[-1] = replace(spans[-1], end=open_until)
    return spans


def _step(seconds: float, marked: int) -> int:
    wanted = min(MOST_COLUMNS, max(FEWEST_COLUMNS, marked / (2 * ENOUGH)))
    return next((step for step in STEPS if seconds / step <= wanted), STEPS[-1])


def _edges(windows: Sequence[WindowSpan], step: int) -> tuple[float, ...]:
    """Of each window as many columns as come closest to the step."""
    edges = [0.0]
    for span in windows:
        start = edges[-1]
        number = max(1, round((span.end - start) / step))
        edges += [start + (span.end - start) * (each + 1) / number for each in range(number)]
    return tuple(edges)


def _columns(everything: Iterable[_Seen], begin: float, edges: Sequence[float]) -> dict[Group, dict[int, Column]]:
    columns: dict[Group, dict[int, Column]] = {group: {} for group in Group}
    for seen in everything:
        number = min(len(edges) - 2, max(0, bisect_right(edges, seen.at - begin) - 1))
        column = columns[seen.group].setdefault(number, Column())
        column.requests += seen.requests
        column.failed += seen.failed
        if seen.seconds is not None:
            column.seconds.append(seen.seconds)
    return columns
