"""What is known before any fault is tried (ANDURIL §4, §5.1): sites, observables, and how near each site is to each.

The static side reads the source; good runs tell what the workload logs and visits by itself; the failure log, minus
that, is what has to be explained.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cutset.model.reproduction import LogRecord, Observable, SiteKind, Visit
from cutset.reproduce.causal import CausalGraph, causal_graph, distances
from cutset.reproduce.escapes import handlers_around
from cutset.reproduce.exception_tree import ExceptionClass, exception_tree
from cutset.reproduce.exceptions import candidates, construct, exceptions_in
from cutset.reproduce.log_diff import Entry, keyed, relevant_observables, surplus, text_keys
from cutset.reproduce.log_statements import index_statements, log_statements
from cutset.reproduce.strategies import SiteFacts
from cutset.reproduce.syntax import Program
from cutset.reproduce.timeline import align, temporal_distance
from cutset.reproduce.tracebacks import Sighting, index_source, sighting

MOST_EFFECTS = 4  # per site: what comes later is guesswork
_ABSENT = "absent: "  # before the key of a message that good runs have and the failure log lacks

Apart = Callable[[Visit, str], float]


class LogReader:
    """Gives log records the keys by which runs are compared: their statement in the source, else their text."""

    def __init__(self, program: Program) -> None:
        self._statements = index_statements(log_statements(program))
        self._source = index_source(program)
        self.sightings: dict[str, Sighting] = {}

    def entries(self, records: Sequence[LogRecord]) -> list[Entry]:
        return keyed(records, self._keys)

    def _keys(self, record: LogRecord) -> Sequence[str]:
        found = sighting(record, self._statements, self._source)
        if found is None:
            return text_keys(record)
        self.sightings.setdefault(found.key, found)
        return [found.key]


@dataclass(frozen=True, slots=True)
class Prepared:
    facts: tuple[SiteFacts, ...]  # of each site of the program
    observables: tuple[Observable, ...]
    graph: CausalGraph
    apart: Apart  # how far a visit is from an observable, in lines of the failure log (§5.2.3)


def prepare(
    program: Program,
    search_path: Sequence[str],
    reader: LogReader,
    failure: Sequence[LogRecord],
    good: Sequence[Sequence[Entry]],
) -> Prepared:
    """`good` are the entries of good runs; the first is the one that visits are compared with."""
    failed = reader.entries(failure)
    observables = relevant_observables(good[0], failed, *good[1:])
    seen = [reader.sightings[each.key] for each in observables if each.key in reader.sightings]
    if not seen:
        # Nothing new was said: then what was no longer said has to be explained.
        observables, seen = _absent(reader, failed, good[0])
    graph = causal_graph(program, dict.fromkeys(seen))
    near = distances(graph)
    effects = _effects(program, search_path, failure)
    facts = [SiteFacts(str(site), near.get(number, {}), effects(number)) for number, site in enumerate(program.sites)]
    return Prepared(tuple(facts), tuple(observables), graph, _apart(good[0], failed, observables))


def _absent(
    reader: LogReader, failed: Sequence[Entry], good: Sequence[Entry]
) -> tuple[list[Observable], list[Sighting]]:
    end = max((entry.line for entry in failed), default=1)
    lost = [entry for entry in surplus(failed, good) if entry.key in reader.sightings]
    observables = [Observable(_ABSENT + entry.key, entry.thread, end) for entry in lost]
    seen = [replace(reader.sightings[entry.key], key=_ABSENT + entry.key, missing=True) for entry in lost]
    return observables, seen


def _apart(good: Sequence[Entry], failed: Sequence[Entry], observables: Sequence[Observable]) -> Apart:
    timeline = align(good, failed)
    lines: dict[str, list[int]] = {}
    for observable in observables:
        lines.setdefault(observable.key, []).append(observable.line)

    @cache  # visits are many, log lines are few
    def between(log_lines: int, key: str) -> float:
        return temporal_distance(timeline, log_lines, lines.get(key, ()))

    return lambda visit, key: between(visit.log_lines, key)


def _effects(
    program: Program, search_path: Sequence[str], failure: Sequence[LogRecord]
) -> Callable[[int], tuple[str, ...]]:
    """Of a site's number, the faults to try there, best first."""
    handlers = handlers_around(program)
    in_log = exceptions_in(failure)
    imports = {
        name: tuple(sorted({dotted for names in module.imports.values() for dotted in names}))
        for name, module in program.modules.items()
    }
    trees = _libraries(program, imports, search_path)

    def of(number: int) -> tuple[str, ...]:
        site = program.sites[number]
        resolved = program.resolved[program.site_events[number]]
        library = [kind for package in _packages(imports[site.module]) for kind in trees.get(package, ())]
        if site.kind is SiteKind.RAISE:
            return (construct(resolved or site.expression, "injected", library),)
        found = candidates(
            site.expression,
            resolved,
            handlers[number],
            in_log,
            library,
            awaited=site.kind is SiteKind.AWAIT,
            imports=imports[site.module],
        )
        return tuple(candidate.effect for candidate in found[:MOST_EFFECTS])

    return of


def _libraries(
    program: Program, imports: Mapping[str, Sequence[str]], search_path: Sequence[str]
) -> dict[str, list[ExceptionClass]]:
    """The exceptions of the packages that the analysed code imports and that are not analysed themselves."""
    analysed = _packages(program.modules)
    trees = {}
    for package in _packages(dotted for of_module in imports.values() for dotted in of_module) - analysed:
        for folder in search_path:
            source = Path(folder) / package
            if (source / "__init__.py").exists():
                trees[package] = exception_tree(source)
                break
    return trees


def _packages(dotted: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in dotted}
