"""What a survey must find, worked out in the plainest way: span by span, trace by trace, all in one place."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from cutset.lineage.call_tree import CallReader
from cutset.lineage.classes import is_named_by_span, request_class
from cutset.lineage.templates import Templates, learn, templates_of
from cutset.model.call_tree import CallTree
from cutset.model.shape import LOST, ROOT
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind, SpanLabel
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.select.complexity import complexity
from cutset.survey.merge import concluded
from cutset.survey.run import SurveySettings, canonical

CALLERS, CALLEES = (SpanKind.CLIENT, SpanKind.PRODUCER), (SpanKind.SERVER, SpanKind.CONSUMER)


def label_of(span: Span) -> SpanLabel:
    values = {name: str(span.attributes.get(key, "")) for key, name in KEPT_ATTRIBUTES.items()}
    return SpanLabel(span.service, span.name, span.kind, span.error, **values)  # type: ignore[arg-type]


def traces_of(spans: Iterable[Span], named: Callable[[SpanLabel], SpanLabel]) -> dict[str, list[Span]]:
    """Each in order, without what only adds to another span."""
    traces: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    for trace_id, trace in traces.items():
        ids = {span.span_id for span in trace if not _is_bare(span)}
        traces[trace_id] = sorted(
            (span for span in trace if not _is_bare(span) or span.span_id not in ids),
            key=lambda span: (span.start_ns, named(label_of(span)), span.span_id, span.parent_id, span.end_ns),
        )
    return traces


def _is_bare(span: Span) -> bool:
    return span.kind is SpanKind.INTERNAL and span.start_ns == 0


def parents_of(trace: Sequence[Span]) -> tuple[int, ...]:
    return tuple(_parent_of(span, trace) for span in trace)


def _parent_of(span: Span, trace: Sequence[Span]) -> int:
    callers = [other for other in trace if other.span_id == span.span_id and other.kind in CALLERS]
    if span.kind in CALLEES and callers:
        return trace.index(callers[0])
    if span.parent_id in ("", span.span_id):
        return ROOT
    named = [other for other in trace if other.span_id == span.parent_id]
    return trace.index(min(named, key=lambda other: other.kind in CALLERS)) if named else LOST


def entry_of(parents: Sequence[int]) -> int:
    return min(range(len(parents)), key=lambda at: ([ROOT, LOST].index(parents[at]) if parents[at] < 0 else 2, at))


def plain_survey(spans: Sequence[Span], settings: SurveySettings) -> Survey:
    named = partial(canonical, templates=_templates(spans))
    labels = sorted({named(label_of(span)) for span in spans})
    reader = CallReader(labels)
    result = Survey()
    found: dict[str, list[ClassSummary]] = defaultdict(list)
    for trace_id, trace in traces_of(spans, named).items():
        numbers, parents = [labels.index(named(label_of(span))) for span in trace], parents_of(trace)
        reading = reader.read(numbers, parents)
        result = replace(result, joined=result.joined + reading.joined)
        if reading.headless:
            result = replace(result, headless=result.headless + 1)
            continue
        tree, entry = reading.tree, trace[entry_of(parents)]
        components = len({call.point.service for call in tree.walk()})
        ns = entry.end_ns - entry.start_ns
        score = complexity(len(trace), components, ns, settings.weights)
        summary = ClassSummary(
            request_class(labels[reading.entry], tree, by_calls=settings.by_calls),
            labels[reading.entry].service,
            Representative(score, trace_id, reader.calls_in_order(numbers, parents)),
            {tree: 1} if reading.whole else {},
            {} if reading.whole else {tree: 1},
            spans=len(trace),
            components=components,
            total_ns=ns,
            named_by_span=is_named_by_span(labels[reading.entry]),
        )
        found[f"{summary.service} {summary.name}"].append(summary)
    classes = {key: _added(of_class) for key, of_class in found.items()}
    answers = {call: frozenset(points) for call, points in reader.answers.items()}
    return concluded(replace(result, classes=classes, answers=answers))


def _templates(spans: Iterable[Span]) -> Templates:
    labels = [label_of(span) for span in spans]
    paths = Counter(
        (label.service, label.http_method, label.url_path)
        for label in labels
        if label.url_path and not label.http_route
    )
    routes = {(label.http_method, label.http_route) for label in labels if label.http_route}
    return templates_of(learn(((*path, count) for path, count in paths.items()), routes))


def _added(summaries: Sequence[ClassSummary]) -> ClassSummary:
    kinds, torn = Counter[CallTree](), Counter[CallTree]()
    for each in summaries:
        kinds.update(each.kinds)
        torn.update(each.torn)
    return ClassSummary(
        summaries[0].name,
        summaries[0].service,
        min((each.representative for each in summaries), key=lambda each: (-each.score, each.trace_id)),
        kinds,
        torn,
        sum(each.spans for each in summaries),
        sum(each.components for each in summaries),
        sum(each.total_ns for each in summaries),
        any(each.named_by_span for each in summaries),
    )
