"""`cutset install`: make the sidecars of some namespaces obey our plans."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.markup import escape

from cutset.app.install import (
    InstallEnded,
    InstallEvent,
    InstallOptions,
    InstallStarted,
    install_environment,
    planned_chart,
    planned_manifests,
    write_chart,
)
from cutset.app.roles import planned_roles
from cutset.cli.options import ContextOption, EnvironmentOption, JsonOption, NamespaceOption
from cutset.cli.output import notes, print_document, print_lines
from cutset.cli.run import run_async
from cutset.errors import UsageError
from cutset.inject.istio.applying import Applied
from cutset.inject.istio.marks import DEFAULT_IMAGE
from cutset.inject.istio.probing import Probed
from cutset.model.wording import count

Event = TypeVar("Event")

INCOMPLETE = 3
LINE_SECONDS = 3  # between lines that say what is waited for
SIGNS = {"created": "[green]+[/]", "changed": "[yellow]~[/]", "same": "[dim]=[/]", "removed": "[red]-[/]"}


def install_command(
    namespace: NamespaceOption,
    environment: EnvironmentOption = "",
    context: ContextOption = "",
    print_only: Annotated[
        bool, typer.Option("--print", help="Only write the resources as YAML, for GitOps; changes nothing.")
    ] = False,
    helm: Annotated[
        Path | None, typer.Option("--helm", help="With --print: a Helm chart in this folder instead.")
    ] = None,
    print_role: Annotated[
        bool,
        typer.Option(
            "--print-role", help="Only write, as YAML, the roles for all commands but `explore --in-cluster`."
        ),
    ] = False,
    role_for: Annotated[
        str, typer.Option("--role-for", help="With --print-role: a user, or a ServiceAccount as `namespace/name`.")
    ] = "cutset",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Let the API server check all of it; change nothing.")
    ] = False,
    keep_tracing: Annotated[
        bool, typer.Option("--keep-tracing", help="Leave spans to the team's own tracing, and read them there.")
    ] = False,
    collector: Annotated[
        str, typer.Option("--collector", help="Send spans to this OTLP/gRPC `service.namespace:port` instead of ours.")
    ] = "",
    image: Annotated[str, typer.Option("--image", help="Of the collector: one with Cutset in it.")] = DEFAULT_IMAGE,
    pull_policy: Annotated[str, typer.Option("--pull-policy", help="Always, IfNotPresent or Never.")] = "IfNotPresent",
    strip_all: Annotated[
        bool,
        typer.Option("--strip-all", help="Let no plan in by gateways, not even ours: experiment from inside."),
    ] = False,
    trace_all: Annotated[
        bool,
        typer.Option("--trace-all", help="Trace all requests, so that calls which lose their context are seen, too."),
    ] = False,
    marking: Annotated[
        bool,
        typer.Option("--marking", help="Let `cutset impact` mark live requests at gateways; by itself marks none."),
    ] = False,
    force_mesh_config: Annotated[
        bool, typer.Option("--force-meshconfig", help="Change MeshConfig even if Helm or an operator owns it.")
    ] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait until every pod has proven it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the sidecars of some namespaces obey signed fault plans. No pod is restarted, no secret is put there.

    Makes a private key for the environment if there is none (in ~/.config/cutset/keys; `CUTSET_KEY` may hold one), and
    gives sidecars the public one. Gateways that lead there let in what this key signed and drop every other plan. A
    collector in namespace `cutset` receives spans of experiments, and of nobody else. Ready when every pod has said so
    itself, twice, and its spans arrive; until a pod has the filter, it sees a few requests for `/cutset-probe`. A
    connection that was open before may carry one more request past the filter. Do it again at any time: what is the
    same stays, what is old is renewed, what is not needed any more goes.

    Examples:

    - `cutset install -n shop --image registry.example/cutset:0.1.0`
    - `cutset install -n shop -n payments --keep-tracing`: spans stay with the Jaeger or Tempo that is there
    - `cutset install -n shop --marking`: and `cutset impact` may mark live requests at gateways, while it runs
    - `cutset install -n shop --print-role --role-for ci/robot | kubectl apply -f -`: an administrator gives the rights
    - `cutset install -n shop --print > cutset.yaml`, or `--print --helm chart/`: for GitOps
    """
    options = InstallOptions(
        tuple(namespace),
        environment,
        context,
        keep_tracing=keep_tracing,
        strip_all=strip_all,
        trace_all=trace_all,
        marking=marking,
        collector=collector,
        image=image,
        pull_policy=pull_policy,
        force_mesh_config=force_mesh_config,
        dry_run=dry_run,
        wait=not no_wait,
    )
    if print_role:
        print(run_async(planned_roles(namespace, role_for, context=context)), end="")
        return
    if helm is not None and not print_only:
        raise UsageError("`--helm` writes files only", hint="Add `--print`")
    if helm is not None:
        print_lines(escape(str(file)) for file in write_chart(run_async(planned_chart(options)), helm))
        return
    if print_only:
        print(run_async(planned_manifests(options)), end="")
        return
    raise typer.Exit(run_async(_install(install_environment(options), as_json=as_json)))


