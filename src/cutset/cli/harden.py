"""`cutset harden`: what to fix first within a budget, how, and whether it helped."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, StoreOption
from cutset.config.harden import Objective
from cutset.harden.problem import Level


class Apply(StrEnum):
    LOCAL = "local"


def harden_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    budget: Annotated[float, typer.Option("--budget", "-b", min=0, help="How many APIs, or how much cost.")] = 3,
    level: Annotated[
        Level, typer.Option("--level", help="Harden APIs, for all callers, or single call sites.")
    ] = Level.API,
    objective: Annotated[
        Objective,
        typer.Option("--objective", help="*coverage*: most findings; *availability*: fewest failed requests."),
    ] = Objective.COVERAGE,
    high: Annotated[
        list[str] | None, typer.Option("--high", help="A request whose findings must all be covered; several times.")
    ] = None,
    cost: Annotated[
        Path | None,
        typer.Option("--cost", help="Costs and more; by default the `harden` section of the configuration."),
    ] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write Istio manifests into this folder.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw coverage over budget into this SVG file.")] = None,
    apply: Annotated[Apply | None, typer.Option("--apply", help="Change the running local mesh.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Inject every known cut again, and look for new ones.")
    ] = False,
    known_only: Annotated[bool, typer.Option("--known-only", help="Do not look for new cuts.")] = False,
    config_file: ConfigOption = DEFAULT_CONFIG,
    mesh_file: Annotated[
        Path | None, typer.Option("--mesh", help="mesh.yaml; by default the one beside the configuration, or in it.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Choose what to harden within a budget, so that most findings go away, and say how.

    Reads the findings of a campaign and, if there are some, stored traces (`cutset ingest`) for traffic and latencies.
    The choice is proven best. `--apply` and `--verify` need the running target and `CUTSET_KEY`, as `cutset explore`
    does; with `--verify`, exits 1 if a finding that should be gone is not, or if there are new ones.

    Examples:

    - `cutset harden --budget 3`
    - `cutset harden --high "GET /" --cost costs.yaml --plot frontier.svg`
    - `cutset harden --objective availability --level call-site`
    - `cutset harden --write k8s/`: VirtualServices and DestinationRules; what exists is merged with or refused
    - `cutset harden --apply local --verify`: does it help?
    """
    from cutset.cli.harden_run import HardenOptions, run_harden  # loads SciPy, which takes a while

    options = HardenOptions(
        campaign=campaign,
        budget=budget,
        level=level,
        objective=objective,
        high=tuple(high or ()),
        cost=cost,
        write=write,
        plot=plot,
        apply=apply is not None,
        verify=verify,
        known_only=known_only,
        config_file=config_file,
        mesh_file=mesh_file,
        as_json=as_json,
        store=store,
    )
    raise typer.Exit(run_harden(options))
