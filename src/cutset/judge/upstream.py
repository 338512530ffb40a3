"""Which APIs are faulted, and which are upstream of them: whoever calls them, and whoever calls those (ART §4.4).

Differs from ART in that not all APIs of an upstream service are upstream, but those that marked requests were seen to
call through. A fault at one caller's calls begins there: `frontend>cart/GetCart` leaves others who call it alone.
"""

from collections.abc import Collection, Iterable

from cutset.model.point import Point

_ANY_API = ("", "*")  # the whole service


def is_faulted(api: Point, points: Iterable[Point]) -> bool:
    return any(_is_at(api, point) for point in points)


def upstream_of(
    points: Collection[Point], callers: Collection[tuple[Point, Point]], apis: Iterable[Point]
) -> dict[Point, int]:
    """How many calls lie between each of these and the fault. `callers`: which API called which."""
    nearest = {
        caller
        for caller, callee in callers
        for point in points
        if _is_at(callee, point) and point.caller in {"", caller.service}
    }
    for point in points:  # nobody tells of its calls: an agent's, inside of a service
        if point.caller and not any(_is_at(callee, point) for _, callee in callers):
            nearest |= {api for api in apis if api.service == point.caller and not api.is_endpoint}
    distances: dict[Point, int] = {}
    distance = 0
    while nearest:
        distance += 1
        distances |= dict.fromkeys(nearest, distance)
        nearest = {caller for caller, callee in callers if callee in nearest and caller not in distances}
    return {api: distance for api, distance in distances.items() if not is_faulted(api, points)}


def _is_at(api: Point, point: Point) -> bool:
    if point.is_endpoint:
        is_there = api.is_endpoint and (api.caller, api.endpoint) == (point.caller, point.endpoint)
        return is_there and (point.peer == api.peer or not point.peer or not api.peer)
    if point.api in _ANY_API:
        return api.service == point.service and not api.is_endpoint
    return api.of_api == point.of_api
