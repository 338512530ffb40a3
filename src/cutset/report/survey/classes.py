"""The request classes of stored traces, the most complex first: as text for people and as JSON for machines."""

from collections.abc import Iterator
from typing import Any

from cutset.model.survey import ClassSummary, Survey
from cutset.model.wording import count
from cutset.report.survey.frequency import interval_in_words, is_anecdote, share_document
from cutset.report.survey.table import percent, table_lines
from cutset.select.complexity import Weights, class_complexity, most_complex_first

HEADINGS = ("complexity", "traces", "share", "95 %", "failed", "kinds", "spans", "parts", "ms", "request class")


def to_lines(survey: Survey, weights: Weights, top: int) -> Iterator[str]:
    ranked = most_complex_first(survey.classes, weights)[:top]
    yield from table_lines(HEADINGS, [class_row(name, summary, survey.traces, weights) for name, summary in ranked])
    yield (
        f"\n[dim]{count(len(survey.classes), 'request class')} in {count(survey.traces, 'trace')} of "
        f"{count(survey.spans, 'span')}. Spans, parts (services, stores, queues) and ms are means.[/]"
    )
    for sentence in lost_in_words(survey):
        yield f"[dim]{sentence}[/]"
    if any(summary.named_by_span and len(summary.judged) > 1 for _, summary in ranked) and len(survey.classes) < 3:
        yield "[dim]Only the names of spans tell these requests apart; `--by-calls` also looks at what they call.[/]"


def lost_in_words(survey: Survey) -> Iterator[str]:
    """What spans that are missing leave unknown, and what could be concluded all the same."""
    if survey.headless:
        yield f"{count(survey.headless, 'more trace')} without a beginning: spans are missing, so the class is unknown."
    if survey.orphans:
        yield f"{count(survey.orphans, 'call')} by unknown callers: their spans are missing."
    if survey.joined:
        yield f"{count(survey.joined, 'span')} without a parent: names, times and peers tell what they are part of."


def to_document(survey: Survey, weights: Weights) -> dict[str, Any]:
    return {
        "traces": survey.traces,
        "spans": survey.spans,
        "headless": survey.headless,
        "by_unknown_callers": survey.orphans,
        "joined": survey.joined,
        "classes": [
            summary_document(name, summary, survey.traces, weights)
            for name, summary in most_complex_first(survey.classes, weights)
        ],
    }


def summary_document(name: str, summary: ClassSummary, traces: int, weights: Weights) -> dict[str, Any]:
    """Of one class, of so many traces in all."""
    return {
        "name": name,
        "complexity": round(class_complexity(summary, weights), 3),
        "traces": summary.traces,
        **share_document(summary.traces, traces),
        "anecdote": is_anecdote(summary.traces),
        "failed": summary.failed,
        "torn": sum(summary.torn.values()),
        "kinds": len(summary.judged),
        "mean_spans": summary.spans / summary.traces,
        "mean_components": summary.components / summary.traces,
        "mean_ms": summary.total_ns / summary.traces / 1e6,
        "representative": {
            "trace_id": summary.representative.trace_id,
            "complexity": round(summary.representative.score, 3),
        },
    }


def class_row(name: str, summary: ClassSummary, traces: int, weights: Weights) -> tuple[str, ...]:
    """Under `HEADINGS`."""
    return (
        f"{class_complexity(summary, weights):.1f}",
        f"{summary.traces:,}",
        percent(summary.traces, traces),
        interval_in_words(summary.traces, traces),
        percent(summary.failed, summary.traces),
        f"{len(summary.judged):,}",
        f"{summary.spans / summary.traces:.1f}",
        f"{summary.components / summary.traces:.1f}",
        f"{summary.total_ns / summary.traces / 1e6:,.1f}",
        name,
    )
