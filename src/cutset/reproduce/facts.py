"""What is known before any fault is tried (ANDURIL §4, §5.1): sites, observables, and how near each site is to each.

The static side reads the source; good runs tell what the workload logs and visits by itself; the failure log, minus
that, is what has to be explained.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import median_low

from cutset.model.reproduction.log import LogRecord, Observable
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.fault_space import SiteFacts, TimeApart
from cutset.reproduce.front_end import AnalysedProgram, EffectsOf, SiteEffect
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.graph.distances import Executed, Reach, reaches
from cutset.reproduce.logs.difference import LogEntry, keyed, matches, present, relevant_observables, text_keys
from cutset.reproduce.logs.levels import HARMLESS, usual_level
from cutset.reproduce.logs.recognition import SAYS, Sighting
from cutset.reproduce.logs.timeline import Timeline, align, temporal_distance
from cutset.reproduce.logs.values import sanitise, steady_values
from cutset.reproduce.progress import Progress, nobody_watches

_USUAL = 4  # steps by which a message that good runs have as well is further from all sites: its place may be chance
_CALM = 3  # likewise one that warns of nothing, where others do
_MOST = 0.5  # of the entries of a log may have values that good runs do not have
_AGAIN = 3  # messages of a good run that make a series
_LONG = 2  # times as long as a good run ever is silent: a series has broken off
_ABSENT = "absent: "  # before the key of a message that good runs have and the failure log lacks


class LogReader:
    """Gives log records the keys by which runs are compared: their statement in the source, else their text.

    With `says`, what a statement says belongs to its key, as far as `says` tells by the key and the text.
    """

    def __init__(self, program: AnalysedProgram, says: Callable[[str, str], str] | None = None) -> None:
        self._program = program
        self._says = says
        self.sightings: dict[str, Sighting] = {}
        self._texts: dict[str, str] = {}  # the first message of each key

    def texts_of(self, observables: Iterable[Observable], failure: Iterable[LogRecord]) -> dict[str, str]:
        """By key: the first line of its first message in the failure log; of what is missing there, in a good run."""
        by_line = {(record.line, key): _first_line(text) for record in failure for key, text in self.keys_of(record)}
        texts: dict[str, str] = {}
        for each in observables:
            usual = self._texts.get(each.key.removeprefix(_ABSENT), each.key)
            texts.setdefault(each.key, usual if is_absent(each) else by_line.get((each.line, each.key)) or usual)
        return texts

    def recognised(self, records: Iterable[LogRecord]) -> int:
        """How many of them the analysed source has a part in."""
        return sum(bool(self._program.recognise(record)) for record in records)

    def entries(self, records: Iterable[LogRecord]) -> list[LogEntry]:
        return keyed(records, lambda record: [key for key, _ in self.keys_of(record)])

    def keys_of(self, record: LogRecord) -> list[tuple[str, str]]:
        """Of its message and of its traceback, each with its text."""
        seen = {bool(each.origins): each for each in self._program.recognise(record)}
        texts = {False: record.message, True: record.raised}
        by_text = {key == record.raised: key for key in text_keys(record)}
        return [
            (self._key(seen[kind], texts[kind]) if kind in seen else by_text[kind], texts[kind])
            for kind in (False, True)
            if kind in seen or kind in by_text
        ]

    def _key(self, seen: Sighting, text: str) -> str:
        finer = f"{seen.key}{SAYS}{self._says(seen.key, text)}" if self._says else seen.key
        statement = _statement(finer)
        for key in (statement, finer):  # what is missing is missing whatever it would have said
            self.sightings.setdefault(key, replace(seen, key=key, caught="" if key == statement else seen.caught))
            self._texts.setdefault(key, _first_line(text) or key)
        return finer


def choose_reader(
    program: AnalysedProgram, failure: Sequence[LogRecord], good: Sequence[Sequence[LogRecord]]
) -> LogReader:
    """The coarsest by which the failure log says something that no good run says.

    Often that is another statement. Where it is the same one, its words may be others, as the name of an error; then
    values that should be the same, unless most of them are others: those are of another workload.
    """
    plain = LogReader(program)
    if _says_news(plain, failure, good):
        return plain
    steady = steady_values([_texts_by_key(plain, records) for records in good])
    by_words = LogReader(program, lambda _, text: sanitise(text))
    by_values = LogReader(program, lambda key, text: steady(key, text) or sanitise(text))
    if _says_news(by_words, failure, good):
        return by_words
    return by_values if _says_news(by_values, failure, good, _MOST) else plain


def _says_news(
    reader: LogReader, failure: Sequence[LogRecord], good: Sequence[Sequence[LogRecord]], most: float = 1.0
) -> bool:
    usual = {entry.key for records in good for entry in reader.entries(records)}
    seen = [entry.key for entry in reader.entries(failure) if entry.key in reader.sightings]
    return 0 < sum(key not in usual for key in seen) <= most * len(seen)


def _texts_by_key(reader: LogReader, records: Iterable[LogRecord]) -> dict[str, set[str]]:
    texts: dict[str, set[str]] = {}
    for key, text in (found for record in records for found in reader.keys_of(record)):
        texts.setdefault(key, set()).add(text)
    return texts


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _statement(key: str) -> str:
    """Without what it says."""
    return key.partition(SAYS)[0]


@dataclass(frozen=True, slots=True)
class SearchFacts:
    sites: tuple[SiteFacts, ...]  # of each site of the program
    observables: tuple[Observable, ...]
    graph: CausalGraph
    apart: TimeApart  # how far a visit is from an observable, in lines of the failure log (§5.2.3)
    reasons: Mapping[tuple[int, str], str]  # why an effect is tried at a site
    few: Mapping[str, float]  # by the key of what is missing: so many of it in a run are as few as in the failure log
    alike: float  # the share of its log that a good run has in common with the failure log

    def shown(self, good: Sequence[LogEntry], run: Sequence[LogEntry]) -> frozenset[str]:
        """Keys of the observables that a run shows, too; of what is missing, it shows that it is missing."""
        counts = Counter(_ABSENT + _statement(entry.key) for entry in run)
        found = present(good, run, [each for each in self.observables if not is_absent(each)])
        return frozenset(found) | {key for key, few in self.few.items() if counts[key] <= few}


def is_absent(observable: Observable) -> bool:
    return observable.key.startswith(_ABSENT)


@collection_paused()
def gather_facts(
    program: AnalysedProgram,
    reader: LogReader,
    failure: Sequence[LogRecord],
    good: Sequence[Sequence[LogEntry]],
    *,
    effects: EffectsOf,
    symptoms: Collection[int] = (),
    executed: Executed | None = None,
    progress: Progress = nobody_watches,
) -> SearchFacts:
    """`good` are the entries of good runs; the first is the one that visits are compared with.

    `symptoms` are the lines of the failure log by which the oracle recognises it. They count where nothing else is new:
    that 9 of 10 orders were sent differs by a number alone from what a good run says. `executed`: functions that good
    runs ran.
    """
    failed = reader.entries(failure)
    observables = relevant_observables(good[0], failed, *good[1:])
    few: dict[str, float] = {}
    if not observables:
        observables = [Observable(each.key, each.thread, each.line) for each in failed if each.line in symptoms]
    seen = [reader.sightings[each.key] for each in observables if each.key in reader.sightings]
    usual = {entry.key for entries in good for entry in entries}
    statements = set(map(_statement, usual))
    if all(_statement(each.key) in statements for each in seen):
        # No statement has spoken that is silent in good runs: then one that speaks less often tells more.
        few = _rarer(reader, failed, good)
        missed = _absent(few, good[0], failed)
        few = {each.key: few[each.key] for each in missed}
        observables += missed
        seen += [replace(reader.sightings[key.removeprefix(_ABSENT)], key=key, missing=True) for key in few]
    graph = program.causal_graph(dict.fromkeys(seen))
    near = reaches(graph, executed, progress)
    less = _less_telling(observables, failure)
    traced, contexts = program.arising(failure), program.contexts(failure)
    facts = []
    reasons = {}
    for number, site in enumerate(program.sites):
        reached = near.get(number, {})
        found = _with_traced(effects(number, _wanted(reached.values())), traced.get(number, ()))
        reasons.update({(number, effect.text): effect.why for effect in found})
        facts.append(
            SiteFacts(
                str(site),
                {key: reach.steps + _USUAL * (key in usual) + less[key] for key, reach in reached.items()},
                tuple(effect.text for effect in found),
                tuple(traced.get(number, ())),
                tuple(effect.cost for effect in found),
                tuple(contexts.get(number, ())),
            )
        )
    said_in = {sighting.key: sighting.statement.said_in for sighting in seen if sighting.statement}
    called = {sighting.key: program.called_before(sighting) for sighting in dict.fromkeys(seen)}
    placed = tuple(
        replace(each, said_in=said_in.get(each.key, ""), called=called.get(each.key, frozenset()))
        for each in observables
    )
    timeline = align(good[0], failed)
    return SearchFacts(tuple(facts), placed, graph, timed(timeline, observables), reasons, few, timeline.alike)


def _less_telling(observables: Iterable[Observable], failure: Iterable[LogRecord]) -> dict[str, int]:
    """By key, the steps by which a message counts as further from all sites.

    Where some messages warn, or tell of an exception, calm ones may be of another day or another machine. Of those that
    warn, later ones may follow from the first.
    """
    warns = {record.line for record in failure if record.traceback or usual_level(record.level) not in HARMLESS}
    in_order = sorted(observables, key=lambda each: each.line)
    alarming = dict.fromkeys(each.key for each in in_order if is_absent(each) or each.line in warns)
    calm = dict.fromkeys((each.key for each in in_order), _CALM if alarming else 0)
    return calm | {key: place.bit_length() for place, key in enumerate(alarming)}


def _with_traced(effects: Sequence[SiteEffect], traced: Sequence[str]) -> list[SiteEffect]:
    """What a stack trace of the failure log shows arising at the site is the first to try there."""
    shown = [SiteEffect(text, "a stack trace of the failure log shows it arising here", 0) for text in traced]
    return [*shown, *(effect for effect in effects if effect.text not in traced)]


def _wanted(reached: Iterable[Reach]) -> tuple[str, ...]:
    """Types that lead to any of the messages by a shortest path; none if any will do."""
    wanted = [reach.wanted for reach in reached]
    return tuple(dict.fromkeys(kind for types in wanted for kind in types)) if all(wanted) else ()


def _rarer(reader: LogReader, failed: Sequence[LogEntry], good: Sequence[Sequence[LogEntry]]) -> dict[str, float]:
    """Statements that the failure log has fewer messages of than can be chance, and how few are as few."""
    had, *counts = (Counter(_statement(entry.key) for entry in entries) for entries in (failed, *good))
    few = {}
    for key in counts[0]:
        least, most = (chosen(count[key] for count in counts) for chosen in (min, max))
        if key in reader.sightings and had[key] < least - (most - least):
            few[_ABSENT + key] = (had[key] + least) / 2
    return few


def _absent(keys: Collection[str], good: Sequence[LogEntry], failed: Sequence[LogEntry]) -> list[Observable]:
    """Series that break off; where none does, each is missed where the good run has what the failure log lacks.

    What breaks off tells when it happened. What only comes less often may follow from it, or be chance.
    """
    broken_off = [silent for key in keys if (silent := _silent(key, good, failed))]
    beside = {} if broken_off else _beside_others(good, failed)
    return broken_off or [beside[key] for key in keys]


def _silent(key: str, good: Sequence[LogEntry], failed: Sequence[LogEntry]) -> Observable | None:
    """What comes again and again in a good run, and from some place on no more: when the next was due. None if it is no
    longer silent than in a good run."""
    usual, here = (
        [place for place, entry in enumerate(entries) if _ABSENT + _statement(entry.key) == key]
        for entries in (good, failed)
    )
    if len(usual) < _AGAIN or not here:
        return None
    silences = [later - place for place, later in pairwise([*here, len(failed)])]
    longest = max(silences)
    if longest <= _LONG * max(later - place for place, later in pairwise([-1, *usual, len(good)])):
        return None
    last = here[silences.index(longest)]
    due = last + median_low(later - place for place, later in pairwise(usual))
    return Observable(key, failed[last].thread, failed[min(due, len(failed) - 1)].line)


def _beside_others(good: Sequence[LogEntry], failed: Sequence[LogEntry]) -> dict[str, Observable]:
    """By what is around it; of several, where most are in a row.

    One here and there may be chance: what goes on side by side is logged in another order each time.
    """
    there = dict(matches(*([_statement(entry.key) for entry in entries] for entries in (good, failed))))
    gaps: dict[str, list[list[Observable]]] = defaultdict(lambda: [[]])  # by key: what is lacking between what is not
    line = 1
    for number, entry in enumerate(good):
        key = _ABSENT + _statement(entry.key)
        if number in there:
            line = failed[there[number]].line + 1
            gaps[key].append([])
        else:
            gaps[key][-1].append(Observable(key, entry.thread, line))
    rows = {key: max(lacking, key=len) for key, lacking in gaps.items()}
    return {key: row[0] for key, row in rows.items() if row}


def timed(timeline: Timeline, observables: Sequence[Observable]) -> TimeApart:
    """By the entries of the run that visits are of, and of the failure log."""
    lines: dict[str, list[int]] = {}
    for observable in observables:
        lines.setdefault(observable.key, []).append(observable.line)

    @cache  # visits are many, log lines are few
    def between(log_lines: int, key: str) -> float:
        return temporal_distance(timeline, log_lines, lines.get(key, ()))

    return lambda visit, key: between(visit.log_lines, key)
