"""The agent's spans as the operations of samples."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from cutset.lineage.operations import operation_of
from cutset.model.drill import Sample
from cutset.model.span import Span, SpanKind

SETTLE_SECONDS = 3.0  # the longest wait for spans: the agent sends them within a fraction of one
QUIET_SECONDS = 0.3  # without news, after which no more are expected


class Observer:
    """Listens to the collector. Keeps the spans of traces that it was told to expect, and of no others."""

    def __init__(self) -> None:
        self._spans: dict[str, dict[str, Span]] = {}  # by trace and span id: what is sent twice counts once

    def expect(self, trace_id: str) -> None:
        self._spans[trace_id] = {}

    def forget_all(self) -> None:
        self._spans.clear()

    def receive(self, spans: Sequence[Span]) -> None:
        for span in spans:
            if (kept := self._spans.get(span.trace_id)) is not None:
                kept[span.span_id] = span

    def spans(self, trace_id: str) -> list[Span]:
        return list(self._spans.get(trace_id, {}).values())

    @property
    def count(self) -> int:
        return sum(map(len, self._spans.values()))

    def has_ended(self, trace_id: str) -> bool:
        """Whether the request itself was reported, which happens when it has been answered."""
        return any(span.kind is SpanKind.SERVER for span in self._spans.get(trace_id, {}).values())

    async def settle(self, has_all: Callable[[], bool] = lambda: True) -> None:
        """Until no more news are to be expected."""
        deadline = time.monotonic() + SETTLE_SECONDS
        known, since = -1, time.monotonic()
        while (now := time.monotonic()) < deadline:
            if self.count != known:
                known, since = self.count, now
            elif now - since >= QUIET_SECONDS and has_all():
                return
            await asyncio.sleep(QUIET_SECONDS / 8)

    def complete(self, sample: Sample, began_ns: int) -> Sample:
        """With the operations known by now; times count from when the drill began."""
        spans = self._spans.get(sample.trace_id, {}).values()
        found = [operation_of(span, began_ns) for span in spans if "cutset.endpoint" in span.attributes]
        return replace(sample, operations=tuple(sorted(found, key=lambda operation: operation.started_at)))
