"""APIRank (MicroFI §4.4.4): how much would be affected if all calls of an API failed.

A personalised PageRank over two kinds of nodes, APIs and kinds of traces. An API is important if important APIs call
it, and if it is in many kinds of traces; a kind of trace is important if it has important APIs.

The paper's equations do not give the scores that it prints for its own example, nor does its published code. We follow
the code, whose ranking agrees with the paper's: APIs and traces are scaled to a maximum of 1 after every step, and what
an API gets from its callers counts a hundredth of what it gets from its traces. The number of steps is the paper's.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.point import Point

_DAMPING = 0.85
_CALL_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class TraceKind:
    """Traces with the same calls."""

    apis: frozenset[Point]
    calls: frozenset[tuple[Point, Point]]  # caller and callee, both among the APIs
    seen: int = 1


class Preference(StrEnum):
    """Which kinds of traces matter more. The paper prints 1/n for a kind that was seen n times and argues for n."""

    UNIFORM = "uniform"  # as the published code: how often a kind was seen does not matter
    FREQUENCY = "frequency"  # as the text: in proportion to how often it was seen


def api_rank(
    traces: Sequence[TraceKind], *, preference: Preference = Preference.UNIFORM, steps: int = 20
) -> dict[Point, float]:
    """Scores from 0 to 1, fit to be `SearchSettings.weights`."""
    # Sorted, so that sums come out the same to the last bit, and ties are ties, in every process.
    apis_of = [sorted(trace.apis) for trace in traces]
    calls = sorted({call for trace in traces for call in trace.calls})
    traces_with = Counter(api for apis in apis_of for api in apis)
    callees_of = Counter(caller for caller, _ in calls)
    if not traces_with:
        return {}
    votes = [trace.seen if preference is Preference.FREQUENCY else 1 for trace in traces]
    of_apis = dict.fromkeys(traces_with, 1 / len(traces_with))
    of_traces = [1 / len(traces)] * len(traces)
    for _ in range(steps):
        apis_next = dict.fromkeys(traces_with, 0.0)
        traces_next = [(1 - _DAMPING) * vote / sum(votes) for vote in votes]
        for number, apis in enumerate(apis_of):
            for api in apis:
                apis_next[api] += _DAMPING * of_traces[number] / len(apis)
                traces_next[number] += _DAMPING * of_apis[api] / traces_with[api]
        for caller, callee in calls:
            apis_next[callee] += _DAMPING * _CALL_SHARE * of_apis[caller] / callees_of[caller]
        highest_api = max(apis_next.values())
        of_apis = {api: score / highest_api for api, score in apis_next.items()}
        highest_trace = max(traces_next)
        of_traces = [score / highest_trace for score in traces_next]
    return of_apis
