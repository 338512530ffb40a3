"""How complex a request class is (CAST §3.3): the more it involves, the more can go wrong in it.

A trace's score is a weighted sum of its spans, its distinct components (services, data stores, queues) and its
duration. A class's score is the mean of its traces', and its most complex trace represents it. The paper gives no
weights; ours count a component as five spans and a second as ten, so that in a usual system none of the three decides
alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cutset.model.survey import ClassSummary


@dataclass(frozen=True, slots=True)
class Weights:
    spans: float = 1.0
    components: float = 5.0
    seconds: float = 10.0


DEFAULT_WEIGHTS = Weights()


def complexity(spans: float, components: float, nanoseconds: float, weights: Weights) -> float:
    """Of one trace, or of the means of many: a weighted sum of means is the mean of weighted sums."""
    return weights.spans * spans + weights.components * components + weights.seconds * nanoseconds / 1e9


def class_complexity(summary: ClassSummary, weights: Weights = DEFAULT_WEIGHTS) -> float:
    """The mean of its traces'."""
    traces = summary.traces
    return complexity(summary.spans / traces, summary.components / traces, summary.total_ns / traces, weights)


def most_complex_first(
    classes: Mapping[str, ClassSummary], weights: Weights = DEFAULT_WEIGHTS
) -> list[tuple[str, ClassSummary]]:
    return sorted(classes.items(), key=lambda item: (-class_complexity(item[1], weights), item[0]))
