"""Simulated systems of all kinds of nodes, and a search that asks for everything."""

from itertools import combinations

from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.simulation.simulated import (
    All,
    Cache,
    Call,
    FirstOf,
    Optional,
    Quorum,
    System,
)


def point(text: str) -> Point:
    return Point.parse(f"simulated/{text}")


def points(*names: str) -> Points:
    return frozenset(map(point, names))


def cut(*names: str) -> Cut:
    return cut_of(points(*names))


class Everything:
    """A search that asks for every set of at most `max_size` points in one round, after the fault-free one."""

    def __init__(self, points: Points, max_size: int) -> None:
        self._batches = [
            [cut_of(chosen) for size in range(1, max_size + 1) for chosen in combinations(sorted(points), size)],
            [frozenset()],
        ]
        self.failing: set[Cut] = set()

    def ask(self, limit: int) -> list[Cut]:
        return self._batches.pop() if self._batches else []

    def learn(self, outcome: Outcome) -> None:
        if outcome.verdict is Verdict.FAILED:
            self.failing.add(outcome.cut)


@st.composite
def systems(draw: st.DrawFn, *, caches: bool = False) -> System:
    """Systems of all kinds of nodes, over six APIs with a fixed number of replicas each."""
    replicas = {api: draw(st.integers(1, 3)) for api in "ABCDEF"}
    apis = st.sampled_from("ABCDEF")

    def leaf(api: str) -> st.SearchStrategy[System]:
        numbers = st.integers(0, replicas[api])
        return st.one_of(
            st.builds(Call, st.just(api), replicas=st.just(replicas[api]), times=st.integers(1, 3)),
            st.builds(Call, st.just(api), replicas=st.just(replicas[api]), attempts=numbers),
            st.builds(Call, st.just(api), replicas=st.just(replicas[api]), zone=numbers),
            st.builds(Quorum, st.just(api), st.just(replicas[api]), st.integers(1, replicas[api])),
        )

    def extend(parts: st.SearchStrategy[System]) -> st.SearchStrategy[System]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        kinds: list[st.SearchStrategy[System]] = [
            several.map(All),
            st.builds(FirstOf, several, st.booleans()),
            st.builds(Optional, parts, st.none() | parts),
            st.tuples(apis, parts).map(lambda pair: Call(pair[0], pair[1], replicas[pair[0]])),
        ]
        if caches:
            kinds.append(st.builds(Cache, parts, st.just(0.5)))
        return st.one_of(kinds)

    return draw(st.recursive(apis.flatmap(leaf), extend, max_leaves=6))
