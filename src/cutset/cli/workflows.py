"""`cutset workflows`: the parts of the system that most requests go through."""

import json
from typing import Annotated

import typer
from rich.console import Console

from cutset.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    SinceOption,
    StoreOption,
    TopOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.survey import named, printable, run_survey
from cutset.errors import UsageError
from cutset.model.wording import count
from cutset.select.workflows import Workflow, critical_workflows


def workflows_command(
    top: TopOption = 10,
    min_services: Annotated[int, typer.Option("--min-services", min=2, help="Of at least so many services.")] = 2,
    max_services: Annotated[int, typer.Option("--max-services", min=2, help="Of at most so many services.")] = 5,
    min_share: Annotated[
        float, typer.Option("--min-share", min=0, max=100, help="In at least so many percent of the traces.")
    ] = 1.0,
    front_end: Annotated[
        list[str] | None,
        typer.Option("--front-end", help="A service behind which a workflow must lead; may be given several times."),
    ] = None,
    overlapping: Annotated[
        bool, typer.Option("--overlapping", help="Also parts of larger workflows that occur in no more traces.")
    ] = False,
    stores: Annotated[bool, typer.Option("--stores/--no-stores", help="Data stores and queues are services.")] = True,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Find the critical workflows (ART): connected services and calls that most traces have in common.

    Examples:

    - `cutset workflows --top 5`
    - `cutset workflows --min-services 2 --max-services 2`: the most common calls between two services
    - `cutset workflows --no-stores --front-end gateway --front-end web`
    """
    if min_services > max_services:
        raise UsageError(f"`--min-services {min_services}` is more than `--max-services {max_services}`")
    kinds = run_survey(store, since, until, workers).kinds
    services = {call.point.service for tree in kinds for call in tree.walk()}
    for each in front_end or ():
        named(each, dict.fromkeys(services), "service")
    found = critical_workflows(
        kinds.items(),
        min_share=min_share / 100,
        min_services=min_services,
        max_services=max_services,
        top=top,
        overlapping=overlapping,
        stores=stores,
        front_ends=front_end or (),
    )
    if as_json:
        document = {
            "traces": found.traces,
            "complete_from": found.complete_from,
            "stopped": found.stopped,
            "workflows": [_document(workflow) for workflow in found.workflows],
        }
        print(json.dumps(document, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for number, workflow in enumerate(found.workflows, 1):
        console.print(
            f"[bold]{number}.[/] {printable(' · '.join(workflow.services))}  "
            f"[dim]{count(workflow.traces, 'trace')}, {workflow.share:.1%}[/]"
        )
        for call in workflow.calls:
            console.print(f"     {printable(str(call))}")
    if not found.workflows:
        console.print("No workflow is that common; try a lower `--min-share` or other numbers of services")
    if found.stopped:
        console.print(
            f"[yellow]There are too many to look at all:[/] those in less than {count(found.complete_from, 'trace')} "
            "may be missing; lower `--max-services` or raise `--min-share`"
        )


def _document(workflow: Workflow) -> dict[str, object]:
    return {
        "services": workflow.services,
        "calls": [str(call) for call in workflow.calls],
        "traces": workflow.traces,
        "share": workflow.share,
    }
