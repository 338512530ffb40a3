"""The failure log next to the log of the run that reproduced it: which entries are the same, and when the fault was.

Entries that read alike, but for what differs from run to run, stand side by side; between those, entries of the same
logger and level do. Logs may be huge: of very long ones, the beginning and the end are compared.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from cutset.model.reproduction.log import LogComparison, LogPart, LogRow
from cutset.model.reproduction.result import FailureMessage, Reproduction
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.logs.dialect import LogDialect
from cutset.reproduce.logs.difference import LogEntry, matches, text_keys
from cutset.reproduce.logs.formats import LogFormats
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.timeline import align, failure_position

MOST_LINES = 20_000  # of a log: comparing takes seconds then


@dataclass(frozen=True, slots=True)
class ComparedLog:
    parts: tuple[LogPart, ...]
    left_out: int  # lines in its middle, as it is very long


def compare_logs(
    failure_log: str, reproduction: Reproduction, pattern: str | None, dialect: LogDialect
) -> LogComparison:
    """The failure log, and the log of the run that reproduced it, as far as it is still there."""
    text = run_text(reproduction.folder)
    formats = formats_of(failure_log, *([] if text is None else [text]), pattern=pattern, dialect=dialect)
    failure = log_of(failure_log, formats, dialect)
    run = ComparedLog((), 0) if text is None else log_of(text, formats, dialect)
    rows = side_by_side(failure, run, reproduction)
    return LogComparison(tuple(rows), text is not None, failure.left_out, run.left_out)


def log_of(text: str, formats: LogFormats, dialect: LogDialect) -> ComparedLog:
    lines = text.removesuffix("\n").split("\n")  # as `read_log` counts them; there are other ends of lines
    half = MOST_LINES // 2
    left_out = max(0, len(lines) - MOST_LINES)
    kept = lines[:half] + lines[-half:] if left_out else lines
    records = read_log(kept, formats, dialect=dialect)
    starts = [record.line - 1 for record in records]
    parts = [
        LogPart(
            replace(record, line=record.line + (left_out if start >= half else 0)),
            tuple(kept[start:end]),
            next(iter(text_keys(record)), ""),
        )
        for record, start, end in zip(records, starts, [*starts[1:], len(kept)], strict=False)
    ]
    return ComparedLog(tuple(parts), left_out)


def run_text(folder: Path) -> str | None:
    """The log of a run, by the folder of its round. None if it is no longer there."""
    try:
        # The workload may have logged elsewhere than to its output; how the round ended is recorded with where.
        paths = json.loads((folder / "meta.json").read_text())["logs"]
    except (OSError, ValueError, KeyError, TypeError):
        paths = ["run.log"]
    texts = []
    for path in paths:
        try:
            texts.append(_where(folder, path).read_text(errors="replace"))
        except OSError:
            return None
    return "".join(texts)


def _where(folder: Path, path: str) -> Path:
    """As it was told; or in the folder as it is now, which may have been moved since."""
    told = folder / path
    return told if told.exists() else folder / told.name


def line_in_failure_log(
    fault: FiredFault, failure: ComparedLog, run: ComparedLog, messages: Sequence[FailureMessage] = ()
) -> int | None:
    """About where the failure log was when the fault came (ANDURIL §5.2.3), by what both logs have in common.

    Never after one of the failure's messages that came after it in the run. None if it is not known: of a very long
    log, not all is read.
    """
    if run.left_out or not failure.parts or not run.parts:
        return None
    timeline = align(*([_entry(part) for part in log.parts] for log in (run, failure)))
    position = int(failure_position(timeline, fault.log_lines))
    shown = {failure.parts[at].key for at, message in _messages_of(failure, messages).items() if message.shown}
    earlier = Counter(part.key for part in run.parts if part.record.line <= fault.log_lines)
    lines = [timeline.lines[min(position, len(timeline.lines) - 1)]]
    for part in failure.parts:
        if part.key in shown and not earlier[part.key]:
            lines.append(part.record.line)
        earlier[part.key] -= earlier[part.key] > 0
    return min(lines)


def side_by_side(failure: ComparedLog, run: ComparedLog, reproduction: Reproduction) -> list[LogRow]:
    messages = _messages_of(failure, reproduction.messages)
    wanted = {part.key for number, part in enumerate(failure.parts) if number in messages and messages[number].shown}
    fired = _fired_before(run, reproduction.faults)
    rows = []
    for here, there in _pairs(failure.parts, run.parts):
        left = None if here is None else failure.parts[here]
        right = None if there is None else run.parts[there]
        message = None if here is None else messages.get(here)
        # What has another entry beside it is that entry, even if it reads like a message: good runs have it, too.
        shows = message.shown if message else right is not None and left is None and right.key in wanted
        rows.append(
            LogRow(left, right, message, shows and right is not None, () if there is None else fired.get(there, ()))
        )
    if late := fired.get(len(run.parts)):
        rows.append(LogRow(None, None, before=late))
    return rows


def _entry(part: LogPart) -> LogEntry:
    return LogEntry(part.key, part.record.thread, part.record.thread, part.record.line)


def _kind(part: LogPart) -> str:
    return f"{part.record.logger} {part.record.level}"


def _pairs(failure: Sequence[LogPart], run: Sequence[LogPart]) -> Iterator[tuple[int | None, int | None]]:
    """Positions that stand side by side, in order. Two passes: what reads alike, and between, what is of one kind."""
    same = [
        (-1, -1),
        *matches(*([part.key for part in log] for log in (failure, run))),
        (len(failure), len(run)),
    ]
    for (here, there), (next_here, next_there) in pairwise(same):
        left, right = failure[here + 1 : next_here], run[there + 1 : next_there]
        alike = matches(*([_kind(part) for part in log] for log in (left, right)))
        done_here, done_there = here + 1, there + 1
        for x, y in [*alike, (len(left), len(right))]:
            yield from ((number, None) for number in range(done_here, here + 1 + x))
            yield from ((None, number) for number in range(done_there, there + 1 + y))
            done_here, done_there = here + 2 + x, there + 2 + y
            if x < len(left):
                yield here + 1 + x, there + 1 + y
        if next_here < len(failure):
            yield next_here, next_there


def _messages_of(failure: ComparedLog, messages: Sequence[FailureMessage]) -> dict[int, FailureMessage]:
    """By the entry of the failure log whose lines a message is on."""
    found: dict[int, FailureMessage] = {}
    by_line = {
        part.record.line + offset: number
        for number, part in enumerate(failure.parts)
        for offset in range(len(part.lines))
    }
    for message in messages:
        if not message.absent and message.line in by_line:
            found.setdefault(by_line[message.line], message)
    return found


def _fired_before(run: ComparedLog, faults: Sequence[FiredFault]) -> dict[int, tuple[FiredFault, ...]]:
    """By the entry that was written next."""
    lines = [part.record.line for part in run.parts]
    fired: dict[int, tuple[FiredFault, ...]] = {}
    for fault in faults:
        if not run.left_out:
            at = bisect_right(lines, fault.log_lines)
            fired[at] = (*fired.get(at, ()), fault)
    return fired
