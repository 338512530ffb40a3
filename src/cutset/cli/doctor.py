"""`cutset doctor`: what is wrong with a set-up, and what to do."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.doctor import examine, examine_namespaces, exit_code
from cutset.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, RequestOption
from cutset.cli.output import print_document, print_lines
from cutset.cli.run import run_async
from cutset.config.explore import adjusted, load_config, plan_key
from cutset.model.cluster import IstioPlace
from cutset.report.checkup import to_document, to_lines


def doctor_command(
    config_file: ConfigOption = DEFAULT_CONFIG,
    request: RequestOption = None,
    mesh_file: Annotated[
        Path | None, typer.Option("--mesh", help="mesh.yaml; by default the one beside the configuration, or in it.")
    ] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="Of a cluster with Istio: without a cutset.yaml, before installing."),
    ] = None,
    context: Annotated[str, typer.Option("--context", help="Of the kubeconfig, with `--namespace`.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Say what is wrong with the set-up of cutset.yaml, and what to do. Injects nothing.

    Does every server accept connections, does the mesh obey our plans, do spans arrive, and how soon, which services
    hand on what, and what does the mesh itself do to calls? Sends the requests of cutset.yaml a few times, without
    faults. Exits 1 if something is wrong. `cutset explore` begins with the same, and stops if it cannot experiment.

    In a Kubernetes cluster with Istio (section `istio` of cutset.yaml) also: versions and rights, sidecars, ports and
    names, what no plan reaches and why, what is installed and whether it is up to date, its key and environment, the
    collector, the gateway, clocks, and what others' resources do to calls and spans.

    Examples:

    - `cutset doctor`: ./cutset.yaml, and the mesh.yaml beside it
    - `cutset doctor -r "GET /" --mesh shop/mesh.yaml`: one request; the mesh runs from another file
    - `cutset doctor -n shop`: whether what runs in a namespace of a cluster can be explored, before installing
    - `cutset doctor --json | jq '.checks[] | select(.state == "wrong")'`: for a machine
    """
    then = "cutset explore"
    if namespace:
        then = " ".join(("cutset install", *(f"-n {name}" for name in namespace)))
        found = run_async(examine_namespaces(IstioPlace(tuple(namespace), context)))
    else:
        config = adjusted(load_config(config_file), requests=request or ())
        found = run_async(examine(config, key=partial(plan_key, config, os.environ), mesh_file=mesh_file))
    if as_json:
        print_document(to_document(found))
    else:
        print_lines(to_lines(found, then))
    raise typer.Exit(exit_code(found))
