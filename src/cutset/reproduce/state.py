"""The state of a search: what it is about, what is known before the first fault, what rounds have shown."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cutset.model.reproduction.event import GoodRunFinished, ReproductionEvent, RoundFinished
from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.result import LogAgreement
from cutset.model.reproduction.site import FiredFault, Visit
from cutset.reproduce.explorer import Explorer
from cutset.reproduce.facts import LogReader, SearchFacts
from cutset.reproduce.front_end import AnalysedProgram, FrontEnd
from cutset.reproduce.logs.agreement import FaultyRun
from cutset.reproduce.logs.difference import LogEntry
from cutset.reproduce.logs.formats import LogFormats
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.logs.recognition import located
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.rounds.harness import Firing, Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings

FAR = 1_000  # steps: no causal chain is known


@dataclass(frozen=True, slots=True)
class Subject:
    """A failure, its program and its log, read."""

    case: FailureCase
    front_end: FrontEnd
    program: AnalysedProgram
    formats: LogFormats  # of its logs: of the failure log, until good runs have shown theirs
    failure: tuple[LogRecord, ...]
    seconds: float  # that reading took

    def records_of(self, logs: Iterable[Path]) -> list[LogRecord]:
        """Of a run, by where it logged."""
        return self._read(text_of(logs))

    def with_logs(self, *runs: Iterable[Path]) -> "Subject":
        """Read again by the formats that its failure log and the logs of runs have, all together."""
        case, dialect = self.case, self.front_end.dialect
        formats = formats_of(case.failure_log, *map(text_of, runs), pattern=case.log_pattern, dialect=dialect)
        subject = replace(self, formats=formats)
        return replace(subject, failure=tuple(subject._read(case.failure_log)))  # noqa: SLF001 -- it is one of us

    def _read(self, log: str) -> list[LogRecord]:
        records = read_log(log, self.formats, dialect=self.front_end.dialect)
        return [located(record, self.program.recognise(record)) if record.raised else record for record in records]


def lines_before(logs: Sequence[Path], fired: Iterable[Firing | FiredFault]) -> int:
    """How many lines a run had logged when its first fault fired; all, if none did. 0 if that is not known."""
    if len(logs) != 1:  # it is not known which lines of which file were there
        return 0
    return min((each.log_lines for each in fired), default=sys.maxsize)


def text_of(logs: Iterable[Path]) -> str:
    """Of a run that logs to several files, one after the other, as far as they are there."""
    return "".join(path.read_text(errors="replace") for path in logs if path.exists())


@dataclass(frozen=True, slots=True)
class Preparation:
    """What good runs and the analysis of the program have shown."""

    reader: LogReader
    facts: SearchFacts
    texts: Mapping[str, str]  # of observables, by their keys
    failed: tuple[LogEntry, ...]  # entries of the failure log, by statements: for feedback
    good: tuple[list[LogEntry], ...]  # likewise of good runs
    agreement: Callable[[Sequence[FaultyRun], Collection[str]], tuple[LogAgreement, int]]  # of runs with one fault
    early: Callable[[FaultyRun], frozenset[str]]  # what one says before its fault fires, though no good run does
    good_visits: tuple[Visit, ...]  # of the first good run


@dataclass(slots=True)
class ReproductionState:
    subject: Subject
    settings: ReproductionSettings
    folder: Path  # of all rounds
    record: Callable[[ReproductionEvent], None]  # what is recorded counts
    past_good: dict[int, GoodRunFinished]  # before an interruption
    past: list[RoundFinished]  # likewise; those that have been taken up are gone
    progress: Progress = nobody_watches  # is told what takes long
    prepared: Preparation = field(init=False)
    workload: Workload = field(init=False)  # of the case, with a time limit by how long good runs take
    explorer: Explorer = field(init=False)  # of single faults
    started: float = field(default_factory=time.monotonic)
    tried: list[RoundFinished] = field(default_factory=list)
    reproductions: list[RoundFinished] = field(default_factory=list)  # in order
    repeats: dict[int, list[RoundFinished]] = field(default_factory=dict)  # by the round that was repeated
    agreements: dict[tuple[int, int, frozenset[str]], tuple[LogAgreement, int]] = field(default_factory=dict)
    best: RoundFinished | None = None
    cut_short: bool = False  # time was up
    remarks: list[str] = field(default_factory=list)

    @property
    def out_of_time(self) -> bool:
        return 0 < self.settings.minutes * 60 < time.monotonic() - self.started

    @property
    def rounds_left(self) -> int:
        return 0 if self.out_of_time else max(0, self.settings.rounds - len(self.tried))

    def held(self, found: RoundFinished) -> int:
        """How often its symptom showed again."""
        return sum(again.reproduces for again in self.repeats.get(found.number, ()))

    def agreement(self, found: RoundFinished) -> tuple[LogAgreement, int]:
        """Of it and of its repeats: with the failure log, and the number of messages that it lacks or adds in all."""
        repeats = self.repeats.get(found.number, ())
        again = [each for each in repeats if each.reproduces and any(log.exists() for log in each.logs)]
        if not any(log.exists() for log in found.logs):
            return found.agreement, found.unlike
        runs = [found, *again]
        key = found.number, len(runs), self.chance
        if key not in self.agreements:
            read = [FaultyRun(self.subject.records_of(one.logs), lines_before(one.logs, one.faults)) for one in runs]
            self.agreements[key] = self.prepared.agreement(read, self.chance)
        return self.agreements[key]

    @property
    def chance(self) -> frozenset[str]:
        """What rounds with faults at different sites said before these fired, though no good run did.

        One site is not enough: if the moment was not told well, it may be a consequence.
        """
        sites: defaultdict[str, set[int]] = defaultdict(set)
        for done in self.tried:
            for key in done.early:
                sites[key].add(done.fired.number if done.fired else -1)
        return frozenset(key for key, numbers in sites.items() if len(numbers) > 1)

    def standing(self, found: RoundFinished) -> tuple[int, int]:
        """The smaller, the better it and its repeats explain the failure log."""
        agreement, unlike = self.agreement(found)
        return unlike, agreement.values

    def likeness(self, found: RoundFinished) -> tuple[int, ...]:
        """The smaller, the better a fault explains the failure log; of equal ones, what is likelier in itself."""
        assert found.fired is not None
        facts = self.prepared.facts.sites[found.fired.number]
        costs = dict(zip(facts.effects, facts.costs or range(len(facts.effects)), strict=True))
        unlikely = costs.get(found.fired.effect, len(costs)) + min(facts.distances.values(), default=FAR)
        apart = self.agreement(found)[0].apart.bit_length()  # a few more or less are chance
        return *self.standing(found), apart, unlikely, found.number
