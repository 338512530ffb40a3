"""What the failure log has that good logs do not: the observables of a reproduction, thread by thread (ANDURIL §5.1).

§5.1.1 names Myers' algorithm; ANDURIL's code fills the whole table of longest common subsequences. Here the rows of
that table are integers with a bit for each good line (Crochemore et al., 2001; Hyyrö, 2004), so that it takes the same
time however much the logs differ. Of several longest subsequences it is the one of ANDURIL's code that is taken: read
from the end, a good line is skipped where that costs nothing, else a failure line, else both match. So of a message
that the failure log has more often, the last ones are the surplus.

Where the table would have more than `_CELLS` bits, a window moves along both logs by half its size at a time: lines
that are further apart than that are not matched any more, and time stays linear.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cutset.model.reproduction.log import LogRecord, Observable
from cutset.reproduce.logs.values import sanitise

_WINDOW = 1 << 15  # lines
_CELLS = _WINDOW * _WINDOW  # 128 MB

# Names that runtimes give: what a program calls its threads, it calls them in each run. A process may be named before.
_NUMBERED = re.compile(
    r"(?<![^/])(?:(?:Thread|Timer|Dummy|Task|Greenlet|(?:Fork|Spawn|ForkServer)?Process|SyncManager)-\d+(?::\d+)*"
    r"|(?P<jvm_pool>pool-\d+-thread-|ForkJoinPool(?:\.commonPool|-\d+)-worker-|[\w.-]*EventLoopGroup-\d+-|qtp\d+-"
    r"|[\w.-]+-(?:thread|worker|exec|executor)-)\d+"
    r"|(?P<pool>[\w-]+_|\w*PoolWorker-)?\d+)(?=$|/| \()"
)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A record as comparisons see it."""

    key: str
    thread: str
    family: str  # what the thread's name has in common with those of other runs
    line: int


def text_keys(record: LogRecord) -> list[str]:
    """The logger with what is constant in the first line of the message; and the exception of the traceback.

    They are two, because a traceback that another thread printed can be taken for this record's.
    """
    text = sanitise(record.message.split("\n", 1)[0]).strip()
    keys = [f"{record.logger}: {text}" if record.logger else text] if text else []
    return [*keys, record.raised] if record.raised else keys


def thread_family(name: str) -> str:
    """`Thread-*` for `Thread-12`: numbers of threads, tasks, pool workers and processes depend on what ran before."""
    return _NUMBERED.sub(lambda found: _NUMBER.sub("*", found[0]), name)


def _is_pool(name: str) -> bool:
    return any(found["pool"] or found["jvm_pool"] for found in _NUMBERED.finditer(name))


def keyed(records: Iterable[LogRecord], keys: Callable[[LogRecord], Sequence[str]] = text_keys) -> list[LogEntry]:
    """An entry for each of a record's keys."""
    return [
        LogEntry(key, record.thread, thread_family(record.thread), record.line)
        for record in records
        for key in keys(record)
    ]


def relevant_observables(
    good: Sequence[LogEntry], failure: Sequence[LogEntry], *other_good: Sequence[LogEntry]
) -> list[Observable]:
    """Entries that only the failure log has, in its order, without what comes and goes between good runs as well.

    The double difference of ANDURIL's code: what another good run has beyond the good one is matched with what the
    failure log has beyond it, and only the rest is relevant.
    """
    remaining = surplus(good, failure)
    for other in other_good:
        _, remaining = _unmatched(surplus(good, other), remaining)
    return [
        Observable(entry.key, entry.thread, entry.line) for entry in sorted(remaining, key=lambda entry: entry.line)
    ]


def present(good: Sequence[LogEntry], run: Sequence[LogEntry], observables: Iterable[Observable]) -> set[str]:
    """Keys of the observables that a run shows and a good run does not (Algorithm 2, line 4).

    The paper compares the run with the failure log; ANDURIL's code, and so this, with the good one: a run that logs an
    observable fewer times than the failure log, or elsewhere, shows it nevertheless.
    """
    shown = {entry.key for entry in surplus(good, run)}
    return {observable.key for observable in observables} & shown


def surplus(good: Sequence[LogEntry], run: Sequence[LogEntry]) -> list[LogEntry]:
    """What `run` has beyond `good`, family by family of threads in the order in which they appear in `run`."""
    return difference(good, run)[1]


