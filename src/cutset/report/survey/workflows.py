"""Critical workflows (ART §3.2): as text for people and as JSON for machines."""

from collections.abc import Iterator
from typing import Any

from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.select.workflows import CriticalWorkflows


def to_lines(critical: CriticalWorkflows) -> Iterator[str]:
    for number, workflow in enumerate(critical.workflows, 1):
        seen = f"[dim]{count(workflow.traces, 'trace')}, {workflow.share:.1%}[/]"
        yield f"[bold]{number}.[/] {printable(' · '.join(workflow.services))}  {seen}"
        for call in workflow.calls:
            yield f"     {printable(str(call))}"
    if not critical.workflows:
        yield "No workflow is that common; try a lower `--min-share` or other numbers of services"
    if critical.stopped:
        yield (
            f"[yellow]There are too many to look at all:[/] those in less than "
            f"{count(critical.complete_from, 'trace')} may be missing; lower `--max-services` or raise `--min-share`"
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
                "share": workflow.share,
            }
            for workflow in critical.workflows
        ],
    }