async def _install(events: AsyncGenerator[InstallEvent], *, as_json: bool) -> int:
    seen = await shown_steps(events, quiet=as_json)
    ended = seen[-1]
    assert isinstance(ended, InstallEnded)
    complete = ended.probed is None or not ended.probed.unproven
    if as_json:
        print_document(_document(seen, ended))
    else:
        print_lines(_last_lines(seen, ended))
    return 0 if complete else INCOMPLETE


async def shown_steps(events: AsyncGenerator[Event], *, quiet: bool) -> list[Event]:
    """All of them, each shown when it comes."""
    seen: list[Event] = []
    steps = _Steps()
    async with aclosing(events):
        async for event in events:
            seen.append(event)
            if not quiet:
                steps.show(event)
    return seen


class _Steps:
    """Shows on standard error what is done, and now and then what is waited for."""

    def __init__(self) -> None:
        self._console = notes()
        self._due = 0.0

    def show(self, event: object) -> None:
        match event:
            case InstallStarted(_, told):
                for note in told:
                    self._console.print(f"[yellow]![/] {escape(note)}")
            case Applied(resource, change):
                self._console.print(f"{SIGNS[change]} {escape(resource)}")
            case Probed(answered, pods, unproven) if unproven and time.monotonic() >= self._due:
                self._due = time.monotonic() + LINE_SECONDS
                pod, why = unproven[0]
                done = f"{answered} of {count(pods, 'pod')}"
                self._console.print(f"[dim]{done}; waiting for {escape(pod)}: {escape(why)}[/]")


def _last_lines(seen: list[InstallEvent], ended: InstallEnded) -> list[str]:
    started = next(event for event in seen if isinstance(event, InstallStarted))
    environment = escape(started.wanted.environment)
    if ended.dry_run:
        return [f"The API server takes all of environment {environment}; nothing was changed"]
    if ended.probed is None:
        return [f"Installed environment {environment}. Pods were not asked whether they obey: {escape(ended.unasked)}"]
    lines = [f"[yellow]![/] {escape(pod)}: {escape(why)}" for pod, why in ended.probed.unproven]
    proven = f"{ended.probed.answered} of {count(ended.probed.pods, 'pod')}"
    sign = "[green]Ready[/]" if not lines else "[yellow]Not ready[/]"
    return [*lines, f"{sign}: {proven} obey plans of environment {environment}"]


def _document(seen: list[InstallEvent], ended: InstallEnded) -> dict[str, object]:
    started = next(event for event in seen if isinstance(event, InstallStarted))
    probed = ended.probed
    return {
        "environment": started.wanted.environment,
        "namespaces": list(started.wanted.namespaces),
        "notes": list(started.notes),
        "resources": [asdict(event) for event in seen if isinstance(event, Applied)],
        "pods": probed.pods if probed else None,
        "proven": probed.answered if probed else None,
        "unproven": dict(probed.unproven) if probed else None,
        "unasked": ended.unasked,
    }
