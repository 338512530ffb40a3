"""`cutset status`: what is being injected now, and what is installed in a cluster."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cutset.app.status import ActiveRun, LocalStatus, installed_status, is_cluster_known, local_status
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, ContextOption, JsonOption, StoreOption
from cutset.cli.output import print_document, print_lines
from cutset.cli.run import run_async
from cutset.model.moments import show_moment

if TYPE_CHECKING:
    from cutset.inject.istio.status import ClusterStatus

SIGNS = {"current": "[green]=[/]", "stale": "[yellow]~[/]", "missing": "[red]x[/]", "left over": "[red]-[/]"}
HALTED = 4


def status_command(
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="Only environments of this one; may be repeated.")
    ] = None,
    context: ContextOption = "",
    config_file: ConfigOption = DEFAULT_CONFIG,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show what is being injected now, by whom, until when; and what is installed in a cluster. Changes nothing.

    The first is of the store, the second of the cluster of the kubeconfig, if there is one: where something is
    installed, of which version, stale or left over. Stale is what `cutset install` would make otherwise today: Cutset
    is newer, or services came or went.

    Exits 4 if the store is halted; else 1 if something in the cluster is stale, missing or left over, 3 if the cluster
    does not answer, and 0.

    Examples:

    - `cutset status`: this store, and all environments
    - `cutset status -n shop --json`: for a machine
    """
    local = local_status(store, config_file)
    if not as_json:
        print_lines(_local_lines(local))
    cluster: ClusterStatus | None = None
    if namespace or context or is_cluster_known():
        cluster = run_async(installed_status(namespace or (), context))
    if as_json:
        print_document(_document(local, cluster))
    elif cluster:
        print_lines(_lines(cluster))
    current = cluster is None or cluster.is_current
    raise typer.Exit(HALTED if local.halted else 0 if current else 1)


def _document(local: LocalStatus, cluster: "ClusterStatus | None") -> dict[str, object]:
    installed = {**asdict(cluster), "current": cluster.is_current} if cluster else {}
    return {
        "halted": asdict(local.halted) if local.halted else None,
        "mesh_switched_off": local.mesh_off,
        "injecting": [
            {**asdict(each.injection), "last": asdict(each.last) if each.last else None} for each in local.running
        ],
        **installed,
    }


def _local_lines(local: LocalStatus) -> Iterator[str]:
    if order := local.halted:
        why = f": “{escape(order.reason)}”" if order.reason else ""
        yield f"[red]Halted[/] by {escape(order.by)}, {_moment(order.at)}{why}; `cutset halt --lift` allows injection"
    if local.mesh_off:
        yield "[red]The mesh beside the configuration is switched off[/]; `cutset halt --lift` switches it on"
    if not local.running:
        yield "Nothing is being injected"
    for each in local.running:
        yield from _active_lines(each)


def _active_lines(run: ActiveRun) -> Iterator[str]:
    each = run.injection
    until = f"until {_moment(each.until)}" if each.until else "until it is done"
    yield f"[bold]{escape(each.loop)} {escape(each.run)}[/] in {escape(each.environment)}: {escape(each.what)}"
    yield f"  by {escape(each.by)}, process {each.process}, since {_moment(each.since)}, {until}"
    if run.last:
        ago = max(0.0, time.time() - run.last.at)
        yield f"  last: {escape(run.last.cut)}, {ago:.0f} s ago, trace {escape(run.last.trace_id)}"


def _moment(at: float) -> str:
    return f"{show_moment(round(at * 1e9))} UTC"


def _lines(found: "ClusterStatus") -> Iterator[str]:
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
