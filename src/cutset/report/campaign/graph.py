"""The services of a campaign and their points, what calls what, and how each point matters to a request.

A box is a service, a data store, a broker or a host elsewhere; its rows are the points there. Left of all is what users
ask for. Lines are the calls that traces showed: where nothing fails, or only where something does.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cutset.errors import InputError
from cutset.model.call_tree import Component
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import Cut, points_of
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.model.summary import CampaignSummary, RequestSummary, summarise
from cutset.report.campaign.significance import LEGEND, Bearing, Significance, bearings_of, worst
from cutset.report.campaign.terminal import describe_cut
from cutset.report.drawing.point_graph import (
    Marks,
    PlacedGraph,
    PointBox,
    PointGraph,
    PointLine,
    PointRow,
    RowAt,
    RowMark,
    place,
    point_graph_svg,
)

REQUESTS = "Requests"  # the box that stands for users
MOST_BOXES = 40  # of a picture that nobody can zoom into
_COMPONENTS = {"db": Component.DATABASE, "cache": Component.CACHE, "mq": Component.QUEUE}
_SERVICE = Component.RPC  # what any service is drawn as

_Place = tuple[str, Component]  # name and kind of a box
_OutsideCall = tuple[str, str]  # a call that is no point, and where it went
_Calls = frozenset[tuple[str, Point]]  # each with the API that makes it; empty: the one that the request is for


@dataclass(frozen=True, slots=True)
class RequestInGraph:
    bearings: Mapping[RowAt, Bearing]  # of what it calls
    healthy: frozenset[PointLine]
    spare: frozenset[PointLine]


@dataclass(frozen=True, slots=True)
class CampaignGraph:
    placed: PlacedGraph
    points: Mapping[Point, RowAt]
    entries: Mapping[str, RowAt]  # by name of the request
    requests: Mapping[str, RequestInGraph]

    def bearings(self, request: str = "") -> dict[RowAt, Bearing]:
        """Of each row on this request, or on that which it is worst for."""
        if request:
            others = dict.fromkeys(self.points.values(), Bearing(Significance.NOT_CALLED))
            return others | dict(self.requests[request].bearings)
        told: dict[RowAt, dict[str, Bearing]] = defaultdict(dict)
        for name, of_request in self.requests.items():
            for at, bearing in of_request.bearings.items():
                told[at][name] = bearing
        return {at: worst(each) for at, each in told.items()}


def campaign_graph(events: Sequence[CampaignEvent], summary: CampaignSummary | None = None) -> CampaignGraph:
    requests = {request.name: request for request in (summary or summarise(events)).requests}
    return _graph(requests, events)


def marks_of(
    graph: CampaignGraph, request: str = "", cut: Cut = frozenset(), said: Mapping[str, RowMark] | None = None
) -> Marks:
    """For one request, or for all; `said` is what becomes of requests with the cut."""
    bearings = graph.bearings(request)
    shown = [graph.requests[request]] if request else list(graph.requests.values())
    healthy = frozenset[PointLine]().union(*(each.healthy for each in shown))
    faded = {at for at, bearing in bearings.items() if bearing.significance is Significance.NOT_CALLED}
    return Marks(
        rows={at: RowMark(each.significance, each.sign, each.words) for at, each in bearings.items()}
        | {graph.entries[name]: mark for name, mark in (said or {}).items()},
        failing={graph.points[point] for point in points_of(cut) if point in graph.points},
        healthy=healthy,
        spare=frozenset[PointLine]().union(*(each.spare for each in shown)) - healthy,
        faded=faded | {at for name, at in graph.entries.items() if request not in ("", name)},
        chosen=graph.entries.get(request),
        legend={each.value: words for each, words in LEGEND.items()},
    )


def cut_picture(campaign_events: Sequence[CampaignEvent], request: str, cut: Cut) -> str:
    """An SVG of what the request calls, the points of the cut as broken. Of many services, those on the way to them."""
    events = [event for event in campaign_events if _is_of(event, request)]
    requests = {each.name: each for each in summarise(events).requests if each.name == request}
    graph = _graph(requests, events, also=points_of(cut))
    if len(graph.placed.graph.boxes) > MOST_BOXES:
        graph = _on_the_way(graph, [graph.points[point] for point in points_of(cut)])
    title = f"{request} with {describe_cut(cut) or 'nothing'} failing"
    return point_graph_svg(graph.placed, marks_of(graph, request if requests else "", cut), title=title)


def _is_of(event: CampaignEvent, request: str) -> bool:
    if isinstance(event, RequestAudited | ExperimentFinished | RequestFinished):
        return event.request == request
    return isinstance(event, CampaignStarted | RunFinished)


def _graph(
    requests: Mapping[str, RequestSummary], events: Iterable[CampaignEvent], *, also: Collection[Point] = ()
) -> CampaignGraph:
    healthy, spare = _calls_seen(requests, events)
    bearings = {name: bearings_of(request) for name, request in requests.items()}
    calls = [call for seen in (*healthy.values(), *spare.values()) for call in seen]
    points = {*also, *(point for each in bearings.values() for point in each), *(point for _, point in calls)}
    known = {str(point.of_api) for point in points}
    outside = {
        (each.call, each.address): each
        for request in requests.values()
        for each in request.uncoverable
        if each.call not in known and each.why is not OutOfReach.UNTOLD
    }
    rows = _rows(points, outside, {caller for caller, _ in calls})
    entry = PointBox(REQUESTS, Component.UNKNOWN, tuple(PointRow(name, name) for name in requests), entry=True)
    boxes = [PointBox(name, kind, tuple(row for _, row in own)) for (name, kind), own in rows.items()]
    at = {key: RowAt(box, row) for box, own in enumerate(rows.values(), 1) for row, (key, _) in enumerate(own)}
    ends = _Ends(
        {key: each for key, each in at.items() if isinstance(key, Point)},
        {key: each for key, each in at.items() if not isinstance(key, Point)},
        {name: RowAt(box) for box, (name, kind) in enumerate(rows, 1) if kind is _SERVICE},
        {name: RowAt(0, row) for row, name in enumerate(requests)},
    )
    found = {
        name: ends.in_graph(request, bearings[name], healthy[name], spare[name]) for name, request in requests.items()
    }
    lines = sorted({line for each in found.values() for line in each.healthy | each.spare})
    return CampaignGraph(place(PointGraph((entry, *boxes), tuple(lines))), ends.points, ends.entries, found)


def _calls_seen(
    requests: Mapping[str, RequestSummary], events: Iterable[CampaignEvent]
) -> tuple[dict[str, _Calls], dict[str, _Calls]]:
    """By request, those that are made where nothing fails, and the others."""
    healthy: dict[str, set[tuple[str, Point]]] = {name: set() for name in requests}
    found: dict[str, set[tuple[str, Point]]] = {name: set() for name in requests}
    for event in events:
        match event:
            case RequestAudited(request=name, runs=runs, edges=edges) if name in requests:
                at_api: dict[Point, list[Point]] = defaultdict(list)  # edges do not tell replicas apart
                for point in requests[name].calls:
                    at_api[point.of_api].append(point)
                healthy[name] = {(call.caller, call.point) for run in runs for call in run.seen}
                healthy[name] |= {(str(caller), point) for caller, callee in edges for point in at_api[callee.of_api]}
            case ExperimentFinished(request=name, outcome=outcome) if name in requests:
                found[name].update((call.caller, call.point) for call in (*outcome.seen, *outcome.met))
    return (
        {name: frozenset(calls) for name, calls in healthy.items()},
        {name: frozenset(calls - healthy[name]) for name, calls in found.items()},
    )


def _rows(
    points: Collection[Point], outside: Mapping[_OutsideCall, Uncoverable], callers: Iterable[str]
) -> dict[_Place, list[tuple[Point | _OutsideCall, PointRow]]]:
    """By box. Who calls has one, also if nothing is known to call it."""
    services = {point.service for point in points if not point.is_endpoint}
    services |= {point.caller for point in points} | {each.caller for each in outside.values()}
    services |= {point.service for caller in callers if (point := _api(caller))}
    rows: dict[_Place, list[tuple[Point | _OutsideCall, PointRow]]] = {
        (name, _SERVICE): [] for name in sorted(services) if name
    }
    for point in sorted(points, key=lambda each: (_label(each), each)):
        rows.setdefault(_place_of(point, services), []).append((point, PointRow(str(point), _label(point))))
    for call, each in sorted(outside.items()):
        kind = Component.DATABASE if each.why is OutOfReach.DATA_STORE else Component.HTTP
        row = PointRow(each.call, each.call, is_button=False)
        rows.setdefault((each.address or each.call, kind), []).append((call, row))
    return rows


def _place_of(point: Point, services: Collection[str]) -> _Place:
    """An endpoint is where its calls go, as far as its caller's agent knows."""
    if not point.is_endpoint:
        return point.service, _SERVICE
    if point.is_store:
        framework = point.api.partition("/")[0]
        return point.peer or f"{framework} of {point.caller}", _COMPONENTS[point.service]
    if point.peer in services:
        return point.peer, _SERVICE
    return point.peer or f"elsewhere, by {point.caller}", Component.HTTP


