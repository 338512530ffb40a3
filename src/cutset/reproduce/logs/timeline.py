"""When a visit of a good run would have been in the failure log, and how far from an observable (ANDURIL §5.2.3).

Time is logical: the number of log entries before, told by the lines that the log had. Entries that both logs have,
whatever their thread, divide them into intervals, and visits are spread over an interval of the failure log as they are
over the good run's.

Distances are those of ANDURIL's code: the lines from the visit to the observable, that one included; three times as
many if the visit comes after it, as causes come before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from cutset.reproduce.logs.difference import LogEntry, matches

_AFTER = 3  # how much worse it is to come after an observable


@dataclass(frozen=True, slots=True)
class Timeline:
    """Both lists rise: where `good[n]` records had been written, `failure[n]` entries of the failure log had."""

    good: tuple[int, ...]
    failure: tuple[int, ...]
    good_lines: tuple[int, ...]  # of the good run's records
    lines: tuple[int, ...]  # of the failure log's entries

    @property
    def alike(self) -> float:
        """The share of the shorter log that the other has as well: the less it is, the less times tell."""
        return (len(self.good) - 1) / max(1, min(len(self.good_lines), len(self.lines)))


def align(good: Sequence[LogEntry], failure: Sequence[LogEntry]) -> Timeline:
    pairs = matches([entry.key for entry in good], [entry.key for entry in failure])
    good_lines = sorted({entry.line for entry in good})  # a record may have several entries
    return Timeline(
        good=(0, *(bisect_right(good_lines, good[here].line) for here, _ in pairs)),
        failure=(0, *(there + 1 for _, there in pairs)),
        good_lines=tuple(good_lines),
        lines=tuple(entry.line for entry in failure),
    )


def failure_position(timeline: Timeline, log_lines: int) -> float:
    """How many entries of the failure log come before a visit at which a good run's log had `log_lines`."""
    written = bisect_right(timeline.good_lines, log_lines)
    after = bisect_right(timeline.good, written)
    good, failure = timeline.good[after - 1], timeline.failure[after - 1]
    scale = 1.0  # after the last line in common
    if after < len(timeline.good):
        scale = (timeline.failure[after] - failure) / (timeline.good[after] - good)
    return failure + scale * (written - good)


def temporal_distance(timeline: Timeline, log_lines: int, observed: Sequence[int]) -> int:
    """From a visit to the nearest of an observable's lines in the failure log, which are given in order.

    One that the failure log does not show is as far away as the log is long.
    """
    lines = timeline.lines
    if not observed:
        return len(lines)
    position = int(failure_position(timeline, log_lines))
    following = bisect_left(observed, lines[position]) if position < len(lines) else len(observed)
    distances = []
    if following < len(observed):
        distances.append(max(bisect_left(lines, observed[following]), position) - position + 1)
    if following:
        distances.append(_AFTER * (position - bisect_left(lines, observed[following - 1])))
    return min(distances)
