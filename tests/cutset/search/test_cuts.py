from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.inject.simulated import (
    All,
    Call,
    Execution,
    FirstOf,
    Node,
    Optional,
    all_points,
    minimal_cuts_by_brute_force,
    points_of_call,
)
from cutset.model.fault import cut_of, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.cuts import CutSearch
from cutset.search.strategy import SearchSettings


def simulated_outcome(system: Node, cut: Points, turn: int = 0) -> Outcome:
    execution = Execution(cut, turn)
    path = execution.run(system)
    return Outcome(
        cut=cut_of(cut),
        verdict=Verdict.FAILED if path is None else Verdict.SURVIVED,
        path=path or frozenset(),
        failed=frozenset(execution.failed),
        calls=frozenset(execution.calls),
    )


def explore(system: Node, max_size: int, batch: int = 1, turns: int = 1) -> tuple[CutSearch, list[Points]]:
    search = CutSearch(SearchSettings(max_size))
    asked: list[Points] = []
    while cuts := search.next_cuts(batch):
        for cut in cuts:
            asked.append(cut)
            search.learn(simulated_outcome(system, cut, turn=len(asked) % turns))
    return search, asked


def points(*apis: str) -> Points:
    return frozenset(Point("simulated", api) for api in apis)


@st.composite
def monotone_systems(draw: st.DrawFn) -> Node:
    """Systems of up to eight calls; an API may be called from several places."""
    apis = st.sampled_from("ABCDEFGH")
    replicas = {api: draw(st.integers(1, 2)) for api in "ABCDEFGH"}
    leaves = apis.map(lambda api: Call(api, replicas=replicas[api]))

    def extend(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        nested = st.tuples(apis, parts).map(lambda pair: Call(pair[0], pair[1], replicas[pair[0]]))
        return st.one_of(several.map(All), several.map(FirstOf), parts.map(Optional), nested)

    return draw(st.recursive(leaves, extend, max_leaves=7))


@settings(max_examples=300, deadline=None)
@given(monotone_systems(), st.integers(1, 4), st.integers(1, 8))
def test_finds_exactly_the_minimal_cuts_of_any_monotone_system(system: Node, max_size: int, batch: int) -> None:
    search, asked = explore(system, max_size, batch, turns=2)

    result = search.result()
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)
    assert result.finished
    assert result.complete_up_to == max_size
    assert len(asked) == len(set(asked))


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from("ABCDEF").map(Call),
            st.sampled_from("ABCDEF").map(lambda api: Optional(Call(api))),
            st.permutations("ABCDEF").map(lambda p: FirstOf((Call(p[0]), Call(p[1])))),
            st.permutations("ABCDEF").map(lambda p: Optional(Call(p[0]), Call(p[1]))),
            st.permutations("ABCDEF").map(lambda p: Optional(Call(p[0]), FirstOf((Call(p[1]), Call(p[2]))))),
        ),
        min_size=1,
        max_size=5,
    ).map(lambda parts: All(tuple(parts))),
    st.integers(1, 3),
)
def test_a_tolerated_failure_that_hides_a_mandatory_call_loses_no_cut(system: Node, max_size: int) -> None:
    search, _ = explore(system, max_size)

    assert set(search.result().minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)


@settings(max_examples=300, deadline=None)
@given(monotone_systems(), st.integers(1, 3), st.integers(1, 8), st.randoms(use_true_random=False))
def test_whatever_stays_unknown_hides_no_other_cut(system: Node, max_size: int, batch: int, chance: Random) -> None:
    search = CutSearch(SearchSettings(max_size))
    while cuts := search.next_cuts(batch):
        for cut in chance.sample(cuts, len(cuts)):
            known = not cut or chance.random() < 0.7
            outcome = simulated_outcome(system, cut, turn=chance.randint(0, 1))
            search.learn(outcome if known else Outcome(outcome.cut, Verdict.UNKNOWN))

    result = search.result()
    truth = minimal_cuts_by_brute_force(system, max_size)
    assert set(result.minimal_cuts) <= truth
    for cut in truth - set(result.minimal_cuts):
        assert any(undecided <= cut for undecided in result.undecided)


