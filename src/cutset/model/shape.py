"""Traces that are alike, counted together: most of what a system does, it does many times."""

from dataclasses import dataclass

from cutset.model.span import SpanLabel

ROOT = -1  # instead of a parent's position: the span says that it has none
LOST = -2  # its parent is not in the trace: never exported, or of a caller outside


@dataclass(frozen=True, slots=True)
class Shape:
    """Traces whose spans have the same labels, in the same order of start, under the same parents.

    Positions are those of the spans in order of start; with skewed clocks a parent may come after its child, and in a
    malformed trace parents may form a cycle.
    """

    labels: tuple[int, ...]  # of each span, its number in `ShapeBatch.labels`
    parents: tuple[int, ...]  # of each span, its parent's position, ROOT or LOST
    traces: int
    total_ns: int  # of all these traces, each from the start to the end of its entry span
    longest_ns: int
    longest_trace_id: str  # the smallest id among equally long ones, so that merging in any order gives the same


@dataclass(frozen=True, slots=True)
class ShapeBatch:
    labels: tuple[SpanLabel, ...]
    shapes: tuple[Shape, ...]
