"""Which APIs come first: the inputs of APIRank, and the two rankings that MicroFI §6.4 compares it with."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from cutset.model.call_tree import UNKNOWN_CALLER, CallTree, calls_inside, gathering, occurrences
from cutset.model.point import Point
from cutset.select.api_rank import Preference, TraceKind, api_rank


class Ranking(StrEnum):
    API_RANK = "api-rank"
    STATIC = "static"
    DYNAMIC = "dynamic"


def rankings(kinds: Mapping[CallTree, int], preference: Preference) -> dict[Ranking, dict[Point, float]]:
    """The score of each API, by each of them."""
    callers = occurrences(kinds, calls_inside)
    return {
        Ranking.API_RANK: api_rank_of(kinds, preference),
        Ranking.STATIC: static_rank(callers),
        Ranking.DYNAMIC: dynamic_rank(callers),
    }


def api_rank_of(kinds: Mapping[CallTree, int], preference: Preference = Preference.UNIFORM) -> dict[Point, float]:
    points, traces = trace_kinds(kinds)
    return {points[number]: score for number, score in api_rank(traces, preference=preference).items()}


def trace_kinds(kinds: Mapping[CallTree, int]) -> tuple[list[Point], list[TraceKind[int]]]:
    """For APIRank, which looks at which APIs call which, not how often: sorted points, and traces by their numbers.

    The request itself is no API: it is no candidate for a fault. The paper's example counts it as one. A call of an
    unknown caller is a call of its API, and an edge of none.
    """
    points = sorted({UNKNOWN_CALLER, *(call.point for call in occurrences(kinds, calls_inside))})
    number = {point: position for position, point in enumerate(points)}

    def edges(caller: CallTree) -> list[tuple[int, int]]:
        calling, nobody = number[caller.point], number[UNKNOWN_CALLER]
        known = [(calling, number[callee.point]) for callee in caller.calls]
        return [*known, *((nobody, number[orphan.point]) for orphan in caller.known_orphans)]

    edges_of = gathering(edges, calls_inside)
    seen: Counter[frozenset[tuple[int, int]]] = Counter()
    for tree, traces in kinds.items():
        seen[edges_of(tree)] += traces
    found: Counter[tuple[frozenset[int], frozenset[tuple[int, int]]]] = Counter()  # without the request's own calls
    for calls, traces in seen.items():
        apis = frozenset([callee for _, callee in calls])
        found[apis, calls.difference([call for call in calls if call[0] not in apis])] += traces
    return points, [TraceKind(apis, calls, traces) for (apis, calls), traces in found.items() if apis]


def static_rank(callers: Iterable[CallTree]) -> dict[Point, float]:
    """*Static*: APIs that more others call come first."""
    found: dict[Point, set[Point]] = {}
    for caller in callers:
        for callee in caller.calls:
            found.setdefault(callee.point, set()).update({caller.point} - {callee.point})
        for orphan in caller.known_orphans:
            found.setdefault(orphan.point, set())
    return _scaled({api: len(of_api) for api, of_api in found.items()})


def dynamic_rank(callers: Mapping[CallTree, int]) -> dict[Point, float]:
    """*Dynamic*: APIs that are called more often come first. `callers` are all calls, with how often each was made."""
    times: Counter[Point] = Counter()
    for caller, made in callers.items():
        for callee in (*caller.calls, *caller.known_orphans):
            times[callee.point] += made
    return _scaled(times)


def _scaled(scores: Mapping[Point, int]) -> dict[Point, float]:
    highest = max(scores.values(), default=1) or 1
    return {api: score / highest for api, score in scores.items()}
