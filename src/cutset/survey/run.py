"""Reads all stored traces, in parallel parts, into one summary.

Traces are split by their ids, so that each is read whole by one worker. First the paths are read, to learn which parts
of them vary; then the traces, each distinct shape only once. Works on any `Executor`, a process pool or a Dask cluster.
"""

from collections import defaultdict
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from cutset.lineage.call_tree import CallReader, TraceReading
from cutset.lineage.classes import is_named_by_span, request_class
from cutset.lineage.identifiers import mask_name
from cutset.lineage.templates import PathCounts, Templates, learn, merge, templates_of
from cutset.model.shape import Shape
from cutset.model.span import SpanLabel
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights, complexity
from cutset.store.shapes import TraceRange, path_counts, routes, shapes
from cutset.survey.merge import best, class_of, concluded, merged
from cutset.survey.workers import results_of, without_collector


@dataclass(frozen=True, slots=True)
class PartsRead:
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SurveySettings:
    weights: Weights = DEFAULT_WEIGHTS
    by_calls: bool = False  # tell requests of one name apart by the APIs that their first service calls


def survey(
    ranges: Sequence[TraceRange], settings: SurveySettings, executor: Executor | None
) -> Generator[PartsRead, None, Survey]:
    """Says how far it is; returns the survey."""
    total = 2 * len(ranges)
    paths = PathCounts()
    for done, counted in enumerate(results_of(executor, _learn_paths, ranges), 1):
        paths = merge(paths, counted)
        yield PartsRead(done, total)
    result = Survey()
    read = partial(_survey_range, templates=templates_of(paths), settings=settings)
    for done, part in enumerate(results_of(executor, read, ranges), len(ranges) + 1):
        with without_collector():
            result = merged(result, part)
        yield PartsRead(done, total)
    with without_collector():
        return concluded(result)


def _learn_paths(part: TraceRange) -> PathCounts:
    return learn(path_counts(part), routes(part))


def _survey_range(part: TraceRange, templates: Templates, settings: SurveySettings) -> Survey:
    with without_collector():
        batch = shapes(part, partial(_canonical, templates=templates))
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
        return Survey(classes, headless, answers, joined)


def _canonical(label: SpanLabel, templates: Templates) -> SpanLabel:
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