def test_an_unknown_cut_that_another_experiment_certifies_is_decided() -> None:
    """At replica level: {A1} never fires, but meanwhile {B1} survives on a path without A1."""
    a1, a2, b1, b2 = (Point("simulated", api, replica=replica) for api in "AB" for replica in "12")
    search = CutSearch(SearchSettings(2))
    search.next_cuts(1)
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=frozenset({a1, b1})))
    assert set(search.next_cuts(9)) == {frozenset({a1}), frozenset({b1})}
    search.learn(Outcome(cut_of({a1}), Verdict.UNKNOWN))
    assert search.result().undecided == (frozenset({a1}),)

    search.learn(Outcome(cut_of({b1}), Verdict.SURVIVED, path=frozenset({a2, b2})))

    assert search.result().undecided == ()
    assert frozenset({a1, a2}) in search.next_cuts(9)


def test_a_single_point_of_failure_does_not_hide_larger_cuts() -> None:
    """Algorithm 2 of FastFI as printed returns only {A} here."""
    system = All((Call("A"), FirstOf((Call("B"), Call("C")))))

    search, _ = explore(system, max_size=3)

    assert set(search.result().minimal_cuts) == {points("A"), points("B", "C")}


def test_a_mandatory_call_behind_an_optional_one_is_tried_itself() -> None:
    search, asked = explore(Optional(Call("X"), Call("Y")), max_size=2)

    assert points("Y") in asked
    assert set(search.result().minimal_cuts) == {points("Y")}


def test_the_first_cut_asked_for_is_the_baseline() -> None:
    assert CutSearch(SearchSettings(3)).next_cuts(10) == [frozenset()]


def test_asks_for_nothing_while_smaller_cuts_are_undecided() -> None:
    search = CutSearch(SearchSettings(2))
    system = FirstOf((Call("A"), Call("B")))
    (baseline,) = search.next_cuts(5)
    search.learn(simulated_outcome(system, baseline))

    assert search.next_cuts(5) == [points("A")]
    assert search.next_cuts(5) == []
    search.learn(simulated_outcome(system, points("A")))
    assert search.next_cuts(5) == [points("A", "B")]


def test_a_failing_baseline_ends_the_search() -> None:
    search = CutSearch(SearchSettings(3))
    search.next_cuts(1)
    search.learn(Outcome(frozenset(), Verdict.FAILED))

    assert search.next_cuts(1) == []
    assert search.result().minimal_cuts == (frozenset(),)


def test_an_unknown_outcome_is_reported_as_undecided_and_not_asked_again() -> None:
    search = CutSearch(SearchSettings(2))
    system = All((Call("A"), Call("B")))
    search.next_cuts(1)
    search.learn(simulated_outcome(system, frozenset()))
    for cut in search.next_cuts(9):
        verdict = Verdict.UNKNOWN if cut == points("A") else Verdict.FAILED
        search.learn(Outcome(cut_of(cut), verdict))

    assert search.next_cuts(9) == []
    assert search.result().undecided == (points("A"),)
    assert search.result().minimal_cuts == (points("B"),)


def test_replicas_must_all_fail_together() -> None:
    system = All((Call("A", replicas=3), Call("B", replicas=2)))

    search, _ = explore(system, max_size=3, turns=3)

    a, b = (frozenset(points_of_call(part)) for part in system.parts if isinstance(part, Call))
    assert set(search.result().minimal_cuts) == {a, b}
    assert all_points(system) == a | b


def test_a_tolerated_delay_does_not_keep_the_search_from_ending() -> None:
    """A delayed call still succeeds, so the faulted point is on the surviving path."""
    search = CutSearch(SearchSettings(2))
    asked: list[Points] = []
    while cuts := search.next_cuts(4):
        for cut in cuts:
            asked.append(cut)
            search.learn(Outcome(cut_of(cut), Verdict.SURVIVED, path=points("A", "B"), calls=points("A", "B")))

    assert set(asked) == {frozenset(), points("A"), points("B"), points("A", "B")}
    assert search.result().minimal_cuts == ()
    assert points_of(cut_of(points("A"))) == points("A")
