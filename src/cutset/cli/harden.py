"""`cutset harden`: what to fix first within a budget, how, and whether it helped."""

import json
import os
import shlex
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.harden import (
    TrialEvent,
    at_the_knee,
    conclude,
    decide,
    exit_code,
    try_out,
    write_manifests,
    write_markdown,
    write_page,
)
from cutset.app.harden_place import Apply, Steps
from cutset.app.harden_problem import HardenOptions
from cutset.app.harden_undo import is_undone, undo
from cutset.app.mesh import mesh_file_of
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, StoreOption
from cutset.cli.output import Console
from cutset.cli.progress import show_progress
from cutset.cli.run import run_async
from cutset.config.explore import load_config, plan_key
from cutset.config.harden import Objective, load_harden
from cutset.errors import UsageError
from cutset.harden.decision import Hardening
from cutset.harden.problem import CandidateLevel
from cutset.model.hardening import CutRechecked, MeshChanging
from cutset.model.wording import count
from cutset.report.hardening.json import to_document
from cutset.report.hardening.plot import frontier_svg
from cutset.report.hardening.terminal import to_lines
from cutset.report.replaying import undo_command


def harden_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    budget: Annotated[float, typer.Option("--budget", "-b", min=0, help="How many APIs, or how much cost.")] = 3,
    level: Annotated[
        CandidateLevel, typer.Option("--level", help="Harden APIs, for all callers, or single call sites.")
    ] = CandidateLevel.API,
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
    html: Annotated[
        Path | None, typer.Option("--html", help="Write it all into this page, which needs nothing from elsewhere.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write it into this file, for a comment on a pull request.")
    ] = None,
    apply: Annotated[
        Apply | None, typer.Option("--apply", help="Change the running local mesh, or the cluster.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Inject every known cut again, and look for new ones.")
    ] = False,
    known_only: Annotated[bool, typer.Option("--known-only", help="Do not look for new cuts.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the latest unfinished hardening.")] = False,
    undo_it: Annotated[
        bool, typer.Option("--undo", help="Only take back what the latest hardening applied, also after a crash.")
    ] = False,
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
    does; with `--verify`, exits 1 if a finding that should be gone is not, or if there are new ones. `--apply` changes
    nothing unless all requests work, and takes everything back, and exits 1, if one of them works no more. On Istio,
    VirtualServices and DestinationRules of others are added to; what differs there is kept, and named.

    Examples:

    - `cutset harden --budget 3`
    - `cutset harden --high "GET /" --cost costs.yaml --plot frontier.svg`
    - `cutset harden --objective availability --level call-site`
    - `cutset harden --html harden.html --markdown comment.md`: to be mailed, and for a pull request
    - `cutset harden --write k8s/`: VirtualServices and DestinationRules; what exists is merged with or refused
    - `cutset harden --apply local --verify`: does it help?
    - `cutset harden --apply istio --verify`: the same in the cluster of the section `istio` in cutset.yaml
    - `cutset harden --undo`: take back what was applied
    - `cutset harden --apply local --verify --resume`: after an interruption: no cut is injected a second time
    """
    if undo_it:
        _undo(store)
        return
    mesh_file = mesh_file.absolute() if mesh_file else mesh_file_of(config_file)
    steps = Steps(mesh_file, apply, verify, explore=not known_only)
    live = steps.apply is not None or steps.verify
    if resume and not live:
        raise UsageError("`--resume` goes with `--apply` or `--verify`")
    options = HardenOptions(budget, level, objective, tuple(high or ()))
    decided = decide(store, campaign, load_harden(cost, config_file), options)
    events: list[TrialEvent] = []
    if live:
        config = load_config(config_file)
        trial = try_out(decided, steps, config, key=plan_key(config, os.environ), resume=resume)
        _follow(trial, events, store)
    found = conclude(decided, steps, events)
    if plot:
        plot.write_text(frontier_svg(found.frontier, budget=budget))
    if html:
        write_page(html, found, at_the_knee(decided, steps))
    if markdown:
        write_markdown(markdown, found)
    try:
        written = write_manifests(found, write) if write else []
    except UsageError:
        if events:  # what was tried must not be lost because the folder holds something else
            _show(found, [], as_json=as_json)
        raise
    _show(found, written, as_json=as_json)
    raise typer.Exit(exit_code(found))


def _show(found: Hardening, written: list[Path], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(to_document(found, written), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in to_lines(found, written):
        console.print(line)


def _undo(store: Path) -> None:
    done = run_async(undo(store))
    console = Console(highlight=False, soft_wrap=True)
    if done.problem:
        console.print(f"Not all is as it was: {done.problem}", markup=False)
        raise typer.Exit(1)
    console.print(f"The mesh is configured as it was before the hardening {done.run}. It had got:", markup=False)
    for each in done.change.added:
        console.print(f"  - {each}", markup=False)


def _follow(events: AsyncGenerator[TrialEvent, None], recorded: list[TrialEvent], store: Path) -> None:
    try:
        run_async(show_progress(events, recorded))
    except BaseException:
        if recorded:
            print_ways_on(recorded, store)
        raise


def print_ways_on(recorded: Sequence[TrialEvent], store: Path) -> None:
    """After it was interrupted, or failed."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    rechecked = sum(isinstance(event, CutRechecked) for event in recorded)
    text = f"Stopped; what is known of {count(rechecked, 'cut')} is kept. "
    text += f"Go on with `{shlex.join(['cutset', *words, '--resume'])}`"
    changes = [event for event in recorded if isinstance(event, MeshChanging) and event.added]
    if changes and (changes[0].resources or (changes[0].original and changes[0].original.exists())):
        way = undo_command(changes[0], store)
        if is_undone(changes[0], store):
            text += f". What was applied was rolled back, as by `{way}`"
        else:
            text += f", or undo what was applied with `{way}`"
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)
