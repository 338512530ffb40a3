"""`cutset workflows`: the parts of the system that most requests go through."""

from typing import Annotated

import typer

from cutset.app.survey import find_workflows
from cutset.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    SinceOption,
    StoreOption,
    TopOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.output import print_document, print_lines
from cutset.cli.survey import show_survey
from cutset.errors import UsageError
from cutset.report.survey.workflows import to_document, to_lines


def workflows_command(
    name: Annotated[str, typer.Option("--class", help="Only of this request class.", metavar="CLASS")] = "",
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

    Each with how many traces have it, their share, and its interval of 95 %. What fewer than 12 traces have is marked
    as an anecdote: how often it happens may be off by a factor of two, and its place in the list says little.

    Examples:

    - `cutset workflows --top 5`: the first is the one that `cutset graph` highlights
    - `cutset workflows --class "POST /cart/checkout"`: what most checkouts have in common
    - `cutset workflows --min-services 2 --max-services 2`: the most common calls between two services
    - `cutset workflows --no-stores --front-end gateway --front-end web`
    """
    if min_services > max_services:
        raise UsageError(f"`--min-services {min_services}` is more than `--max-services {max_services}`")
    critical = find_workflows(
        show_survey(store, since, until, workers),
        name=name,
        min_share=min_share / 100,
        min_services=min_services,
        max_services=max_services,
        top=top,
        overlapping=overlapping,
        stores=stores,
        front_ends=front_end or (),
    )
    if as_json:
        print_document(to_document(critical))
    else:
        print_lines(to_lines(critical))