def _label(point: Point) -> str:
    name = point.endpoint.partition("/")[2].partition("/")[2] if point.is_endpoint else point.api
    replica = f" #{point.replica}" if point.replica else ""
    occurrence = f" @{point.occurrence}" if point.occurrence else ""
    return f"{name}{replica}{occurrence}{f' ← {point.caller}' if point.caller else ''}"


def _api(text: str) -> Point | None:
    """Whoever makes a call is told as text, which may be anything."""
    with suppress(InputError):
        return Point.parse(text).of_api
    return None


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where lines begin and end."""

    points: Mapping[Point, RowAt]
    outside: Mapping[_OutsideCall, RowAt]
    services: Mapping[str, RowAt]
    entries: Mapping[str, RowAt]

    def in_graph(
        self, request: RequestSummary, bearings: Mapping[Point, Bearing], healthy: _Calls, spare: _Calls
    ) -> RequestInGraph:
        entry = self.entries[request.name]
        usual = {PointLine(self._caller(caller, entry), self.points[point]) for caller, point in healthy}
        others = {PointLine(self._caller(caller, entry), self.points[point]) for caller, point in spare}
        reached = {line.callee for line in usual | others}
        callers = {each.call: each.caller for each in request.uncoverable}
        for point in bearings:
            if self.points[point] not in reached:  # no trace shows who calls it
                caller = point.caller or callers.get(str(point.of_api), "")
                usual.add(PointLine(self.services.get(caller, entry), self.points[point]))
        told = {self.points[point]: bearing for point, bearing in bearings.items()}
        for each in request.uncoverable:
            if (at := self.outside.get((each.call, each.address))) is not None:
                usual.add(PointLine(self.services.get(each.caller, entry), at))
                told[at] = Bearing(Significance.NOT_COVERABLE, why=each.reason)
        return RequestInGraph(told, frozenset(usual), frozenset(others - usual))

    def _caller(self, text: str, entry: RowAt) -> RowAt:
        if not text or (api := _api(text)) is None:
            return entry
        return self.points.get(api) or self.services[api.service]


def _on_the_way(graph: CampaignGraph, wanted: Collection[RowAt]) -> CampaignGraph:
    """Only the boxes that calls of these rows come by."""
    lines = graph.placed.graph.lines
    kept = {0, *(at.box for at in wanted)}
    while more := {line.caller.box for line in lines if line.callee.box in kept} - kept:
        kept |= more
    number = {old: new for new, old in enumerate(sorted(kept))}

    def moved(at: RowAt) -> RowAt:
        return at._replace(box=number[at.box])

    def left(found: Iterable[PointLine]) -> list[PointLine]:
        return [
            PointLine(moved(line.caller), moved(line.callee))
            for line in found
            if line.caller.box in kept and line.callee.box in kept
        ]

    boxes = tuple(graph.placed.graph.boxes[old] for old in sorted(kept))
    return CampaignGraph(
        place(PointGraph(boxes, tuple(left(lines)))),
        {point: moved(at) for point, at in graph.points.items() if at.box in kept},
        graph.entries,
        {
            name: RequestInGraph(
                {moved(at): bearing for at, bearing in each.bearings.items() if at.box in kept},
                frozenset(left(each.healthy)),
                frozenset(left(each.spare)),
            )
            for name, each in graph.requests.items()
        },
    )
