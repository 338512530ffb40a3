"""APIs by the routes that services tell of, and the names by which sidecars know them, which plans must use.

`GET /users/alice` and `GET /users/bob` of a service that calls both `/users/{name}` are one point, `GET /users/*`, and
a fault at it is planned for each name that was seen. One that was not seen yet escapes the plan: the trial then proves
nothing, and the next one knows it. The first trace with a name decides what it is called, so that points stay the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cutset.lineage.calls import ROUTE, is_mesh_span, sidecar_api
from cutset.lineage.routes import ApiNames, names_by_route
from cutset.model.fault import Cut
from cutset.model.point import Point
from cutset.model.span import Span

MOST_NAMES = 30  # of one API: a plan has room for some 50 targets of each effect


@dataclass(slots=True)
class RouteNames:
    _names: ApiNames = field(default_factory=dict)

    def learn(self, spans: Sequence[Span]) -> None:
        """From a whole trace."""
        routed = names_by_route(spans)
        for span in filter(is_mesh_span, spans):
            key = (str(span.attributes["cutset.service"]), sidecar_api(span))
            self._names.setdefault(key, routed.get(key, key[1]))

    def seen(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(self._routed(span) for span in spans)

    def planned(self, cut: Cut) -> Cut:
        """As sidecars know their APIs. The caller's own side of a call is for its agent, which knows no routes."""
        return frozenset(replace(fault, point=point) for fault in cut for point in self._points(fault.point))

    def known(self, points: Iterable[Point]) -> frozenset[Point]:
        return frozenset(each for point in points for each in self._points(point))

    def _points(self, point: Point) -> list[Point]:
        if point.caller:
            return [point]
        wanted = (point.service, point.api)
        alike = [own for (service, own), name in self._names.items() if (service, name) == wanted]
        # The last ones seen are those that requests of now make.
        return [replace(point, api=each) for each in alike[-MOST_NAMES:]] or [point]

    def _routed(self, span: Span) -> Span:
        if not is_mesh_span(span):
            return span
        name = self._names.get((str(span.attributes["cutset.service"]), sidecar_api(span)))
        return replace(span, attributes={**span.attributes, ROUTE: name}) if name else span
