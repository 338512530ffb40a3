"""Which traces are alike, from columns of their spans: a number for each trace tells, and one of them is read for all.

Of a trace, a reader may look at the tree of its spans' labels, and at their order only where something must be guessed:
if several spans have no parent in the trace; below a call that is being made, where the first may answer for the
others; and where sidecars may have other names for services. All else that a request does at the same time comes in any
order, which would make a shape of almost every trace. So a fingerprint adds up what is below each span, with its place
only where order counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutset.model.shape import LOST, ROOT, Shape
from cutset.model.span import SpanKind, SpanLabel

MOST_LEVELS = 256  # of spans below spans: traces that are deeper, or a circle, are alike if they are equal
_CALLING = (SpanKind.CLIENT, SpanKind.PRODUCER)

_Columns = Mapping[str, NDArray[Any]]
_Bits = NDArray[np.uint64]  # among a million different traces, two have the same fingerprint once in 40 million times
_Rows = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def shapes_of(columns: _Columns, labels: Sequence[SpanLabel], trace_ids: NDArray[Any]) -> tuple[Shape, ...]:
    """Columns are of spans in order of their trace (a position in `trace_ids`, which are sorted), start and ids.

    The two halves of a call may share one span id, as in Zipkin: then the half that was called hangs under the one that
    called, and what names that id as its parent hangs under the half that was called.
    """
    internal = np.array([label.kind is SpanKind.INTERNAL for label in labels], dtype=bool)[columns["label"]]
    calls = np.array([label.kind in _CALLING for label in labels], dtype=bool)[columns["label"]]
    sidecar = np.array([bool(label.sidecar) for label in labels], dtype=bool)[columns["label"]]
    columns = _in_order({**columns, "internal": internal, "calls": calls, "sidecar": sidecar})
    if not len(columns["trace"]):
        return ()
    parents = _parents(columns)
    starts = np.flatnonzero(np.diff(columns["trace"], prepend=-1))
    ends = np.append(starts[1:], len(parents))
    trace = np.repeat(np.arange(len(starts)), ends - starts)
    durations = columns["duration"][_entries(parents, starts, trace)]
    _, group = np.unique(_fingerprints(columns, parents, trace, starts), return_inverse=True)
    # The longest of each group; of equally long ones that with the smallest id, so that merging gives the same.
    longest_first = np.lexsort((-durations, group))
    longest = longest_first[np.flatnonzero(np.diff(group[longest_first], prepend=-1))]
    shapes = []
    for number, traces, total_ns in zip(longest, np.bincount(group), _sums(durations, group), strict=True):
        own = slice(starts[number], ends[number])
        inside = np.where(parents[own] < 0, parents[own], parents[own] - starts[number])
        shapes.append(
            Shape(
                tuple(columns["label"][own].tolist()),
                tuple(inside.tolist()),
                int(traces),
                total_ns,
                int(durations[number]),
                trace_ids[columns["trace"][starts[number]]],
            )
        )
    return tuple(shapes)


def _in_order(columns: _Columns) -> _Columns:
    """Of equal starts, labels decide before ids: ids mean nothing. Without the fragments of Zipkin's spans: a record
    without a time and a kind adds something to the span of its id, and is none."""
    order = np.lexsort((columns["label"], columns["start_ns"], columns["trace"]))
    bare = columns["internal"] & (columns["start_ns"] == 0)
    if bare.any():
        fragment = bare & np.isin(columns["id"], columns["id"][~bare])
        order = order[~fragment[order]]
    return {name: values[order] for name, values in columns.items()}


def _parents(columns: _Columns) -> _Rows:
    """Of each span the row of its parent, ROOT or LOST."""
    ids, own = np.unique(columns["id"], return_inverse=True)
    rows = np.arange(len(own))
    caller, callee = np.full(len(ids), -1), np.empty(len(ids), dtype=np.int64)
    callee[own[::-1]] = rows[::-1]  # what is assigned last stays: the first of each id
    for half, among in ((caller, columns["calls"]), (callee, ~columns["calls"])):
        half[own[among][::-1]] = rows[among][::-1]
    # Each parent once, in order: to look for them as they come would miss the processor's cache each time.
    above, naming = np.unique(columns["parent_id"], return_inverse=True)
    named = np.minimum(np.searchsorted(ids, above), len(ids) - 1)
    parents = np.where(ids[named] == above, callee[named], LOST)[naming]
    parents[columns["is_root"]] = ROOT
    served = ~columns["calls"] & ~columns["internal"] & (caller[own] >= 0)
    parents[served] = caller[own][served]
    return parents


def _entries(parents: _Rows, starts: _Rows, trace: _Rows) -> _Rows:
    """Of each trace the first span that says it has no parent, else whose parent is lost, else of all."""
    entries = starts.copy()
    for kind in (LOST, ROOT):
        rows = np.flatnonzero(parents == kind)[::-1]
        entries[trace[rows]] = rows
    return entries


def _sums(values: _Rows, group: _Rows) -> list[int]:
    """Of each group, exact: nanoseconds of many traces may be more than 64 bits hold."""
    high, low = np.zeros((2, group.max() + 1), dtype=np.int64)
    np.add.at(high, group, values >> 32)
    np.add.at(low, group, values & 0xFFFFFFFF)
    return [(each << 32) + rest for each, rest in zip(high.tolist(), low.tolist(), strict=True)]


def _fingerprints(columns: _Columns, parents: _Rows, trace: _Rows, starts: _Rows) -> _Bits:
    labels = columns["label"].astype(np.uint64)
    depth = _depths(parents)
    odd = np.bincount(trace[parents < 0], minlength=len(starts)) != 1  # several, or none: a circle
    odd[trace[depth > MOST_LEVELS]] = True
    plain = np.flatnonzero(~odd[trace])
    by_depth = plain[np.argsort(depth[plain], kind="stable")]
    levels = np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1)
    places = _places(columns, parents, trace, levels)
    found, below = np.zeros(len(starts), dtype=np.uint64), np.zeros(len(parents), dtype=np.uint64)
    for rows in reversed(levels):
        part = _mixed(_mixed(_mixed(labels[rows]) + below[rows]) + places[rows])
        if depth[rows[:1]].any():
            np.add.at(below, parents[rows], part)
        else:
            np.add.at(found, trace[rows], part)
    rows = np.flatnonzero(odd[trace])
    inside = np.where(parents[rows] < 0, parents[rows], parents[rows] - starts[trace[rows]]).astype(np.uint64)
    position = (rows - starts[trace[rows]]).astype(np.uint64)
    np.add.at(found, trace[rows], _mixed(_mixed(_mixed(labels[rows]) + inside) - position))
    return found


def _depths(parents: _Rows) -> NDArray[np.int32]:
    """How many spans are above each; more than `MOST_LEVELS` if they are too many, or a circle."""
    above, depth = parents.copy(), (parents >= 0).astype(np.int32)
    climbing = np.flatnonzero(above >= 0)
    for _ in range(MOST_LEVELS.bit_length()):  # twice as far each time
        depth[climbing] += depth[above[climbing]]
        above[climbing] = above[above[climbing]]
        climbing = climbing[above[climbing] >= 0]
    depth[climbing] = MOST_LEVELS + 1
    return depth


def _places(columns: _Columns, parents: _Rows, trace: _Rows, levels: Sequence[_Rows]) -> _Bits:
    """Of each span, where it comes among its siblings if their order counts, else 0; of a root, whether its parent is
    lost."""
    within_call = columns["calls"].copy()
    for rows in levels[1:]:
        passed_on = rows[columns["internal"][rows]]
        within_call[passed_on] = within_call[parents[passed_on]]
    within_call |= (np.bincount(trace, columns["sidecar"]) > 0)[trace]
    places: _Bits = (parents == LOST).astype(np.uint64)
    inner = np.flatnonzero(parents >= 0)
    inner = inner[within_call[parents[inner]]]
    inner = inner[np.argsort(parents[inner], kind="stable")]
    places[inner] = _ranks(parents[inner])
    return places


def _ranks(groups: _Rows) -> _Rows:
    """Of sorted values, which one of its equals each is: 1, 2, …"""
    first = np.diff(groups, prepend=-1) != 0
    rows = np.arange(len(groups))
    return rows - np.maximum.accumulate(np.where(first, rows, 0)) + 1


def _mixed(values: _Bits) -> _Bits:
    """Splitmix64: equal for equal values, and otherwise as if by chance."""
    values = values + _GOLDEN
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
