from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.causal import CausalNode, grow

PRIOR = {"lost": ["handler"], "gone": ["handler", "check"], "handler": ["read"], "check": ["gone"], "read": []}


def node_of(key: str) -> CausalNode:
    return CausalNode(CausalStep(CausalKind.LOCATION, "app", "f", 1, key), 0 if key == "read" else -1)


def test_a_graph_grows_from_the_observables_to_all_that_is_prior_to_them():
    graph = grow([("message", ["lost"]), ("message", ["gone"])], PRIOR.__getitem__, node_of)

    texts = [node.step.text for node in graph.nodes]
    assert texts == ["lost", "gone", "handler", "check", "read"]
    assert graph.sources == {"message": (0, 1)}
    assert {texts[number]: [texts[prior] for prior in priors] for number, priors in enumerate(graph.priors)} == PRIOR


def test_each_node_is_asked_once_and_named_once():
    asked: list[str] = []

    def prior(key: str) -> list[str]:
        asked.append(key)
        return [*PRIOR[key], *PRIOR[key]]

    graph = grow([("one", ["lost"]), ("other", ["gone", "gone"])], prior, node_of)

    assert sorted(asked) == sorted(PRIOR)
    assert graph.priors[0] == (2,)
    assert graph.sources["other"] == (1,)


def test_without_observables_there_is_nothing():
    graph = grow([], PRIOR.__getitem__, node_of)
    assert (graph.nodes, graph.priors, graph.sources) == ((), (), {})
