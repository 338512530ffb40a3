"""`cutset status`: what is installed in a cluster."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.status import installed_status
from cutset.cli.options import ContextOption, JsonOption
from cutset.cli.output import print_document, print_lines
from cutset.cli.run import run_async
from cutset.inject.istio.status import ClusterStatus

SIGNS = {"current": "[green]=[/]", "stale": "[yellow]~[/]", "missing": "[red]x[/]", "left over": "[red]-[/]"}


def status_command(
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="Only environments of this one; may be repeated.")
    ] = None,
    context: ContextOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show what is installed in a Kubernetes cluster: where, of which version, stale or left over. Changes nothing.

    Stale is what `cutset install` would make otherwise today: Cutset is newer, or services came or went. Exits 1 if
    something is stale, missing or left over.

    Examples:

    - `cutset status`: all environments
    - `cutset status -n shop --json`: for a machine
    """
    found = run_async(installed_status(namespace or (), context))
    if as_json:
        print_document({**asdict(found), "current": found.is_current})
    else:
        print_lines(_lines(found))
    raise typer.Exit(0 if found.is_current else 1)


def _lines(found: ClusterStatus) -> Iterator[str]:
    if not found.environments:
        yield "No environment is installed"
    for environment in found.environments:
        where = ", ".join(environment.namespaces) or "nowhere"
        yield f"[bold]{escape(environment.name)}[/] in {escape(where)}"
        for resource in environment.resources:
            sign = SIGNS.get(resource.state, "?")
            version = f" {escape(resource.version)}" if resource.version else ""
            yield f"  {sign} {escape(resource.name)}{version} {resource.state}"
        if environment.problem:
            yield f"  [yellow]![/] {escape(environment.problem)}"
    yield f"Collector: {found.collector}; MeshConfig {'names' if found.provider else 'does not name'} it"
    for each in found.left_over:
        yield f"[red]-[/] left over: {escape(each)}"
