"""Reads all stored traces, in parallel parts, into one summary.

Traces are split by their ids, so that each is read whole by one worker. First the paths are read, to learn which parts
of them vary; then the traces, each distinct shape only once. Works on any `Executor`, a process pool or a Dask cluster.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from cutset.lineage.call_tree import CallReader, Reading
from cutset.lineage.classes import is_named_by_span, request_class
from cutset.lineage.templates import PathCounts, Templates, learn, mask_name, merge, templates_of
from cutset.model.shape import Shape
from cutset.model.span import SpanLabel
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights, complexity
from cutset.store.shapes import TraceRange, path_counts, routes, shapes
from cutset.survey.summary import ClassSummary, Representative, Survey, absorb, better, concluded
from cutset.survey.workers import each, without_collector

Progress = Callable[[int, int], None]  # parts done, of how many


@dataclass(frozen=True, slots=True)
class SurveySettings:
    weights: Weights = DEFAULT_WEIGHTS
    by_calls: bool = False  # tell requests of one name apart by the APIs that their first service calls


def survey(
    ranges: Sequence[TraceRange], settings: SurveySettings, executor: Executor | None, on_progress: Progress
) -> Survey:
    total = 2 * len(ranges)
    paths = PathCounts()
    for done, counted in enumerate(each(executor, _learn_paths, ranges), 1):
        paths = merge(paths, counted)
        on_progress(done, total)
    result = Survey()
    read = partial(_survey_range, templates=templates_of(paths), settings=settings)
    with without_collector():
        for done, part in enumerate(each(executor, read, ranges), len(ranges) + 1):
            absorb(result, part)
            on_progress(done, total)
        return concluded(result)


def _learn_paths(part: TraceRange) -> PathCounts:
    return learn(path_counts(part), routes(part))


def _survey_range(part: TraceRange, templates: Templates, settings: SurveySettings) -> Survey:
    batch = shapes(part, partial(_canonical, templates=templates))
    reader = CallReader(batch.labels)
    # Traces that entered alike and did the same, by the identity of what the reader gives for all of them.
    alike: dict[tuple[int, int, bool], tuple[Reading, list[Shape]]] = {}
    result = Survey()
    with without_collector():
        for shape in batch.shapes:
            reading = reader.read(shape.labels, shape.parents)
            if reading.headless:
                result.headless += shape.traces
            else:
                alike.setdefault((reading.entry, id(reading.tree), reading.whole), (reading, []))[1].append(shape)
        for reading, found in alike.values():
            _count(result, batch.labels[reading.entry], reading, found, reader=reader, settings=settings)
    result.answers = reader.answers
    return result


def _canonical(label: SpanLabel, templates: Templates) -> SpanLabel:
    """What differs from trace to trace without being another operation is left out."""
    path, name = label.url_path, label.name
    if path:
        path = "" if label.http_route else templates.template(label.service, label.http_method, path)
    if label.url_path and name.endswith(label.url_path):  # some instrumentations name spans after raw paths
        name = name.removesuffix(label.url_path) + (path or label.http_route)
    return replace(label, url_path=path, name=mask_name(name))


def _count(
    result: Survey,
    entry: SpanLabel,
    reading: Reading,
    found: Sequence[Shape],
    *,
    reader: CallReader,
    settings: SurveySettings,
) -> None:
    tree = reading.tree
    name = request_class(entry, tree, by_calls=settings.by_calls)
    components = len({call.point.service for call in tree.walk()})
    key = f"{entry.service} {name}"
    summary = result.classes.get(key)
    if summary is None:
        summary = result.classes[key] = ClassSummary(name, entry.service, Representative(-1.0, "", ()))
    for shape in found:
        spans = len(shape.labels)
        score = complexity(spans, components, shape.longest_ns, settings.weights)
        candidate = Representative(score, shape.longest_trace_id, ())
        if better(candidate, summary.representative) is candidate:
            summary.representative = replace(candidate, calls=reader.calls_in_order(shape.labels, shape.parents))
        summary.spans += shape.traces * spans
        summary.total_ns += shape.total_ns
    traces = sum(shape.traces for shape in found)
    kinds = summary.kinds if reading.whole else summary.torn
    kinds[tree] = kinds.get(tree, 0) + traces
    summary.components += traces * components
    summary.named_by_span = summary.named_by_span or is_named_by_span(entry)
