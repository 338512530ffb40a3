"""Random systems that are small enough for brute force, and a loop that explores them."""

from collections.abc import Iterator
from itertools import combinations

from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.cuts import CutSearch
from cutset.search.strategy import Certificates, SearchResult, SearchSettings
from cutset.simulation.simulated import (
    All,
    Balance,
    Call,
    Conditions,
    Execution,
    FirstOf,
    Optional,
    Quorum,
    Routes,
    Runs,
    System,
    all_points,
)

APIS = "ABCDE"
MOST_EXPERIMENTS = 3_000  # no system here needs as many: the search does not end


def points(*apis: str) -> Points:
    """`"A"` is the API without replicas, `"A2"` its second replica."""
    return frozenset(Point("simulated", name[0], replica=name[1:]) for name in apis)


def faults(*apis: str) -> Cut:
    return cut_of(points(*apis))


@st.composite
def systems(draw: st.DrawFn, *, hidden: bool = False, varying: bool = False, most_replicas: int = 2) -> System:
    """An API may be called from several places, by each kind of call. All but `hidden` ones are monotone.

    In `varying` ones paths differ without any fault, by more than which replicas serve.
    """
    replicas = {api: draw(st.integers(1, most_replicas)) for api in APIS}
    apis = st.sampled_from(APIS)
    routes = st.lists(st.frozensets(st.sampled_from(sorted(points(*"UVWX"))), min_size=1), min_size=1, max_size=3)
    kinds_of_leaf: list[st.SearchStrategy[System]] = [
        apis.map(lambda api: Call(api, replicas=replicas[api])),
        st.tuples(apis, st.integers(1, 3)).map(
            lambda drawn: Call(drawn[0], replicas=replicas[drawn[0]], attempts=min(drawn[1], replicas[drawn[0]]))
        ),
        st.tuples(apis, st.integers(1, 3)).map(
            lambda drawn: Quorum(drawn[0], replicas[drawn[0]], min(drawn[1], replicas[drawn[0]]))
        ),
        st.tuples(apis, apis).map(lambda pair: _in_zones(pair, replicas, in_any_order=varying)),
    ]
    if not hidden:  # routing that fails without a failed call hides what follows from every kind of certificate
        kinds_of_leaf.append(routes.map(lambda paths: Routes(tuple(paths))))

    def extend(parts: st.SearchStrategy[System]) -> st.SearchStrategy[System]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        kinds: list[st.SearchStrategy[System]] = [
            several.map(All),
            several.map(All),
            several.map(lambda several: FirstOf(several, in_any_order=varying)),
            parts.map(Optional),
            st.tuples(apis, parts).map(lambda pair: Call(pair[0], pair[1], replicas[pair[0]])),
        ]
        if hidden:
            kinds += [st.builds(Optional, parts, parts)] * 2
        return st.one_of(kinds)

    return draw(st.recursive(st.one_of(kinds_of_leaf), extend, max_leaves=6))


def _in_zones(apis: tuple[str, str], replicas: dict[str, int], *, in_any_order: bool) -> System:
    zones = range(1, min(replicas[api] for api in apis) + 1)
    inside = (All(tuple(Call(api, replicas=replicas[api], zone=zone) for api in apis)) for zone in zones)
    return FirstOf(tuple(inside), in_any_order)


@st.composite
def hidden_calls(draw: st.DrawFn, *, shared: bool) -> System:
    """Calls that are mandatory only if an optional one answered; shared: an API is called from several places."""
    names = iter(draw(st.permutations("ABCDEFGHIJKLMNO")))

    def call() -> Call:
        api = draw(st.sampled_from("ABCDE")) if shared else next(names)
        return Call(api, replicas=2 if api in "DH" else 1)

    kinds = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    parts: list[System] = []
    for kind in kinds:
        match kind:
            case 0:
                parts.append(call())
            case 1:
                parts.append(Optional(call()))
            case 2:
                parts.append(FirstOf((call(), call())))
            case 3:
                parts.append(Optional(call(), call()))
            case 4:
                parts.append(Optional(call(), FirstOf((call(), call()))))
    return All(tuple(parts))


CONDITIONS = st.builds(Conditions, seed=st.integers(0, 99), balance=st.sampled_from(Balance))
LIMITS = st.sampled_from([1, 2, 5, 10**9])


@st.composite
def searches(draw: st.DrawFn, system: System, *, certificates: Certificates | None = None) -> SearchSettings:
    return SearchSettings(
        max_size=draw(st.integers(1, 4)),
        certificates=certificates or draw(st.sampled_from(Certificates)),
        inventory=draw(st.sampled_from([frozenset(), all_points(system)])),
        round_size=draw(st.integers(0, 3)),
        one_shot=draw(st.booleans()),
        seed=draw(st.integers(0, 9)),
    )


def run(system: System, cut: Cut, turn: int = 0) -> Outcome:
    execution = Execution(points_of(cut), turn)
    return outcome_of(execution, execution.run(system))


def outcome_of(execution: Execution, path: Points | None) -> Outcome:
    return Outcome(
        cut=cut_of(execution.faulted),
        verdict=Verdict.FAILED if path is None else Verdict.SURVIVED,
        path=path or frozenset(),
        failed=frozenset(execution.failed),
        calls=frozenset(execution.calls),
        fired=execution.faulted & execution.calls,
        retried=frozenset(execution.retried),
    )


def explore(search: CutSearch, system: Runs, limit: int = 10**9) -> list[Cut]:
    """What was asked for, in its order."""
    asked: list[Cut] = []
    while cuts := search.ask(limit):
        assert len(cuts) <= limit
        asked += cuts
        assert len(asked) < MOST_EXPERIMENTS
        for cut in cuts:
            search.learn(system.run(cut))
    return asked


def is_honest(result: SearchResult, truth: set[Cut]) -> bool:
    """Given what is minimal: then whatever else fails contains one of these, too."""
    known = [*result.minimal_cuts, *result.undecided]
    return all(any(each <= cut for each in known) for cut in truth if len(cut) <= result.complete_up_to)


def assert_right(result: SearchResult, truth: set[Cut], system: System) -> None:
    """All that fails is found; but where a replica is reached only if others are down, nobody can tell that from luck.

    Then what its fault alone does stays undecided, and so may what contains it.
    """
    assert result.finished
    assert not result.undecided or _pins_replicas(system)
    for cut in truth - set(result.minimal_cuts):
        assert any(undecided <= cut for undecided in result.undecided)
    for cut in set(result.minimal_cuts) - truth:
        assert any(known < cut and any(each <= known for each in result.undecided) for known in truth)


def _pins_replicas(node: System | None) -> bool:
    match node:
        case Call(body=body, attempts=attempts, zone=zone):
            return bool(attempts or zone) or _pins_replicas(body)
        case All(parts) | FirstOf(parts):
            return any(map(_pins_replicas, parts))
        case Optional(part, then):
            return _pins_replicas(part) or _pins_replicas(then)
        case _:
            return False


def subsets(every: Points, most: int) -> Iterator[Cut]:
    for size in range(most + 1):
        yield from map(cut_of, combinations(sorted(every), size))
