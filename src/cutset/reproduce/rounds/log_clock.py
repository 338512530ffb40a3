"""Where a run's log was at a moment, in lines: visits and faults are placed in time by that (ANDURIL §5.2.3).

The hook tells how many bytes the log had, whoever wrote them: `logging`, `print`, a logger of the program's own,
another process. Where the log is written elsewhere first (pytest shows it when a test is over), or where it is files
whose names are not known beforehand, what its loggers had handled by then is counted, and looked for in the log.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\r|\n")  # as text is read


class LogMoment(NamedTuple):
    logged: int  # records of its loggers, of all processes
    printed: int  # bytes of the log, if it is one file that was there from the beginning


def log_clock(
    moments: Collection[LogMoment], log: bytes, record_lines: Callable[[str], Sequence[int]]
) -> Callable[[LogMoment], int]:
    """Tells how many lines the log had at a moment.

    `moments` are those of the run; `record_lines` tells on which lines of a log records of a logger begin.
    """
    line_ends = [end.start() for end in _LINE_END.finditer(log)]

    def by_bytes(moment: LogMoment) -> int:
        return bisect_left(line_ends, moment.printed)

    if len(set(map(by_bytes, moments))) >= len({moment.logged for moment in moments}):
        return by_bytes
    # More was logged in between than the log shows: it was written later, or does not show all.
    begins = record_lines(_LINE_END.sub(b"\n", log).decode(errors="replace"))
    if len(begins) < max(moment.logged for moment in moments) and any(map(by_bytes, moments)):
        return by_bytes
    lines = [*(begin - 1 for begin in begins), len(line_ends)]
    return lambda moment: lines[min(moment.logged, len(begins))] if begins else moment.logged
