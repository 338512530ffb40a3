"""Where the boxes and lines of a graph go, callers left and callees right.

The layout is that of Sugiyama, Tagawa and Toda (1981): break cycles, put services into columns, give long lines a place
of their own in the columns that they pass, order each column so that few lines cross, then straighten. Two things
differ from the textbook. Columns have a limited height, so that a gateway with a hundred callees does not become a
strip. And long lines that share an end share their way, since the many that lead to one store would hide the rest.
"""

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise, repeat
from math import ceil, sqrt
from statistics import fmean
from typing import NamedTuple

SWEEPS = 24  # over the columns; more did not remove crossings in graphs of 200 services
ENTRY_ARROW = 22  # of what is called from outside, left and right of all boxes


@dataclass(frozen=True, slots=True)
class Density:
    name: str
    font: float
    letters: int  # of a name, before it is shortened
    box_height: float
    box_gap: float
    column_gap: float  # doubled where lines are steep
    lane: float  # height that a passing line takes
    thin: float
    thick: float


ROOMY = Density("roomy", font=13, letters=30, box_height=42, box_gap=20, column_gap=90, lane=14, thin=1.2, thick=5)
DENSE = Density("dense", font=10, letters=24, box_height=18, box_gap=8, column_gap=70, lane=5, thin=0.6, thick=2.6)


class Arc(NamedTuple):
    caller: int
    callee: int
    look: str  # lines that look different do not share a way


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


Way = Sequence[tuple[float, float]]  # where a line leaves and enters columns, from caller to callee


@dataclass(frozen=True, slots=True)
class Layout:
    boxes: Sequence[Box]
    ways: Sequence[Way]  # of each arc; of a call to itself, nothing
    width: float
    height: float


def lay_out(
    widths: Sequence[float],
    entries: set[int],
    arcs: Sequence[Arc],
    density: Density,
    heights: Sequence[float] = (),
) -> Layout:
    """Services are numbers: positions in `widths`, which are those of their boxes. `heights` are those of the density,
    unless they are given.
    """
    services = len(widths)
    heights = heights or [density.box_height] * services
    callees: list[list[int]] = [[] for _ in widths]
    for caller, callee in dict.fromkeys((arc.caller, arc.callee) for arc in arcs if arc.caller != arc.callee):
        callees[caller].append(callee)
    callees = _without_cycles(callees, entries)
    order = list(TopologicalSorter(dict(enumerate(callees))).static_order())[::-1]
    column_of = _columns(callees, order, entries, [height + density.box_gap for height in heights])
    lines = _with_bends(arcs, column_of)
    segments = list(dict.fromkeys(segment for line in lines for segment in line.segments()))
    columns = _ordered(column_of, segments, order)
    y = _straightened(columns, segments, heights, density)
    sides = _sides(columns, segments, widths, y, density)
    left, right = ([sides[column][side] for column in column_of] for side in (0, 1))
    boxes = [
        Box(left[each], y[each] - height / 2, right[each] - left[each], height) for each, height in enumerate(heights)
    ]
    leaving = _fanned([(each, each.left, each.right) for each in segments], y, heights)
    arriving = _fanned([(each, each.right, each.left) for each in segments], y, heights)
    ways = []
    for line in lines:
        way = [
            end
            for each in line.segments()
            for end in ((right[each.left], leaving[each]), (left[each.right], arriving[each]))
        ]
        ways.append(way[::-1] if line.lane.backwards else way)
    bottom = max((y[each] + _half(each, heights, density) for each in range(len(y))), default=0.0)
    return Layout(boxes, ways, max(right, default=0) + ENTRY_ARROW, bottom)


def _without_cycles(callees: Sequence[Sequence[int]], entries: set[int]) -> list[list[int]]:
    """The same with those calls of cycles turned round that lead to what is nearer to the entries."""
    services = range(len(callees))
    reached = [sum(1 << callee for callee in each) for each in callees]  # bit sets: what calls lead to, in any number
    for through in services:
        for each in services:
            if reached[each] >> through & 1:
                reached[each] |= reached[through]
    called = {callee for each in callees for callee in each}
    rank: dict[int, int] = {}
    for starts in (
        [each for each in services if each in entries or each not in called],
        *([each] for each in services),
    ):
        wave = [each for each in starts if each not in rank]
        while wave:
            rank |= {each: len(rank) + index for index, each in enumerate(wave)}
            wave = list(dict.fromkeys(callee for each in wave for callee in callees[each] if callee not in rank))
    acyclic: list[list[int]] = [[] for _ in services]
    for caller in services:
        for callee in callees[caller]:
            back = reached[callee] >> caller & 1 and rank[callee] < rank[caller]
            acyclic[callee if back else caller].append(caller if back else callee)
    return acyclic


