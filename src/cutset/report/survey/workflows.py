"""Critical workflows (ART §3.2): as text for people and as JSON for machines."""

from collections.abc import Iterator
from typing import Any

from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.survey.frequency import ANECDOTES_IN_WORDS, interval_in_words, is_anecdote, share_document
from cutset.report.survey.table import percent
from cutset.select.workflows import CriticalWorkflows, Workflow


def to_lines(critical: CriticalWorkflows) -> Iterator[str]:
    for number, workflow in enumerate(critical.workflows, 1):
        yield f"[bold]{number}.[/] {printable(' · '.join(workflow.services))}  {_seen(workflow, critical.traces)}"
        for call in workflow.calls:
            yield f"     {printable(str(call))}"
    if any(is_anecdote(workflow.traces) for workflow in critical.workflows):
        yield f"[dim]{ANECDOTES_IN_WORDS}[/]"
    if not critical.workflows:
        yield "No workflow is that common; try a lower `--min-share` or other numbers of services"
    if critical.stopped:
        yield (
            f"[yellow]There are too many to look at all:[/] those in less than "
            f"{count(critical.complete_from, 'trace')} may be missing; lower `--max-services` or raise `--min-share`"
        )


def _seen(workflow: Workflow, traces: int) -> str:
    anecdote = "  [yellow]anecdote[/]" if is_anecdote(workflow.traces) else ""
    return f"[dim]{seen_in_words(workflow, traces)}[/]{anecdote}"


def seen_in_words(workflow: Workflow, traces: int) -> str:
    return (
        f"{count(workflow.traces, 'trace')}, {percent(workflow.traces, traces)} "
        f"({interval_in_words(workflow.traces, traces)})"
    )


def to_document(critical: CriticalWorkflows) -> dict[str, Any]:
    return {
        "traces": critical.traces,
        "complete_from": critical.complete_from,
        "stopped": critical.stopped,
        "workflows": [
            {
                "services": workflow.services,
                "calls": [str(call) for call in workflow.calls],
                "traces": workflow.traces,
                **share_document(workflow.traces, critical.traces),
                "anecdote": is_anecdote(workflow.traces),
            }
            for workflow in critical.workflows
        ],
    }
