"""`cutset uninstall`: take away what `cutset install` put into a cluster."""

from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.uninstall import UninstallEnded, UninstallEvent, UninstallOptions, uninstall_environment
from cutset.cli.install import INCOMPLETE, shown_steps
from cutset.cli.options import ContextOption, JsonOption, NamespaceOption
from cutset.cli.output import print_document, print_lines
from cutset.cli.run import run_async
from cutset.inject.istio.applying import Applied
from cutset.model.wording import count


def uninstall_command(
    namespace: NamespaceOption,
    environment: Annotated[
        str, typer.Option("--environment", help="By default the one that the namespaces belong to.")
    ] = "",
    context: ContextOption = "",
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait until no pod obeys a plan any more.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take away what `cutset install` put there, found by its labels. No pod is restarted.

    First the filters go, then pods are asked until none obeys a plan any more, then the rest goes. The collector, its
    namespace and our lines in MeshConfig go with the last environment; the rest of MeshConfig stays as it is.

    Example: `cutset uninstall -n shop`
    """
    options = UninstallOptions(tuple(namespace), environment, context, wait=not no_wait)
    raise typer.Exit(run_async(_uninstall(uninstall_environment(options), as_json=as_json)))


async def _uninstall(events: AsyncGenerator[UninstallEvent], *, as_json: bool) -> int:
    seen = await shown_steps(events, quiet=as_json)
    ended = seen[-1]
    assert isinstance(ended, UninstallEnded)
    removed = [event for event in seen if isinstance(event, Applied)]
    if as_json:
        print_document(_document(removed, ended))
    else:
        print_lines(_last_lines(removed, ended))
    return INCOMPLETE if ended.stays or (ended.probed and ended.probed.unproven) else 0


def _last_lines(removed: list[Applied], ended: UninstallEnded) -> list[str]:
    environment = escape(ended.environment)
    if not removed:
        return [f"Nothing of environment {environment} was installed"]
    lines = [f"Removed environment {environment}: {count(len(removed), 'resource')}"]
    if ended.probed is None:
        lines.append(f"Pods were not asked whether they still obey plans: {escape(ended.unasked)}")
    else:
        lines += [f"[yellow]![/] {escape(pod)}: {escape(why)}" for pod, why in ended.probed.unproven]
    return lines + ([f"[yellow]![/] What stays: {escape(ended.stays)}"] if ended.stays else [])


def _document(removed: list[Applied], ended: UninstallEnded) -> dict[str, object]:
    return {
        "environment": ended.environment,
        "resources": [asdict(event) for event in removed],
        "obeying": dict(ended.probed.unproven) if ended.probed else None,
        "unasked": ended.unasked,
        "stays": ended.stays,
    }
