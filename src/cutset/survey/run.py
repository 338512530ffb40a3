"""Reads all stored traces, in parallel ranges, into one summary.

First the paths are read, to learn which parts of them vary; then the traces, of those that are alike only one. What is
found out about a range is kept beside it, under all that it depends on: another command, or the same when traces were
added elsewhere, does not read it again. Works on any `Executor`, a process pool or a Dask cluster.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cutset.lineage.call_tree import CallReader, TraceReading
from cutset.lineage.classes import is_named_by_span, request_class
from cutset.lineage.identifiers import mask_name
from cutset.lineage.templates import PathCounts, Templates, learn, merge, templates_of
from cutset.model.call_tree import CallTree
from cutset.model.shape import Shape
from cutset.model.span import SpanLabel
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights, complexity
from cutset.store.manifest import SpanStore
from cutset.store.ranges import TraceRange, trace_ranges
from cutset.store.shapes import path_counts, routes, shapes
from cutset.store.summaries import (
    drop_unused,
    keep,
    key_of,
    pack,
    recalled,
    survey_of_content,
    survey_to_content,
    unpack,
)
from cutset.survey.merge import best, class_of, concluded, merged
from cutset.survey.workers import check_workers, open_executor, results_of, without_collector

_MERGED_AT_ONCE = 32  # results of ranges, so that few are held

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class PartsRead:
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SurveySettings:
    weights: Weights = DEFAULT_WEIGHTS
    by_calls: bool = False  # tell requests of one name apart by the APIs that their first service calls


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is asked of one who reads a range of traces."""

    traces: TraceRange
    templates: Templates
    settings: SurveySettings


def survey_all(
    stored: SpanStore, since_ns: int, until_ns: int, settings: SurveySettings, workers: str
) -> Generator[PartsRead, None, Survey]:
    """All that is stored of a window of time, by so many processes or those of a cluster: see `open_executor`."""
    if workers:
        check_workers(workers)  # also if nobody has to work
    parts = sorted(Path(part.file).name for part in stored.parts)
    key = key_of("survey", parts, since_ns, until_ns, settings)
    with without_collector():
        known = recalled(stored.folder, key, survey_of_content)
    if known is not None:
        yield PartsRead(1, 1)
        return replace(known, kept=(stored.folder, key))
    ranges = trace_ranges(stored, since_ns=since_ns, until_ns=until_ns)
    with open_executor(workers or str(min(len(ranges), os.cpu_count() or 1) or 1)) as executor:
        result = yield from survey(ranges, settings, executor, stored.folder)
    with without_collector():
        keep(stored.folder, key, pack(survey_to_content(result)))
    return replace(result, kept=(stored.folder, key))


def survey(
    ranges: Sequence[TraceRange], settings: SurveySettings, executor: Executor | None, folder: Path | None = None
) -> Generator[PartsRead, None, Survey]:
    """Says how far it is; returns the survey. `folder` is that of the store; without one, nothing is kept."""
    keyed = {key_of(_as_stored(traces)): traces for traces in ranges}
    total = 2 * len(keyed)
    used: list[str] = []
    services: dict[str, list[str]] = {}
    counts: list[PathCounts] = []
    for done, (key, found) in enumerate(_found_out(keyed, _paths_in, _paths_of_content, executor, folder), 1):
        services[key] = sorted(found.paths)
        used.append(key)
        counts = [*counts, found] if len(counts) < _MERGED_AT_ONCE else [merge(*counts, found)]
        yield PartsRead(done, total)
    readings = _readings(keyed, services, templates_of(merge(*counts)), settings)
    trees: dict[CallTree, CallTree] = {}
    parts: list[Survey] = []
    decode = partial(survey_of_content, known=trees)
    for done, (key, part) in enumerate(_found_out(readings, _summary_of, decode, executor, folder), len(keyed) + 1):
        used.append(key)
        with without_collector():
            parts = [*parts, part] if len(parts) < _MERGED_AT_ONCE else [merged(*parts, part)]
        yield PartsRead(done, total)
    with without_collector():
        if folder is not None:
            drop_unused(folder, used)
        return concluded(merged(*parts))


def _as_stored(traces: TraceRange) -> TraceRange:
    """Wherever the store is: parts have names that no other has."""
    return replace(traces, files=tuple(Path(file).name for file in traces.files))


def _readings(
    keyed: Mapping[str, TraceRange],
    services: Mapping[str, Sequence[str]],
    templates: Templates,
    settings: SurveySettings,
) -> dict[str, _Reading]:
    """By what each result depends on: of templates, those of its services, and routes if it has paths without one."""
    places = {service: key_of(place) for service, place in templates.services.items()}
    every_route = key_of(templates.routes)
    readings = {}
    for key, traces in keyed.items():
        own = [service for service in services[key] if service in places]
        if services[key]:
            relevant = replace(templates, services={service: templates.services[service] for service in own})
            depends = [every_route, *(places[service] for service in own)]
        else:
            relevant, depends = Templates({}, {}), []
        readings[key_of(key, settings, own, depends)] = _Reading(traces, relevant, settings)
    return readings