def _columns(
    callees: Sequence[Sequence[int]], order: Sequence[int], entries: set[int], heights: Sequence[float]
) -> list[int]:
    """Each service right of all its callers, a limited height of a column, the heads of the longest chains first."""
    limit = max(8, ceil(1.6 * sqrt(len(order)))) * fmean(heights or [0])
    callers: list[list[int]] = [[] for _ in order]
    chain = [0] * len(order)
    for each in reversed(order):
        chain[each] = max((chain[callee] + 1 for callee in callees[each]), default=0)
        for callee in callees[each]:
            callers[callee].append(each)
    column_of: dict[int, int] = {}
    filled: dict[int, float] = defaultdict(float)
    waiting = sorted((each for each in order if callers[each] or callees[each]), key=lambda each: (-chain[each], each))
    while waiting:
        ready = [each for each in waiting if all(caller in column_of for caller in callers[each])]
        bottoms = accumulate(heights[each] for each in ready)
        ready = [each for each, bottom in zip(ready, bottoms, strict=True) if bottom <= limit] or ready[:1]
        column_of |= dict.fromkeys(ready, len(filled))
        filled[len(filled)] = sum(heights[each] for each in ready)
        waiting = [each for each in waiting if each not in column_of]
    for each in reversed(order):  # what has more to its right than to its left moves there: lines become shorter
        if len(callees[each]) > len(callers[each]) and each not in entries:
            now, wanted = column_of[each], min(column_of[callee] for callee in callees[each]) - 1
            column_of[each] = next(
                to for to in range(wanted, -1, -1) if filled[to] + heights[each] <= limit or to == now
            )
            filled[now] -= heights[each]
            filled[column_of[each]] += heights[each]
    for each in order:  # what has no connections fills up what room there is
        if each not in column_of:
            rooms = [column for column in filled if filled[column] + heights[each] <= limit]
            column_of[each] = min(rooms, key=lambda column: (filled[column], column)) if rooms else len(filled)
            filled[column_of[each]] += heights[each]
    used = {column: index for index, column in enumerate(sorted(set(column_of.values())))}
    return [used[column_of[each]] for each in range(len(order))]


class _Lane(NamedTuple):
    backwards: bool  # the caller is the right end
    look: str


class _Segment(NamedTuple):
    """From a vertex to one in the next column. Vertices are services, and after them bends."""

    left: int
    right: int
    lane: _Lane


class _Line(NamedTuple):
    """An arc as vertices from left to right: its services, and between them a bend in each column that it passes."""

    vertices: tuple[int, ...]
    lane: _Lane

    def segments(self) -> Iterator[_Segment]:
        return (_Segment(left, right, self.lane) for left, right in pairwise(self.vertices))


def _with_bends(arcs: Sequence[Arc], column_of: list[int]) -> list[_Line]:
    """Appends the bends to `column_of`. Lines share those on the way to, or from, the end that has more of them."""
    calls_out = Counter(arc.caller for arc in arcs)
    calls_in = Counter(arc.callee for arc in arcs)
    bends: dict[tuple[object, ...], int] = {}
    lines = []
    for caller, callee, look in arcs:
        lane = _Lane(column_of[caller] > column_of[callee], look)
        shared = ("to", callee) if calls_in[callee] >= calls_out[caller] else ("from", caller)
        left, right = (callee, caller) if lane.backwards else (caller, callee)
        passed = []
        for column in range(column_of[left] + 1, column_of[right]):
            bend = bends.setdefault((shared, lane, column), len(column_of))
            if bend == len(column_of):
                column_of.append(column)
            passed.append(bend)
        lines.append(_Line((left, *passed, right) if left != right else (left,), lane))
    return lines


