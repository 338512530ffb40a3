from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.causal import CausalGraph, CausalNode, grow
from cutset.reproduce.graph.distances import Reach, path, reaches


def graph_of(
    sources: Mapping[str, Sequence[str]], priors: Mapping[str, Sequence[str]], nodes: Mapping[str, CausalNode]
) -> CausalGraph:
    return grow(
        sources.items(),
        lambda key: priors.get(key, ()),
        lambda key: nodes.get(key, CausalNode()),
        lambda key: CausalStep(CausalKind.LOCATION, "app", "f", 1, key),
    )


def texts(steps: Sequence[CausalStep]) -> list[str]:
    return [step.text for step in steps]


#  lost ─▶ handler ─▶ read (site 0, OSError)        a longer way from `lost` to the same site, for any exception
#    └───▶ check ─▶ flag ─▶ read (site 0)           gone ─▶ flag
GRAPH = graph_of(
    {"lost": ["lost"], "gone": ["gone"]},
    {"lost": ["handler", "check"], "handler": ["read"], "check": ["flag"], "flag": ["read any"], "gone": ["flag"]},
    {"read": CausalNode(0, ("OSError",)), "read any": CausalNode(0), "unrelated": CausalNode(7)},
)


def test_the_shortest_way_counts_with_the_types_that_it_asks_for():
    assert reaches(GRAPH) == {0: {"lost": Reach(2, ("OSError",)), "gone": Reach(2, ())}}


def test_types_of_ways_of_one_length_are_united_and_any_of_them_is_any():
    graph = graph_of(
        {"lost": ["lost"]},
        {"lost": ["a", "b", "c", "d"]},
        {
            "a": CausalNode(0, ("OSError",)),
            "b": CausalNode(0, ("KeyError",)),
            "c": CausalNode(1, ("OSError",)),
            "d": CausalNode(1),
        },
    )
    assert reaches(graph) == {0: {"lost": Reach(1, ("OSError", "KeyError"))}, 1: {"lost": Reach(1, ())}}


def test_a_path_leads_from_the_site_to_the_message():
    assert texts(path(GRAPH, 0, "lost")) == ["read", "handler", "lost"]
    assert texts(path(GRAPH, 0, "gone")) == ["read any", "flag", "gone"]
    assert path(GRAPH, 7, "lost") == []
    assert path(GRAPH, 0, "never said") == []


def test_a_guess_is_further_away_and_a_junction_is_no_step():
    graph = graph_of(
        {"lost": ["lost"]},
        {"lost": ["guessed", "sure"], "guessed": ["read"], "sure": ["write"]},
        {
            "guessed": CausalNode(steps=3, junction=True),
            "sure": CausalNode(junction=True),
            "read": CausalNode(0),
            "write": CausalNode(1),
        },
    )
    assert {site: found["lost"].steps for site, found in reaches(graph).items()} == {0: 3, 1: 1}
    assert texts(path(graph, 0, "lost")) == ["read", "lost"]


def test_what_one_of_its_kin_that_wants_more_led_to_is_not_looked_at_again():
    """The way through `except Exception` is the shorter one, and leads wherever the other does."""
    asked: list[str] = []
    priors = {"lost": ["wide", "later"], "later": ["narrow"], "wide": ["read"], "narrow": ["read", "write"]}
    nodes = {
        "wide": CausalNode(-1, ("Exception",), kin="call"),
        "narrow": CausalNode(-1, ("OSError",), kin="call"),
        "read": CausalNode(0),
        "write": CausalNode(1),
    }

    def prior(key: str) -> Sequence[str]:
        asked.append(key)
        return priors.get(key, ())

    def covers(some: Sequence[str], others: Sequence[str]) -> bool:
        return "Exception" in some or set(some) >= set(others)

    graph = grow([("lost", ["lost"])], prior, lambda key: nodes.get(key, CausalNode()), GRAPH.step, covers)
    assert reaches(graph) == {0: {"lost": Reach(2, ())}}
    assert "narrow" not in asked


