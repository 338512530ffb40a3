"""How far the log of a run agrees with the failure log: what it explains, what it lacks, what it adds.

Both are compared with a good run, not with each other: of what a log says that the good one does not, and of what it
does not say, each message counts once, whatever its place and number. What comes and goes between good runs counts for
nothing.

An exception that says something else is another one, but for its values. Of runs that agree so far, values and order
tell which is nearer: that it was order 17 that got lost, and after which other. They count where good runs have the
same ones, as elsewhere they may be chance. Likewise, of several runs with one fault, what one lacks or adds and another
does not is chance, and so are values that differ between them.

What a run says before its fault fires, the fault has no part in. What is new by then is chance; what it says with other
values than the failure log, as often, and before that says anything new, is of another machine or another day. `chance`
are messages that other runs said before their faults fired, though no good run did. What the other machine calls
otherwise by then, it may call so later, too.

How many entries are apart tells which moment is nearer, whether or not it contradicts: after which order it was that no
more were sent.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import LogAgreement, LogLine
from cutset.reproduce.logs.batches import comes_and_goes
from cutset.reproduce.logs.difference import LogEntry, by_family, difference, keyed
from cutset.reproduce.logs.values import other_words, sanitise, steady_values

_SHOWN = 20  # lines of each kind that are kept: more of them tell no more

_Texts = dict[str, set[str]]  # of messages, by their key
_Values = dict[str, set[str | None]]  # likewise, what of them should be the same


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """What a run with a fault logged, and how many lines were there when the fault fired; 0: that is not known."""

    records: Sequence[LogRecord]
    before: int = 0


@dataclass(frozen=True, slots=True)
class _Log:
    entries: list[LogEntry]  # by their texts, which tell more than their statements
    records: dict[int, LogRecord]  # by their lines


def agreement_with(
    good: Sequence[Iterable[LogRecord]], failure: Iterable[LogRecord]
) -> Callable[[Sequence[FaultyRun], Collection[str]], tuple[LogAgreement, int]]:
    """Tells of runs with one fault, and of what is known to be chance, how they agree with the failure log, and how
    many messages they lack or add in all; lines are those of the first run."""
    usual, *others = map(_log, good)
    failed = _log(failure)
    is_noise = comes_and_goes({entry.key for other in others for only in _apart(usual, other) for entry in only})
    orderly = _orderly([usual, *others])
    steady = steady_values([_texts(log) for log in (usual, *others)])

    def values(log: _Log, in_our_words: Callable[[str], str] = str) -> _Values:
        return {key: {steady(key, in_our_words(text)) for text in texts} for key, texts in _texts(log).items()}

    def changes(log: _Log) -> tuple[set[str], set[str]]:
        lost, new = ({entry.key for entry in only if not is_noise(entry.key)} for only in _apart(usual, log))
        return lost, new

    def entries(log: _Log, in_our_words: Callable[[str], str] = str) -> Counter[tuple[str, str | None]]:
        told = ((entry.key, steady(entry.key, in_our_words(_text_of(log, entry)))) for entry in log.entries)
        return Counter(entry for entry in told if not is_noise(entry[0]))

    def apart(one: Counter[tuple[str, str | None]], other: Counter[tuple[str, str | None]]) -> int:
        return (one - other).total() + (other - one).total()

    lost, new = changes(failed)
    news = [entry for entry in _apart(usual, failed)[1] if entry.key in new - lost]  # what is lost, too, has moved
    in_our_words = other_words(_texts(usual), _texts(failed), _said_before(news, failed))
    failed_values, failed_entries = values(failed, in_our_words), entries(failed, in_our_words)
    reasons = _reasons(failed)
    by_chance = max((apart(entries(usual), entries(other)) for other in others), default=0)

    def differing(
        run: _Log, run_values: _Values, before: int, is_chance: Callable[[str], bool]
    ) -> tuple[set[str], set[str], set[str]]:
        """What the run lacks, what it adds, and what both have, but not alike."""
        run_lost, run_new = changes(run)
        early = _said_by(run, before)
        elsewhere = early & _said_before([entry for entry in news if not is_chance(entry.key)], failed)
        often, as_often = (Counter(entry.key for entry in log.entries) for log in (run, failed))
        lacking, added = (new - run_new) | (run_lost - lost), (run_new - new - early) | (lost - run_lost)
        unlike = lacking & added
        lacking, added = lacking - unlike, added - unlike
        unlike |= {entry.key for only in _apart(failed, run) for entry in only if entry.family in orderly}
        unlike |= {key for key, texts in run_values.items() if texts != failed_values.get(key, texts)}
        unlike -= {key for key in elsewhere if often[key] == as_often[key]}
        unlike = {key for key in unlike - lacking - added if not is_noise(key)}
        run_reasons = _reasons(run)
        lacking |= {key for key in unlike if run_reasons.get(key) != reasons.get(key)}
        unlike -= lacking
        return lacking, added, unlike

    def said_otherwise(run_values: _Values) -> Iterator[LogEntry]:
        """Entries of the failure log whose values the run does not have."""
        for entry in failed.entries:
            if steady(entry.key, in_our_words(_text_of(failed, entry))) not in run_values.get(entry.key, ()):
                yield entry

    def agreement(runs: Sequence[FaultyRun], chance: Collection[str] = ()) -> tuple[LogAgreement, int]:
        logs = [_log(run.records) for run in runs]
        told = [values(log) for log in logs]
        steadily = [{key: texts for key, texts in each.items() if _alike(key, told)} for each in told]
        is_chance, first = comes_and_goes(chance), logs[0]
        differ = [
            differing(log, each, run.before, is_chance) for log, each, run in zip(logs, steadily, runs, strict=True)
        ]
        lacking, added, unlike = (
            {key for key in set.intersection(*each) if not is_chance(key)} for each in zip(*differ, strict=True)
        )
        only_failed, only_run = _apart(failed, first)
        not_alike = [*said_otherwise(told[0]), *only_failed]
        run_lost, run_new = changes(first)
        found = LogAgreement(
            explained=len(lost & run_lost) + len(new & run_new),
            lacking=_first_of(lacking, failed, not_alike),
            added=_first_of(added, first, only_run),
            values=len(unlike),
            otherwise=_first_of(unlike, failed, not_alike),
            apart=max(0, min(apart(failed_entries, entries(log)) for log in logs) - by_chance),
        )
        return found, len(lacking) + len(added)

    return agreement


def said_early(good: Sequence[Iterable[LogRecord]], run: FaultyRun) -> frozenset[str]:
    """What the run said before its fault fired, and no good run says: no fault made it say so."""
    usual = {entry.key for records in good for entry in keyed(records)}
    return frozenset(entry.key for entry in keyed(run.records) if entry.line <= run.before) - usual


def _log(records: Iterable[LogRecord]) -> _Log:
    by_line = {record.line: record for record in records}
    return _Log(keyed(by_line.values()), by_line)


def _said_by(log: _Log, line: int) -> set[str]:
    """What it says up to a line, and not any more."""
    return {entry.key for entry in log.entries} - {entry.key for entry in log.entries if entry.line > line}


def _said_before(news: Iterable[LogEntry], log: _Log) -> set[str]:
    """What it says before the first of these, and not any more."""
    return _said_by(log, min((entry.line for entry in news), default=0) - 1)


def _alike(key: str, told: Sequence[_Values]) -> bool:
    """All that say it say it with the same values."""
    first, *others = [each[key] for each in told if key in each]
    return all(other == first for other in others)


def _apart(one: _Log, other: _Log) -> tuple[list[LogEntry], list[LogEntry]]:
    return difference(one.entries, other.entries)


def _orderly(good: Sequence[_Log]) -> set[str]:
    """Families of threads that say the same in the same order in all good runs."""
    first, *others = [
        {family: [entry.key for entry in entries] for family, entries in by_family(log.entries).items()} for log in good
    ]
    return {family for family, keys in first.items() if all(other.get(family) == keys for other in others)}


def _texts(log: _Log) -> _Texts:
    """Messages that have values, and what exceptions say."""
    found: _Texts = defaultdict(set)
    for entry in log.entries:
        if _is_raised(log, entry) or "*" in entry.key or "\n" in log.records[entry.line].message:
            found[entry.key].add(_text_of(log, entry))
    return dict(found)


def _reasons(log: _Log) -> _Texts:
    """The words of what exceptions say."""
    found: _Texts = defaultdict(set)
    for entry in log.entries:
        if _is_raised(log, entry):
            found[entry.key].add(sanitise(log.records[entry.line].reason))
    return found


def _text_of(log: _Log, entry: LogEntry) -> str:
    record = log.records[entry.line]
    return record.reason if _is_raised(log, entry) else record.message


def _first_of(keys: Collection[str], log: _Log, apart: Sequence[LogEntry]) -> tuple[LogLine, ...]:
    """Of each message the first that the other log has not, in the order of their lines."""
    first: dict[str, LogEntry] = {}
    for entry in (*apart, *log.entries):
        if entry.key in keys:
            first.setdefault(entry.key, entry)
    found = sorted(first.values(), key=lambda entry: entry.line)
    return tuple(LogLine(entry.line, _text(log, entry)) for entry in found[:_SHOWN])


def _text(log: _Log, entry: LogEntry) -> str:
    record = log.records[entry.line]
    if _is_raised(log, entry):
        return f"{entry.key}: {record.reason}" if record.reason else entry.key
    return record.message.partition("\n")[0]


def _is_raised(log: _Log, entry: LogEntry) -> bool:
    """It is the entry of a traceback."""
    return entry.key == log.records[entry.line].raised
