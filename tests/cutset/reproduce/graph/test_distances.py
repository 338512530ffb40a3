from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.causal import CausalGraph, CausalNode
from cutset.reproduce.graph.distances import Reach, path, reaches


def node(text: str, site: int = -1, *wanted: str) -> CausalNode:
    return CausalNode(CausalStep(CausalKind.LOCATION, "app", "f", 1, text), site, wanted)


#  lost ─▶ handler ─▶ read (site 0, OSError)        a longer way from `lost` to the same site, for any exception
#    └───▶ check ─▶ flag ─▶ read (site 0)           gone ─▶ flag
GRAPH = CausalGraph(
    nodes=(
        node("lost"),
        node("handler"),
        node("read", 0, "OSError"),
        node("check"),
        node("flag"),
        node("read", 0),
        node("gone"),
        node("unrelated", 7),
    ),
    priors=((1, 3), (2,), (), (4,), (5,), (), (4,), ()),
    sources={"lost": (0,), "gone": (6,)},
)


def test_the_shortest_way_counts_with_the_types_that_it_asks_for():
    assert reaches(GRAPH) == {0: {"lost": Reach(2, ("OSError",)), "gone": Reach(2, ())}}


def test_types_of_ways_of_one_length_are_united_and_any_of_them_is_any():
    nodes = (node("lost"), node("a", 0, "OSError"), node("b", 0, "KeyError"), node("c", 1, "OSError"), node("d", 1))
    graph = CausalGraph(nodes, ((1, 2, 3, 4), (), (), (), ()), {"lost": (0,)})
    assert reaches(graph) == {0: {"lost": Reach(1, ("OSError", "KeyError"))}, 1: {"lost": Reach(1, ())}}


def test_a_path_leads_from_the_site_to_the_message():
    assert [step.text for step in path(GRAPH, 0, "lost")] == ["read", "handler", "lost"]
    assert [step.text for step in path(GRAPH, 0, "gone")] == ["read", "flag", "gone"]
    assert path(GRAPH, 7, "lost") == []
    assert path(GRAPH, 0, "never said") == []


def test_steps_on_the_spot_are_shown_once():
    doubt = node("a guess")
    graph = CausalGraph((node("lost"), doubt, doubt, node("read", 0)), ((1,), (2,), (3,), ()), {"lost": (0,)})
    assert reaches(graph)[0]["lost"].steps == 3
    assert [step.text for step in path(graph, 0, "lost")] == ["read", "a guess", "lost"]


@given(st.integers(0, 10_000))
def test_distances_are_those_of_the_paths_in_any_graph(seed: int):
    random = Random(seed)
    size = random.randint(1, 12)
    nodes = tuple(node(str(number), number if random.random() < 0.4 else -1) for number in range(size))
    priors = tuple(tuple(random.sample(range(size), random.randint(0, min(3, size)))) for _ in range(size))
    sources = {name: tuple(random.sample(range(size), random.randint(1, min(2, size)))) for name in "ab"}
    graph = CausalGraph(nodes, priors, sources)
    found = reaches(graph)
    for site in range(size):
        for name in sources:
            chain = path(graph, site, name)
            reach = found.get(site, {}).get(name)
            assert (reach.steps + 1 if reach else 0) == len(chain)
