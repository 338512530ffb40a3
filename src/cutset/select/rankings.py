"""Which APIs come first: the inputs of APIRank, and the two rankings that MicroFI §6.4 compares it with."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from cutset.model.call_tree import CallTree, occurrences, without_repeats
from cutset.model.point import Point
from cutset.select.api_rank import Preference, TraceKind, api_rank


class Ranking(StrEnum):
    API_RANK = "api-rank"
    STATIC = "static"
    DYNAMIC = "dynamic"


Edges = frozenset[tuple[Point, Point]]


def rankings(kinds: Mapping[CallTree, int], preference: Preference) -> dict[Ranking, dict[Point, float]]:
    """The score of each API, by each of them."""
    return {
        Ranking.API_RANK: api_rank(trace_kinds(kinds), preference=preference),
        Ranking.STATIC: static_rank(kinds),
        Ranking.DYNAMIC: dynamic_rank(kinds),
    }


def trace_kinds(kinds: Mapping[CallTree, int]) -> list[TraceKind]:
    """For APIRank, which looks at which APIs call which, not how often.

    The request itself is no API: it is no candidate for a fault. The paper's example counts it as one. A call of an
    unknown caller is a call of its API, and an edge of none.
    """
    seen: Counter[tuple[frozenset[Point], Edges]] = Counter()
    for tree, traces in without_repeats(kinds.items()).items():
        apis = frozenset(callee.point for callee in tree.callees())
        calls = frozenset((caller.point, callee.point) for caller, callee in tree.edges() if caller.point in apis)
        seen[apis, calls] += traces
    return [TraceKind(apis, calls, traces) for (apis, calls), traces in seen.items() if apis]


def static_rank(kinds: Mapping[CallTree, int]) -> dict[Point, float]:
    """*Static*: APIs that more others call come first."""
    callers: dict[Point, set[Point]] = {}
    for caller in occurrences(kinds):
        for callee in caller.calls:
            callers.setdefault(callee.point, set()).update({caller.point} - {callee.point})
        for orphan in caller.known_orphans:
            callers.setdefault(orphan.point, set())
    return _scaled({api: len(of_api) for api, of_api in callers.items()})


def dynamic_rank(kinds: Mapping[CallTree, int]) -> dict[Point, float]:
    """*Dynamic*: APIs that are called more often come first."""
    times: Counter[Point] = Counter()
    for caller, traces in occurrences(kinds).items():
        for callee in (*caller.calls, *caller.known_orphans):
            times[callee.point] += traces
    return _scaled(times)


def _scaled(scores: Mapping[Point, int]) -> dict[Point, float]:
    highest = max(scores.values(), default=1) or 1
    return {api: score / highest for api, score in scores.items()}