def difference(good: Sequence[LogEntry], run: Sequence[LogEntry]) -> tuple[list[LogEntry], list[LogEntry]]:
    """What only one of them has, and what only the other has."""
    ours, theirs = by_family(run), by_family(good)
    only_good: list[LogEntry] = []
    only_run: list[LogEntry] = []
    for family in ours | theirs:
        lost, new = _apart(theirs.get(family, []), ours.get(family, []))
        only_good += lost
        only_run += new
    return only_good, only_run


def _apart(good: Sequence[LogEntry], run: Sequence[LogEntry]) -> tuple[list[LogEntry], list[LogEntry]]:
    """Of one family of threads.

    The same names are the same threads, and are compared one by one, as ANDURIL does. Otherwise they are read thread by
    thread or as it was logged, whichever has more in common: the first suits threads that do the same side by side,
    the second suits pools, which give work to whoever is free.
    """
    here, there = _by_thread(good), _by_thread(run)
    if len(here) <= 1 and len(there) <= 1:
        return _unmatched(good, run)
    if here.keys() == there.keys() and not any(map(_is_pool, here)):
        apart = [_unmatched(here[name], there[name]) for name in there]
        return [entry for lost, _ in apart for entry in lost], [entry for _, new in apart for entry in new]
    as_logged = _unmatched(good, run)
    by_thread = _unmatched(*([entry for entries in threads.values() for entry in entries] for threads in (here, there)))
    return by_thread if len(by_thread[1]) <= len(as_logged[1]) else as_logged


def _unmatched(good: Sequence[LogEntry], run: Sequence[LogEntry]) -> tuple[list[LogEntry], list[LogEntry]]:
    pairs = matches([entry.key for entry in good], [entry.key for entry in run])
    here, there = {x for x, _ in pairs}, {y for _, y in pairs}
    return (
        [entry for number, entry in enumerate(good) if number not in here],
        [entry for number, entry in enumerate(run) if number not in there],
    )


def by_family(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    families: dict[str, list[LogEntry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    return families


def _by_thread(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    threads: dict[str, list[LogEntry]] = {}
    for entry in entries:
        threads.setdefault(entry.thread, []).append(entry)
    return threads


def matches(good: Sequence[str], failure: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of a longest common subsequence, in order; of a common one where both are very long."""
    # Both begin alike until something goes wrong: that much of the table is known.
    here = there = next(
        (n for n, (x, y) in enumerate(zip(good, failure, strict=False)) if x != y), min(len(good), len(failure))
    )
    found = [(number, number) for number in range(here)]
    while (len(good) - here) * (len(failure) - there) > _CELLS:
        pairs = _longest(good[here : here + _WINDOW], failure[there : there + _WINDOW])
        kept = [pair for pair in pairs if max(pair) < _WINDOW // 2]
        found += ((here + x, there + y) for x, y in kept)
        # What comes next may have a better match beyond the window's end: the next window starts with it.
        x, y = pairs[len(kept)] if len(kept) < len(pairs) else (_WINDOW // 2, _WINDOW // 2)
        here, there = here + x, there + y
    found += ((here + x, there + y) for x, y in _longest(good[here:], failure[there:]))
    return found


def _longest(good: Sequence[str], failure: Sequence[str]) -> list[tuple[int, int]]:
    """Bit j of row i is 0 where good line j makes the subsequence of the first i failure lines longer."""
    positions = _bits(good, set(failure))
    row = every = (1 << len(good)) - 1
    rows = [row]
    for key in failure:
        hits = row & positions.get(key, 0)
        row = ((row + hits) | (row - hits)) & every
        rows.append(row)
    pairs = []
    i, j = len(failure), len(good)
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((j, i))
    return pairs[::-1]


def _bits(keys: Sequence[str], wanted: set[str]) -> dict[str, int]:
    """For each key an integer with the bits of its positions."""
    bits: dict[str, bytearray] = {}
    for position, key in enumerate(keys):
        if key in wanted:
            if key not in bits:
                bits[key] = bytearray(len(keys) // 8 + 1)
            bits[key][position // 8] |= 1 << position % 8
    return {key: int.from_bytes(value, "little") for key, value in bits.items()}
