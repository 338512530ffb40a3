"""Small families of cuts with common causes, and what happens in all of their states."""

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import prod

from hypothesis import strategies as st

from cutset.harden.probability import CommonCause, Rates, RequestClass
from cutset.model.point import Point

POINTS = [Point("a", "x"), Point("a", "y"), Point("b", "x", replica="1"), Point("b", "x", replica="2"), Point("c", "x")]
some_rate = st.sampled_from([0.0, 0.001, 0.02, 0.1, 0.4])


@st.composite
def all_rates(draw: st.DrawFn) -> Rates:
    causes = draw(
        st.lists(st.tuples(some_rate, st.frozensets(st.sampled_from(POINTS), min_size=1, max_size=4)), max_size=2)
    )
    return Rates(
        {point: draw(some_rate) for point in POINTS},
        tuple(CommonCause(f"cause {number}", rate, points) for number, (rate, points) in enumerate(causes)),
    )


requests = st.builds(
    RequestClass,
    st.just("GET /"),
    st.lists(st.frozensets(st.sampled_from(POINTS), min_size=1, max_size=3), min_size=1, max_size=5).map(tuple),
    st.sampled_from([1.0, 100.0]),
)


def states(rates: Rates) -> Iterator[tuple[float, frozenset[Point]]]:
    """How likely each is, and which points are down, for whatever reason."""
    events = [(rate, frozenset({point})) for point, rate in rates.of_points.items()]
    events += [(cause.rate, cause.points) for cause in rates.causes]
    for occurs in product([False, True], repeat=len(events)):
        likely = prod(rate if so else 1 - rate for (rate, _), so in zip(events, occurs, strict=True))
        down = frozenset().union(*(points for (_, points), so in zip(events, occurs, strict=True) if so))
        if likely:
            yield likely, down


def chance(cuts: Collection[frozenset[Point]], rates: Rates, *, hardened: Mapping[str, float] | None = None) -> float:
    """That all points of a cut are down, and passed on."""
    apis = list(hardened or {})
    total = 0.0
    for likely, down in states(rates):
        for passed in product([False, True], repeat=len(apis)):
            weight = prod(
                (hardened or {})[api] if so else 1 - (hardened or {})[api] for api, so in zip(apis, passed, strict=True)
            )
            held = {api for api, so in zip(apis, passed, strict=True) if not so}
            effective = {point for point in down if str(point.of_api) not in held}
            total += likely * weight * any(cut <= effective for cut in cuts)
    return total
