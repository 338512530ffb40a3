from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.causal import CausalGraph, CausalNode, grow

PRIOR = {"lost": ["handler"], "gone": ["handler", "check"], "handler": ["read"], "check": ["gone"], "read": []}


def node_of(key: str) -> CausalNode:
    return CausalNode(0 if key == "read" else -1)


def step_of(key: str) -> CausalStep:
    return CausalStep(CausalKind.LOCATION, "app", "f", 1, key)


def texts(graph: CausalGraph, numbers: tuple[int, ...]) -> list[str]:
    return [graph.step(number).text for number in numbers]


def test_what_is_prior_to_a_node_is_asked_for_when_somebody_looks():
    asked: list[str] = []

    def prior(key: str) -> list[str]:
        asked.append(key)
        return PRIOR[key]

    graph = grow([("message", ["lost"]), ("message", ["gone"])], prior, node_of, step_of)
    lost, gone = graph.sources["message"]
    assert texts(graph, (lost, gone)) == ["lost", "gone"]
    assert asked == []
    assert texts(graph, tuple(graph.priors(gone))) == ["handler", "check"]
    assert asked == ["gone"]


def test_each_node_is_asked_once_and_has_one_number():
    asked: list[str] = []

    def prior(key: str) -> list[str]:
        asked.append(key)
        return [*PRIOR[key], *PRIOR[key]]

    graph = grow([("one", ["lost"]), ("other", ["gone", "gone"])], prior, node_of, step_of)
    [lost], [gone] = graph.sources["one"], graph.sources["other"]
    assert len(graph.priors(lost)) == 1
    assert graph.priors(lost)[0] in graph.priors(gone)
    assert graph.priors(lost) == graph.priors(lost)
    assert asked == ["lost", "gone"]
    [read] = graph.priors(graph.priors(lost)[0])
    assert graph.node(read).site == 0


def test_without_observables_there_is_nothing():
    assert grow([], PRIOR.__getitem__, node_of, step_of).sources == {}