def _found_out(
    tasks: Mapping[str, _Task],
    find: Callable[[_Task], object],
    decode: Callable[[Any], _Found],
    executor: Executor | None,
    folder: Path | None,
) -> Iterator[tuple[str, _Found]]:
    """What was kept, and then what is found out now, each with its key."""
    missing = []
    for key, task in tasks.items():
        with without_collector():
            known = recalled(folder, key, decode) if folder is not None else None
        if known is None:
            missing.append((key, task))
        else:
            yield key, known
    for key, packed in results_of(executor, partial(_find_and_keep, find=find, folder=folder), missing):
        with without_collector():
            found = decode(unpack(packed))
        yield key, found


def _find_and_keep(task: tuple[str, _Task], find: Callable[[_Task], object], folder: Path | None) -> tuple[str, bytes]:
    """What workers do, wherever they are."""
    key, asked = task
    with without_collector():
        packed = pack(find(asked))
    if folder is not None:
        keep(folder, key, packed)
    return key, packed


def _paths_in(traces: TraceRange) -> dict[str, Any]:
    found = learn(path_counts(traces), routes(traces))
    paths = {service: list(each) for service, each in found.paths.items()}
    return {"paths": paths, "routes": list(found.routes)}


def _paths_of_content(content: Mapping[str, Any]) -> PathCounts:
    paths = {service: frozenset(each) for service, each in content["paths"].items()}
    return PathCounts(paths, frozenset((method, route) for method, route in content["routes"]))


def _summary_of(reading: _Reading) -> dict[str, Any]:
    return survey_to_content(_survey_range(reading.traces, reading.templates, reading.settings))


def _survey_range(part: TraceRange, templates: Templates, settings: SurveySettings) -> Survey:
    batch = shapes(part, partial(canonical, templates=templates))
    reader = CallReader(batch.labels)
    # Traces that entered alike and did the same, by the identity of what the reader gives for all of them.
    alike: dict[tuple[int, int, bool], tuple[TraceReading, list[Shape]]] = {}
    headless = joined = 0
    for shape in batch.shapes:
        reading = reader.read(shape.labels, shape.parents)
        joined += shape.traces * reading.joined
        if reading.headless:
            headless += shape.traces
        else:
            alike.setdefault((reading.entry, id(reading.tree), reading.whole), (reading, []))[1].append(shape)
    groups: dict[str, list[_Group]] = defaultdict(list)
    for reading, same in alike.values():
        group = _group(batch.labels[reading.entry], reading, same, settings)
        groups[f"{group.summary.service} {group.summary.name}"].append(group)
    classes = {key: _class_of(of_class, reader) for key, of_class in groups.items()}
    answers = {call: frozenset(points) for call, points in reader.answers.items()}
    aliases = {own: frozenset(names) for own, names in reader.aliases.items()}
    return Survey(classes, headless, answers, aliases, joined)


def canonical(label: SpanLabel, templates: Templates) -> SpanLabel:
    """What differs from trace to trace without being another operation is left out."""
    path, name = label.url_path, label.name
    if path:
        path = "" if label.http_route else templates.template(label.service, label.http_method, path)
    if label.url_path and name.endswith(label.url_path):  # some instrumentations name spans after raw paths
        name = name.removesuffix(label.url_path) + (path or label.http_route)
    return replace(label, url_path=path, name=mask_name(name))


@dataclass(frozen=True, slots=True)
class _Group:
    """Traces with one call structure, and the most complex of their shapes."""

    summary: ClassSummary
    shape: Shape


def _group(entry: SpanLabel, reading: TraceReading, same: Sequence[Shape], settings: SurveySettings) -> _Group:
    tree = reading.tree
    components = len({call.point.service for call in tree.walk()})
    traces = sum(shape.traces for shape in same)
    by_score = {
        Representative(
            complexity(len(shape.labels), components, shape.longest_ns, settings.weights), shape.longest_trace_id
        ): shape
        for shape in same
    }
    representative = best(by_score)
    kinds = {tree: traces}
    summary = ClassSummary(
        request_class(entry, tree, by_calls=settings.by_calls),
        entry.service,
        representative,
        kinds if reading.whole else {},
        {} if reading.whole else kinds,
        spans=sum(shape.traces * len(shape.labels) for shape in same),
        components=traces * components,
        total_ns=sum(shape.total_ns for shape in same),
        named_by_span=is_named_by_span(entry),
    )
    return _Group(summary, by_score[representative])


def _class_of(groups: Sequence[_Group], reader: CallReader) -> ClassSummary:
    summary = class_of([group.summary for group in groups])
    shape = next(group.shape for group in groups if group.summary.representative is summary.representative)
    calls = reader.calls_in_order(shape.labels, shape.parents)
    return replace(summary, representative=replace(summary.representative, calls=calls))