def _neighbours(segments: Iterable[_Segment]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Of each vertex, those that it is connected to in the column to the left, and in the column to the right."""
    left: dict[int, list[int]] = defaultdict(list)
    right: dict[int, list[int]] = defaultdict(list)
    for segment in segments:
        left[segment.right].append(segment.left)
        right[segment.left].append(segment.right)
    return left, right


def _ordered(column_of: Sequence[int], segments: Sequence[_Segment], order: Sequence[int]) -> list[list[int]]:
    """Columns from top to bottom with few crossings: each vertex at the mean of its neighbours, to and fro."""
    columns: list[list[int]] = [[] for _ in range(max(column_of, default=-1) + 1)]
    for vertex in (*order, *range(len(order), len(column_of))):
        columns[column_of[vertex]].append(vertex)
    left, right = _neighbours(segments)
    best, fewest = columns, _crossings(columns, right)
    for sweep in range(SWEEPS):
        neighbours, direction = (left, 1) if sweep % 2 == 0 else (right, -1)
        columns = [list(column) for column in columns]
        position = {vertex: index for column in columns for index, vertex in enumerate(column)}
        for column in columns[::direction]:
            means = {each: fmean(position[other] for other in neighbours[each] or [each]) for each in column}
            column.sort(key=lambda each: (not (left[each] or right[each]), means[each]))
            position.update((vertex, index) for index, vertex in enumerate(column))
        if (crossings := _crossings(columns, right)) <= fewest:
            best, fewest = columns, crossings
    return best


def _crossings(columns: Sequence[Sequence[int]], right: Mapping[int, Sequence[int]]) -> int:
    position = {vertex: index for column in columns for index, vertex in enumerate(column)}
    count = 0
    for column in columns:
        above: list[int] = []  # where the segments end that start higher up
        for vertex in column:
            ends = [position[other] for other in right[vertex]]
            count += sum(len(above) - bisect_right(above, end) for end in ends)
            for end in ends:
                insort(above, end)
    return count


def _straightened(
    columns: Sequence[Sequence[int]], segments: Sequence[_Segment], heights: Sequence[float], density: Density
) -> list[float]:
    """Middles of the vertices, from the top: near to their neighbours as far as their order and their heights allow."""
    left, right = _neighbours(segments)
    y: dict[int, float] = {}
    offsets = []  # of the vertices of each column when they stand as close as they may
    for column in columns:
        steps = (_least_distance(upper, lower, heights, density) for upper, lower in pairwise(column))
        offsets.append(list(accumulate(steps, initial=0.0)))
        y.update((vertex, offset - offsets[-1][-1] / 2) for vertex, offset in zip(column, offsets[-1], strict=True))
    for sweep in range(SWEEPS):
        direction = 1 if sweep % 2 == 0 else -1
        last = sweep >= SWEEPS - 4  # in the end, a compromise between both sides
        for column, closest in list(zip(columns, offsets, strict=True))[::direction]:
            wanted = []
            for vertex, offset in zip(column, closest, strict=True):
                near = left[vertex] + right[vertex] if last else (left if direction == 1 else right)[vertex]
                wanted.append(fmean(y[other] for other in near or [vertex]) - offset)
            places = map(float.__add__, _nearest_ascending(wanted), closest)
            y.update(zip(column, places, strict=True))
    top = min((middle - _half(vertex, heights, density) for vertex, middle in y.items()), default=0.0)
    return [y[vertex] - top for vertex in range(len(y))]


def _least_distance(upper: int, lower: int, heights: Sequence[float], density: Density) -> float:
    boxes = [vertex < len(heights) for vertex in (upper, lower)]
    halves = sum(
        heights[vertex] / 2 if is_box else density.lane / 2
        for vertex, is_box in zip((upper, lower), boxes, strict=True)
    )
    return halves + (density.box_gap if any(boxes) else 0)


def _half(vertex: int, heights: Sequence[float], density: Density) -> float:
    """The room above and below its middle, at the edge of the picture."""
    return (heights[vertex] if vertex < len(heights) else density.box_height) / 2


def _nearest_ascending(wanted: Sequence[float]) -> Iterator[float]:
    """The ascending numbers with the least squared differences: neighbours in the wrong order merge into their mean."""
    blocks: list[tuple[float, int]] = []
    for number in wanted:
        mean, size = number, 1
        while blocks and blocks[-1][0] > mean:
            other, length = blocks.pop()
            mean, size = (mean * size + other * length) / (size + length), size + length
        blocks.append((mean, size))
    for mean, size in blocks:
        yield from repeat(mean, size)


def _sides(
    columns: Sequence[Sequence[int]],
    segments: Sequence[_Segment],
    widths: Sequence[float],
    y: Sequence[float],
    density: Density,
) -> list[tuple[float, float]]:
    """Left and right of each column: as wide as its widest box, and farther from the next where lines are steep."""
    rise: dict[int, float] = defaultdict(float)
    for segment in segments:
        rise[segment.left] = max(rise[segment.left], abs(y[segment.left] - y[segment.right]))
    sides = []
    left: float = ENTRY_ARROW
    for column in columns:
        right = left + max(widths[each] for each in column if each < len(widths))
        sides.append((left, right))
        steepest = max(rise[vertex] for vertex in column)
        left = right + min(max(density.column_gap, 0.3 * steepest), 2 * density.column_gap)
    return sides


def _fanned(
    ends: Iterable[tuple[_Segment, int, int]], y: Sequence[float], heights: Sequence[float]
) -> dict[_Segment, float]:
    """Heights at which segments meet the first of two vertices: spread over the side of a box as they come."""
    fans: dict[int, list[tuple[float, _Segment]]] = defaultdict(list)
    for segment, near, far in ends:
        fans[near].append((y[far], segment))
    found = {}
    for vertex, fan in fans.items():
        step = min(0.7 * heights[vertex] / len(fan), 8) if vertex < len(heights) else 0
        for index, (_, segment) in enumerate(sorted(fan)):
            found[segment] = y[vertex] + (index - (len(fan) - 1) / 2) * step
    return found
