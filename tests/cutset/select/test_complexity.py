from tests.samples.surveyed_shop import surveyed_shop

from cutset.select.complexity import DEFAULT_WEIGHTS, Weights, complexity, most_complex_first


def test_more_spans_more_components_and_more_time_are_more_complex() -> None:
    usual = complexity(10, 3, 1e8, DEFAULT_WEIGHTS)

    assert complexity(11, 3, 1e8, DEFAULT_WEIGHTS) > usual
    assert complexity(10, 4, 1e8, DEFAULT_WEIGHTS) > usual
    assert complexity(10, 3, 2e8, DEFAULT_WEIGHTS) > usual


def test_weights_decide_what_counts() -> None:
    assert complexity(10, 3, 5e8, Weights(spans=1, components=0, seconds=0)) == 10
    assert complexity(10, 3, 5e8, Weights(spans=0, components=2, seconds=0)) == 6
    assert complexity(10, 3, 5e8, Weights(spans=0, components=0, seconds=4)) == 2


def test_the_score_of_means_is_the_mean_of_scores() -> None:
    traces = [(10, 3, 10**8), (40, 9, 3 * 10**9), (1, 1, 10**6)]

    scores = [complexity(*trace, DEFAULT_WEIGHTS) for trace in traces]
    means = [sum(factor) / len(traces) for factor in zip(*traces, strict=True)]
    assert abs(complexity(*means, DEFAULT_WEIGHTS) - sum(scores) / len(scores)) < 1e-9


def test_classes_of_equal_complexity_come_by_name() -> None:
    classes = surveyed_shop().classes
    assert [name for name, _ in most_complex_first(classes)] == ["GET /cart", "GET /"]
    assert [name for name, _ in most_complex_first(classes, Weights(0, 0, 0))] == ["GET /", "GET /cart"]
