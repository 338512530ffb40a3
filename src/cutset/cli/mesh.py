"""`cutset mesh`: run local services behind one Envoy."""

import os
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.mesh import run_mesh_file
from cutset.cli.output import Console
from cutset.config.key import KEY_VARIABLE
from cutset.inject.local.mesh import Mesh
from cutset.model.wording import count

mesh_app = typer.Typer(no_args_is_help=True, help="Run local services behind a real Envoy mesh.")


@mesh_app.callback()
def _mesh() -> None:
    """Keeps `up` a subcommand while it is the only one."""


@mesh_app.command("up")
def up_command(
    file: Annotated[Path, typer.Argument(help="mesh.yaml, or a cutset.yaml with a `mesh` section.", metavar="FILE")],
    tap: Annotated[
        Path | None,
        typer.Option("--tap", help="Write every request and answer into this folder, for `cutset record --tap`."),
    ] = None,
) -> None:
    """Start the mesh and keep it running until Ctrl-C.

    Services call each other at the addresses printed here; users enter at the edge, experiments at the entry. Faults
    happen only to requests whose plan is signed with the key in `CUTSET_KEY`, of 32 bytes or more; without a key there
    are none. The edge drops plans that come from outside.

    When the file changes, timeouts, retries and other settings of services are taken over: Envoy is restarted on the
    same ports, which takes about half a second.

    What `--tap` writes is as it was sent, secrets included; `cutset record --tap` masks it. Delete the folder then.

    Example: `CUTSET_KEY=$(openssl rand -hex 32) cutset mesh up mesh.yaml`
    """
    key = os.environ.get(KEY_VARIABLE, "").encode()
    console = Console(highlight=False, soft_wrap=True)
    warnings = Console(stderr=True, highlight=False, soft_wrap=True)

    def refused(problem: str) -> None:
        warnings.print(f"[red]{escape(str(file))} was not taken over:[/] {escape(problem)}")

    with run_mesh_file(file, key=key, tap=tap, refused=refused) as mesh:
        for line in _lines(mesh):
            console.print(line)
        if not key:
            warnings.print(f"[yellow]warning:[/] {KEY_VARIABLE} is not set, so no plan causes a fault")
        console.print("Press Ctrl-C to stop")
        threading.Event().wait()


def _lines(mesh: Mesh) -> list[str]:
    width = max(len(service.name) for service in mesh.spec.services)
    lines = [
        f"{escape(service.name):<{width}}  {mesh.addresses[service.name]}  [dim]{service.protocol}, "
        f"{count(len(service.replicas), 'replica')}[/]"
        for service in mesh.spec.services
    ]
    if mesh.entry_url:
        lines += [f"users enter at       {mesh.edge_url}", f"experiments enter at {mesh.entry_url}"]
    return lines
