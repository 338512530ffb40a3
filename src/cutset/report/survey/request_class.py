"""One request class: what it calls and when, and how its executions differ."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import UNKNOWN_CALLER, CallTree
from cutset.model.survey import ClassSummary
from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.survey.classes import summary_document
from cutset.report.survey.table import percent, table_lines
from cutset.select.complexity import Weights

SHOWN_KINDS = 5
HEADINGS = ("traces", "per trace", "failed", "tolerated", "made", "call")


def to_lines(name: str, summary: ClassSummary) -> Iterator[str]:
    yield f"[bold]{printable(name)}[/]  {count(summary.traces, 'trace')}, {summary.failed:,} failed"
    yield f"[dim]most complex trace  {printable(summary.representative.trace_id)}[/]"
    if torn := sum(summary.torn.values()):
        used = "not used here" if summary.kinds else "and no trace is whole: take this with care"
        yield f"[dim]{count(torn, 'trace')} of which spans are missing, {used}[/]"
    yield ""
    rows = [call_row(use, summary.traces) for use in call_uses(summary.judged)]
    yield from table_lines(HEADINGS, rows)
    kinds = most_common_first(summary)
    yield f"\n{count(len(kinds), 'kind')} of execution, by traces:"
    for tree, traces in kinds[:SHOWN_KINDS]:
        yield f"  {printable(kind_in_words(tree, traces))}"
    if len(kinds) > SHOWN_KINDS:
        yield f"[dim]  and {len(kinds) - SHOWN_KINDS:,} more; `--json` has all[/]"


def kind_in_words(tree: CallTree, traces: int) -> str:
    calls = sum(1 for _ in tree.callees())
    failed = [str(call.point) for call in tree.walk() if call.failed]
    but = f", failed: {', '.join(failed)}" if failed else ""
    return f"{traces:,} × {count(calls, 'call')}{but}"


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
                "calls": use.calls,
                "failures": use.failures,
                "tolerated": use.tolerated,
            }
            for use in call_uses(summary.judged)
        ],
        "executions": [{"traces": times, "tree": _tree_document(tree)} for tree, times in most_common_first(summary)],
    }


def most_common_first(summary: ClassSummary) -> list[tuple[CallTree, int]]:
    return sorted(summary.judged.items(), key=lambda item: (-item[1], item[0]))


def call_row(use: CallUse, traces: int) -> tuple[str, ...]:
    """Under `HEADINGS`."""
    instead = f"  when failed: {', '.join(map(str, sorted(use.instead_of)))}" if use.instead_of else ""
    return (
        percent(use.traces, traces),
        f"{use.calls / use.traces:.1f}",
        f"{use.failures:,}" if use.failures else "",
        f"{use.tolerated:,}" if use.tolerated else "",
        use.role.replace("-", " "),
        f"{replace(use.callee, caller=use.caller.service)}{instead}",
    )


def _tree_document(tree: CallTree) -> dict[str, Any]:
    """Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that recursion is safe."""
    return {"call": str(tree.point), "failed": tree.failed, "calls": [_tree_document(call) for call in tree.calls]}
