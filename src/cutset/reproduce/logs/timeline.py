"""When a visit of a good run would have been in the failure log, and how far from an observable (ANDURIL §5.2.3).

Time is logical: the number of log lines before. Lines that both logs have, whatever their thread, divide them into
intervals, and visits are spread over an interval of the failure log as they are over the good run's.

Distances are those of ANDURIL's code: the lines from the visit to the observable, that one included; three times as
many if the visit comes after it, as causes come before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from cutset.reproduce.logs.difference import LogEntry, matches

_AFTER = 3  # how much worse it is to come after an observable


@dataclass(frozen=True, slots=True)
class Timeline:
    """Both lists rise: where `good[n]` records of `logging` had been written, `failure[n]` of the failure log's had."""

    good: tuple[int, ...]
    failure: tuple[int, ...]
    lines: tuple[int, ...]  # of the failure log's entries


def align(good: Sequence[LogEntry], failure: Sequence[LogEntry]) -> Timeline:
    pairs = matches([entry.key for entry in good], [entry.key for entry in failure])
    # Visits count what went through `logging`; plain output is in the log, but not in their count.
    counts_all = not any(entry.is_logged for entry in good)
    records = [entry.line != before for entry, before in zip(good, [0, *(entry.line for entry in good)], strict=False)]
    written = [
        0,
        *accumulate(new and (counts_all or entry.is_logged) for new, entry in zip(records, good, strict=True)),
    ]
    return Timeline(
        good=(0, *(written[here + 1] for here, _ in pairs)),
        failure=(0, *(there + 1 for _, there in pairs)),
        lines=tuple(entry.line for entry in failure),
    )


def failure_position(timeline: Timeline, log_lines: int) -> float:
    """How many entries of the failure log come before a visit that comes after `log_lines` of a good run."""
    after = bisect_right(timeline.good, log_lines)
    good, failure = timeline.good[after - 1], timeline.failure[after - 1]
    scale = 1.0  # after the last line in common
    if after < len(timeline.good):
        scale = (timeline.failure[after] - failure) / (timeline.good[after] - good)
    return failure + scale * (log_lines - good)


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
