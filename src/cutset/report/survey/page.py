"""Stored traces, to look at: what there is, what requests these are and which matter, who calls whom.

Names come from traces, and nobody has checked them: they are text, and never markup.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import htpy as h

from cutset.model.moments import show_moment
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Survey
from cutset.model.wording import count
from cutset.report.drawing.graph import ServiceGraph
from cutset.report.drawing.service_graph import service_graph_svg
from cutset.report.page.components import bounded, code, note, table, tiles, verdict
from cutset.report.page.document import drawing
from cutset.report.survey import classes, request_class
from cutset.report.survey.frequency import ANECDOTES_IN_WORDS, is_anecdote
from cutset.report.survey.kinds import kinds_in_words
from cutset.report.survey.rank import Scores, highest_first
from cutset.report.survey.table import is_number, percent
from cutset.report.survey.traces import latest_refused
from cutset.report.survey.workflows import seen_in_words
from cutset.select.complexity import DEFAULT_WEIGHTS, most_complex_first
from cutset.select.rankings import Ranking
from cutset.select.workflows import CriticalWorkflows
from cutset.store.manifest import IngestRecord, SpanStore
from cutset.store.shapes import Totals

CALLS_OPEN = 4  # of a workflow; more are folded
LONGEST_KIND = 1_000  # letters: it names some calls
SHORT = 16  # letters of a cell that stay on one line
SHOWN_CLASSES, SHOWN_SERVICES, SHOWN_APIS, SHOWN_CALLS, SHOWN_INGESTS = 100, 50, 20, 200, 20


def stored_body(stored: SpanStore, totals: Totals) -> h.Node:
    """What is stored, and what was skipped."""
    return [
        h.p(".muted")[f"from {show_moment(stored.first_ns)} to {show_moment(stored.last_ns)} UTC"],
        tiles(
            [
                (f"{totals.traces:,}", "traces"),
                (f"{totals.spans:,}", "spans"),
                (f"{len(totals.services):,}", "services"),
            ]
        ),
        h.details[
            h.summary["Services, by spans"],
            _table(
                ("spans", "errors", "service"),
                (
                    (f"{spans:,}", percent(errors, spans), name)
                    for name, spans, errors in totals.services[:SHOWN_SERVICES]
                ),
                caption="Services, by spans",
            ),
            _more(len(totals.services) - SHOWN_SERVICES),
        ],
        _refused(latest_refused(stored.log)),
        h.details[h.summary["Latest ingests, and what was skipped"], _ingests(stored.log)],
    ]


def survey_body(
    survey: Survey,
    workflows: CriticalWorkflows,
    scores: Scores | None,
    graph: ServiceGraph,
    address: Callable[[str], str],
    *,
    choice: h.Node = None,
) -> h.Node:
    """`address` is where a request class, by its name, is shown; `choice` asks which part of the graph is."""
    return [
        h.h2["Request classes"],
        _classes(survey, address),
        h.h2("#who-calls-whom")["Who calls whom"],
        choice,
        _graph(graph, f"Calls around {graph.centre}" if graph.centre else "Calls between services"),
        h.h2["Critical workflows"],
        _workflows(workflows),
        scores and [h.h2["APIs by how much their failure would touch"], _ranks(scores)],
    ]


def class_body(name: str, summary: ClassSummary, graph: ServiceGraph) -> h.Node:
    """One request class: what it calls and when, and how its executions differ."""
    torn, kinds = sum(summary.torn.values()), request_class.most_common_first(summary)
    uses = request_class.call_rows(summary)
    used = "not used here" if summary.kinds else "and no trace is whole: take this with care"
    return [
        h.h1[bounded(name)],
        h.p(".muted")[f"{count(summary.traces, 'trace')}, {summary.failed:,} failed"],
        h.p(".small.muted")["most complex trace ", code(summary.representative.trace_id)],
        torn > 0 and note(f"{count(torn, 'trace')} of which spans are missing, {used}", kind="degraded"),
        h.h2["What it calls"],
        _table(
            request_class.HEADINGS,
            uses[:SHOWN_CALLS],
            caption="Calls of this request class",
        ),
        _more(len(uses) - SHOWN_CALLS),
        _graph(graph, f"Calls of {name}"),
        h.h2["How its executions differ"],
        h.p[f"{count(len(kinds), 'kind')} of execution, by traces:"],
        h.ol[(h.li[bounded(words, LONGEST_KIND)] for words in kinds_in_words(kinds[: request_class.SHOWN_KINDS]))],
        _more(len(kinds) - request_class.SHOWN_KINDS),
    ]


def _classes(survey: Survey, address: Callable[[str], str]) -> h.Node:
    ranked = most_complex_first(survey.classes, DEFAULT_WEIGHTS)
    rows = (
        (
            *classes.class_row(name, summary, survey.traces, DEFAULT_WEIGHTS)[:-1],
            h.a(href=address(name))[bounded(name)],
        )
        for name, summary in ranked[:SHOWN_CLASSES]
    )
    return [
        _table(classes.HEADINGS, rows, caption="Request classes, the most complex first"),
        _more(len(ranked) - SHOWN_CLASSES),
        h.p(".small.muted")[
            f"{count(len(survey.classes), 'request class')} in {count(survey.traces, 'trace')} of "
            f"{count(survey.spans, 'span')}. Spans, parts (services, stores, queues) and ms are means."
        ],
        [h.p(".small.muted")[sentence] for sentence in classes.lost_in_words(survey)],
    ]


def _graph(graph: ServiceGraph, title: str) -> h.Node:
    label = f"{bounded(title, 100)}: {count(len(graph.nodes), 'service')}, {count(len(graph.edges), 'connection')}"
    return drawing(service_graph_svg(graph, title=title), label=label, wide=True)


def _workflows(critical: CriticalWorkflows) -> h.Node:
    if not critical.workflows:
        return h.p["No workflow is that common."]
    return [
        h.p(".small.muted")["Connected services and calls that most traces have in common."],
        h.ol[
            (
                h.li[
                    bounded(" · ".join(workflow.services)),
                    " ",
                    h.span(".small.muted")[seen_in_words(workflow, critical.traces)],
                    is_anecdote(workflow.traces) and [" ", verdict("unknown", "anecdote")],
                    h.details(open=len(workflow.calls) <= CALLS_OPEN)[
                        h.summary[count(len(workflow.calls), "call")],
                        h.ul[(h.li[code(str(call))] for call in workflow.calls)],
                    ],
                ]
                for workflow in critical.workflows
            )
        ],
        any(is_anecdote(workflow.traces) for workflow in critical.workflows)
        and h.p(".small.muted")[ANECDOTES_IN_WORDS],
        critical.stopped
        and note(
            "There are too many to look at all: those in less than "
            f"{count(critical.complete_from, 'trace')} may be missing.",
            kind="degraded",
        ),
    ]


def _ranks(scores: Mapping[Ranking, Mapping[Point, float]]) -> h.Node:
    ranked = highest_first(scores[Ranking.API_RANK])
    rows = ((*(f"{scores[ranking][api]:.3f}" for ranking in Ranking), str(api)) for api in ranked[:SHOWN_APIS])
    return [_table((*Ranking, "API"), rows, caption="APIs, by APIRank"), _more(len(ranked) - SHOWN_APIS)]


def _ingests(log: Sequence[IngestRecord]) -> h.Node:
    return _table(
        ("spans", "new", "skipped", "when", "source"),
        (
            (
                f"{record.spans_read:,}",
                f"{record.spans_new:,}",
                "; ".join(
                    [
                        *filter(None, [record.problem]),
                        *(f"{times:,} × {reason}" for reason, times in record.skipped.items()),
                    ]
                )
                or "–",
                f"{show_moment(int(record.at * 1e9))} UTC",
                record.source,
            )
            for record in reversed(log[-SHOWN_INGESTS:])
        ),
        caption="Latest ingests, and what was skipped",
    )


def _refused(refused: Sequence[IngestRecord]) -> h.Node:
    return len(refused) > 0 and note(
        h.details[
            h.summary[f"{count(len(refused), 'source')} refused, or not read to the end"],
            h.ul[(h.li[bounded(record.problem)] for record in refused[:SHOWN_INGESTS])],
            _more(len(refused) - SHOWN_INGESTS),
        ],
        kind="degraded",
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[h.Node]], *, caption: str) -> h.Element:
    """The name, which is last where a terminal shows it, comes first; numbers are to the right, as there."""
    shown = list(rows)
    numeric = [all(is_number(str(row[place])) for row in shown) for place in range(len(headings) - 1)]
    heads = (
        h.th(class_={"number": right}, scope="col")[head] for head, right in zip(headings[:-1], numeric, strict=True)
    )
    return table(
        (headings[-1], *heads), ((_name(row[-1]), *_cells(row[:-1], numeric)) for row in shown), caption=caption
    )


def _cells(cells: Sequence[h.Node], numeric: Sequence[bool]) -> Iterable[h.Element]:
    return (
        h.td(class_={"number": right, "short": len(str(cell)) <= SHORT})[_bounded(cell)]
        for cell, right in zip(cells, numeric, strict=True)
    )


def _name(cell: h.Node) -> h.Element:
    return h.th(scope="row")[_bounded(cell)]


def _bounded(cell: h.Node) -> h.Node:
    return bounded(cell) if isinstance(cell, str) else cell


def _more(number: int) -> h.Node:
    return number > 0 and h.p(".small.muted")[f"and {number:,} more"]
