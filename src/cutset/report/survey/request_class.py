"""One request class: what it calls and when, and how its executions differ."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import UNKNOWN_CALLER, CallTree
from cutset.model.survey import ClassSummary
from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.survey.classes import summary_document
from cutset.report.survey.frequency import interval_in_words, share_document
from cutset.report.survey.kinds import BY_UNKNOWN, kinds_in_words
from cutset.report.survey.table import percent, table_lines
from cutset.select.complexity import Weights

SHOWN_KINDS = 5
HEADINGS = ("traces", "95 %", "per trace", "failed", "tolerated", "made", "call")


def to_lines(name: str, summary: ClassSummary) -> Iterator[str]:
    yield f"[bold]{printable(name)}[/]  {count(summary.traces, 'trace')}, {summary.failed:,} failed"
    yield f"[dim]most complex trace  {printable(summary.representative.trace_id)}[/]"
    if torn := sum(summary.torn.values()):
        used = "not used here" if summary.kinds else "and no trace is whole: take this with care"
        yield f"[dim]{count(torn, 'trace')} of which spans are missing, {used}[/]"
    yield ""
    yield from table_lines(HEADINGS, call_rows(summary))
    kinds = most_common_first(summary)
    yield f"\n{count(len(kinds), 'kind')} of execution, by traces:"
    for number, words in enumerate(kinds_in_words(kinds[:SHOWN_KINDS]), 1):
        yield f"  {number}.  {printable(words)}"
    if len(kinds) > SHOWN_KINDS:
        yield f"[dim]  and {len(kinds) - SHOWN_KINDS:,} more; `--json` has all[/]"


def to_document(name: str, summary: ClassSummary, traces: int, weights: Weights) -> dict[str, Any]:
    return summary_document(name, summary, traces, weights) | {
        "calls": [
            {
                "caller": "" if use.caller == UNKNOWN_CALLER else str(use.caller),
                "callee": str(use.callee),
                "component": use.component,
                "when": use.role,
                "instead_of": sorted(map(str, use.instead_of)),
                "traces": use.traces,
                **share_document(use.traces, sum(summary.judged.values())),
                "calls": use.calls,
                "failures": use.failures,
                "tolerated": use.tolerated,
            }
            for use in call_uses(summary.judged)
        ],
        "executions": [
            {"traces": times, "tree": _tree_document(tree), "orphans": [*map(_tree_document, tree.orphans)]}
            for tree, times in most_common_first(summary)
        ],
    }


def most_common_first(summary: ClassSummary) -> list[tuple[CallTree, int]]:
    return sorted(summary.judged.items(), key=lambda item: (-item[1], item[0]))


def call_rows(summary: ClassSummary) -> list[tuple[str, ...]]:
    """Under `HEADINGS`, each with another call: what several APIs of one service call is told with the API."""
    uses, traces = call_uses(summary.judged), sum(summary.judged.values())
    callers = Counter((use.caller.service, use.callee) for use in uses)
    return [_call_row(use, traces, by_several=callers[use.caller.service, use.callee] > 1) for use in uses]


def _call_row(use: CallUse, traces: int, *, by_several: bool) -> tuple[str, ...]:
    if use.caller == UNKNOWN_CALLER:
        caller = f"  {BY_UNKNOWN}"
    else:
        caller = f"  to answer {use.caller.api}" if by_several else ""
    instead = f"  when failed: {', '.join(map(str, sorted(use.instead_of)))}" if use.instead_of else ""
    return (
        percent(use.traces, traces),
        interval_in_words(use.traces, traces),
        f"{use.calls / use.traces:.1f}",
        f"{use.failures:,}" if use.failures else "",
        f"{use.tolerated:,}" if use.tolerated else "",
        use.role.replace("-", " "),
        f"{replace(use.callee, caller=use.caller.service)}{caller}{instead}",
    )


def _tree_document(tree: CallTree) -> dict[str, Any]:
    """Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that recursion is safe."""
    return {"call": str(tree.point), "failed": tree.failed, "calls": [_tree_document(call) for call in tree.calls]}
