"""APIRank (MicroFI §4.4.4): how much would be affected if all calls of an API failed.

A personalised PageRank over two kinds of nodes, APIs and kinds of traces. An API is important if important APIs call
it, and if it is in many kinds of traces; a kind of trace is important if it has important APIs.

The paper's equations do not give the scores that it prints for its own example, nor does its published code. We follow
the code, whose ranking agrees with the paper's: APIs and traces are scaled to a maximum of 1 after every step, and what
an API gets from its callers counts a hundredth of what it gets from its traces. The number of steps is the paper's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

import numpy as np

from cutset.model.event import RequestAudited
from cutset.model.point import Point

_DAMPING = 0.85
_CALL_SHARE = 0.01


Api = TypeVar("Api", Point, int)  # or its number among sorted points, with which all goes faster


@dataclass(frozen=True, slots=True)
class TraceKind(Generic[Api]):
    """Traces with the same calls."""

    apis: frozenset[Api]
    calls: frozenset[tuple[Api, Api]]  # caller and callee, both among the APIs
    seen: int = 1


class Preference(StrEnum):
    """Which kinds of traces matter more. The paper prints 1/n for a kind that was seen n times and argues for n."""

    UNIFORM = "uniform"  # as the published code: how often a kind was seen does not matter
    FREQUENCY = "frequency"  # as the text: in proportion to how often it was seen


def rank_of_audits(audits: Iterable[RequestAudited]) -> dict[Point, float]:
    """From what a campaign saw before any fault: the calls of each request class are one kind of trace.

    The first healthy audit of a class counts. A campaign that is resumed audits again, and paths may vary; what it
    computes stays the same.
    """
    first: dict[str, RequestAudited] = {}
    for audit in audits:
        if audit.healthy:
            first.setdefault(audit.request, audit)
    return api_rank([_trace_kind(audit) for audit in first.values() if audit.calls])


def _trace_kind(audit: RequestAudited) -> TraceKind[Point]:
    apis = frozenset(point.of_api for point in audit.calls)
    edges = ((caller.of_api, callee.of_api) for caller, callee in audit.edges)
    return TraceKind(apis, frozenset(edge for edge in edges if apis.issuperset(edge)))


def api_rank(
    traces: Sequence[TraceKind[Api]], *, preference: Preference = Preference.UNIFORM, steps: int = 20
) -> dict[Api, float]:
    """Scores from 0 to 1, fit to be `SearchSettings.weights`."""
    # Sorted, so that sums come out the same to the last bit, and ties are ties, in every process.
    apis = sorted({api for trace in traces for api in trace.apis})
    if not apis:
        return {}
    number = {api: index for index, api in enumerate(apis)}
    ordered = sorted(
        (
            sorted(number[api] for api in trace.apis),
            sorted((number[caller], number[callee]) for caller, callee in trace.calls),
            trace.seen,
        )
        for trace in traces
    )
    of_trace = np.array([index for index, (found, *_) in enumerate(ordered) for _ in found])
    api_in_it = np.array([index for found, *_ in ordered for index in found])
    calls = sorted({call for _, found, _ in ordered for call in found})
    callers, callees = np.array(calls, dtype=int).reshape(-1, 2).T
    apis_in_trace, traces_with_api = np.bincount(of_trace, minlength=len(ordered)), np.bincount(api_in_it)
    callees_of = np.bincount(callers, minlength=len(apis))
    votes = np.array([seen if preference is Preference.FREQUENCY else 1 for *_, seen in ordered])
    restart = (1 - _DAMPING) * votes / votes.sum()
    of_apis, of_traces = np.full(len(apis), 1 / len(apis)), np.full(len(ordered), 1 / len(ordered))
    for _ in range(steps):
        by_traces = np.bincount(api_in_it, of_traces[of_trace] / apis_in_trace[of_trace])
        by_callers = np.bincount(callees, of_apis[callers] / callees_of[callers], minlength=len(apis))
        by_apis = np.bincount(of_trace, of_apis[api_in_it] / traces_with_api[api_in_it], minlength=len(ordered))
        of_apis = _DAMPING * (by_traces + _CALL_SHARE * by_callers)
        of_traces = _DAMPING * by_apis + restart
        of_apis /= of_apis.max()
        of_traces /= of_traces.max()
    return dict(zip(apis, of_apis.tolist(), strict=True))
