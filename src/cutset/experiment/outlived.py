"""Faults that fired although their request had ended long before: some service keeps a request's context.

Whatever it works at then fails for everybody, until the plan expires. Neither sidecars nor we can hinder it, since
nobody tells them that the request has ended; so it is seen in the spans that come late, and told by name.
"""

from collections import OrderedDict
from collections.abc import Sequence

from cutset.experiment.lifetimes import GRACE_SECONDS
from cutset.experiment.trial import Trial
from cutset.lineage.calls import entry_span, injected_after
from cutset.model.outcome import Points
from cutset.model.span import Span
from cutset.traces.collector import Collector

MAX_WATCHED = 10_000  # traces: plans live for seconds, and no campaign runs this many in those


class Outlived:
    def __init__(self, collector: Collector) -> None:
        self._ends: OrderedDict[str, int] = OrderedDict()  # by trace: after when a fault is late; by the mesh's clock
        self._points: Points = frozenset()
        collector.subscribe(self._look)

    def watch(self, trial: Trial) -> None:
        entry = entry_span(trial.spans, trial.root_id)
        if entry is None:
            return
        self._ends[trial.trace_id] = entry.end_ns + int(GRACE_SECONDS * 1e9)
        if len(self._ends) > MAX_WATCHED:
            self._ends.popitem(last=False)
        self._look(trial.spans)

    def take(self) -> Points:
        """Those that were seen since they were last taken."""
        taken, self._points = self._points, frozenset()
        return taken

    def _look(self, spans: Sequence[Span]) -> None:
        for span in spans:
            end = self._ends.get(span.trace_id)
            if end is not None:
                self._points |= injected_after([span], end)