RAN, NEVER, ALSO_NEVER = ("app.py", 1), ("app.py", 9), ("app.py", 20)
#  lost ─▶ call ─▶ read (0), in a function that never ran         lost ─▶ check ─▶ flag ─▶ retry ─▶ read again (0)
TWO_WAYS = graph_of(
    {"lost": ["lost"]},
    {
        "lost": ["call", "check"],
        "call": ["in it"],
        "in it": ["read"],
        "check": ["flag"],
        "flag": ["retry"],
        "retry": ["read again"],
    },
    {
        "lost": CausalNode(function=RAN),
        "call": CausalNode(function=NEVER),
        "in it": CausalNode(function=NEVER),
        "read": CausalNode(0, function=NEVER),
        "check": CausalNode(function=RAN),
        "flag": CausalNode(function=RAN),
        "retry": CausalNode(function=RAN),
        "read again": CausalNode(0, function=RAN),
    },
)


def test_a_path_prefers_what_was_observed_and_says_what_was():
    assert texts(path(TWO_WAYS, 0, "lost")) == ["read", "in it", "call", "lost"]
    assert {step.observed for step in path(TWO_WAYS, 0, "lost")} == {None}
    chain = path(TWO_WAYS, 0, "lost", executed={"app.py": {1}})
    assert texts(chain) == ["read again", "retry", "flag", "check", "lost"]
    assert [step.observed for step in chain] == [True] * 5
    inferred = path(TWO_WAYS, 0, "lost", executed={"app.py": {30}})
    assert [step.observed for step in inferred] == [False] * 4


def test_each_function_that_never_ran_makes_a_way_longer_once():
    graph = graph_of(
        {"lost": ["lost"]},
        {"lost": ["call"], "call": ["in it"], "in it": ["read", "deeper"], "deeper": ["write"]},
        {
            "lost": CausalNode(function=RAN),
            "call": CausalNode(function=NEVER),
            "in it": CausalNode(function=NEVER),
            "read": CausalNode(0, function=NEVER),
            "deeper": CausalNode(function=ALSO_NEVER),
            "write": CausalNode(1, function=ALSO_NEVER),
        },
    )
    assert {site: found["lost"].steps for site, found in reaches(graph).items()} == {0: 3, 1: 4}
    ranked = reaches(graph, executed={"app.py": {1}})
    assert {site: found["lost"].steps for site, found in ranked.items()} == {0: 3 + 2, 1: 4 + 4}
    assert reaches(graph, executed={}) == reaches(graph)


def test_the_function_that_wrote_the_message_ran_when_it_was_written():
    graph = graph_of(
        {"lost": ["lost"]},
        {"lost": ["check"], "check": ["read"]},
        {
            "lost": CausalNode(function=NEVER),
            "check": CausalNode(function=RAN),
            "read": CausalNode(0, function=NEVER),
        },
    )
    assert reaches(graph, executed={"app.py": {1}})[0]["lost"].steps == 2


def test_who_watches_a_search_can_end_it():
    def stop(done: int, total: int, what: str) -> None:
        raise InterruptedError(what)

    with pytest.raises(InterruptedError):
        reaches(GRAPH, progress=stop)


@given(st.integers(0, 10_000))
def test_distances_are_those_of_the_paths_in_any_graph(seed: int):
    random = Random(seed)
    names = [str(number) for number in range(random.randint(1, 12))]
    nodes = {name: CausalNode(int(name) if random.random() < 0.4 else -1) for name in names}
    priors = {name: random.sample(names, random.randint(0, min(3, len(names)))) for name in names}
    sources = {name: random.sample(names, random.randint(1, min(2, len(names)))) for name in "ab"}
    graph = graph_of(sources, priors, nodes)
    found = reaches(graph)
    for site in range(len(names)):
        for name in sources:
            chain = path(graph, site, name)
            reach = found.get(site, {}).get(name)
            assert (reach.steps + 1 if reach else 0) == len(chain)
