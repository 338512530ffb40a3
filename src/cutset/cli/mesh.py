"""`cutset mesh`: run local services behind one Envoy."""

import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cutset.cli.mesh_changes import following
from cutset.config.explore import KEY_VARIABLE, load_mesh
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.model.wording import count
from cutset.workload.recording.tap import tap_filter

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
    happen only to requests whose plan is signed with the key in `CUTSET_KEY`; without a key there are none.

    When the file changes, timeouts, retries and other settings of services are taken over: Envoy is restarted on the
    same ports, which takes about half a second.

    What `--tap` writes is as it was sent, secrets included; `cutset record --tap` masks it. Delete the folder then.

    Example: `CUTSET_KEY=$(openssl rand -hex 32) cutset mesh up mesh.yaml`
    """
    spec = load_mesh(file)
    if tap is not None:
        tap.mkdir(parents=True, exist_ok=True, mode=0o700)
        taps = {service.name: tap_filter(service.name, tap.absolute()) for service in spec.services}
        spec = replace(spec, first_filters=taps)
    key = os.environ.get(KEY_VARIABLE, "").encode()
    console = Console(highlight=False, soft_wrap=True)
    with (
        tempfile.TemporaryDirectory(prefix="cutset-mesh-") as work_dir,
        run_mesh(spec, key=key, work_dir=Path(work_dir)) as mesh,
        following(file, mesh),
    ):
        for line in _lines(mesh):
            console.print(line)
        if not key:
            Console(stderr=True).print(f"[yellow]warning:[/] {KEY_VARIABLE} is not set, so no plan causes a fault")
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
