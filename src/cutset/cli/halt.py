"""`cutset halt`: the hand on the brake."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.halt import Halted, halt, lift
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, StoreOption
from cutset.cli.output import print_document, print_lines
from cutset.errors import UsageError
from cutset.model.moments import show_moment
from cutset.model.wording import count

COULD_NOT = 3


def halt_command(
    reason: Annotated[str, typer.Option("--reason", help="Why; shown to whoever is halted.")] = "",
    lift_it: Annotated[bool, typer.Option("--lift", help="Allow injection again.")] = False,
    admin: Annotated[
        list[str] | None,
        typer.Option(
            "--admin",
            metavar="URL",
            help="Also the mesh with this admin interface, from any machine: `http://host:9901`; may be repeated.",
        ),
    ] = None,
    config_file: ConfigOption = DEFAULT_CONFIG,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """End all injection at once, and let none begin until `--lift`.

    All that uses the same store (`explore`, `impact`, `drill`, `harden --verify`, in any terminal) injects nothing
    more and ends with exit code 4; what it found is kept, and `--resume` goes on. The mesh that runs beside the
    configuration is switched off too, so that plans of requests under way do nothing more. To halt twice is to halt
    once.

    Exits 3 if something could not be reached, and says what.

    Examples:

    - `cutset halt --reason "checkout is slow, looking into it"`
    - `cutset halt --lift`: injection is allowed again
    - `cutset halt --admin http://mesh-host:9901`: from a machine that has not the store
    """
    if lift_it and reason:
        raise UsageError("`--reason` goes with halting, not with `--lift`")
    admins = tuple(admin or ())
    if lift_it:
        done = lift(store, config_file, admins=admins)
    else:
        done = halt(store, config_file, reason=reason, admins=admins)
    if as_json:
        print_document({"halted": not lift_it, **asdict(done)})
    else:
        print_lines(_lifted_lines(done, store) if lift_it else _halted_lines(done, store))
    raise typer.Exit(COULD_NOT if done.problems else 0)


def _halted_lines(done: Halted, store: Path) -> Iterator[str]:
    if done.order is None:
        yield f"[yellow]![/] `{escape(str(store))}` is not here: what uses it has not been told, only meshes"
    elif done.repeated:
        yield f"Halted already, by {escape(done.order.by)}, {_when(done)}{_why(done)}"
    else:
        yield f"[green]Halted[/]: nothing that uses `{escape(str(store))}` injects any more, or begins to"
    for each in done.running:
        told = f"{each.loop} {escape(each.run)} of {escape(each.by)}, process {each.process}"
        yield f"  told: {told}: {escape(each.what)}"
    if done.order is not None and not done.running:
        yield "  nobody was injecting"
    for mesh in done.meshes:
        yield f"  switched off: the mesh at {escape(mesh)}; plans under way do nothing more"
    yield from _problems(done)
    if done.elsewhere:
        yield f"[yellow]![/] {escape(done.elsewhere)}"
    if not done.meshes and not done.problems and not done.elsewhere:
        yield "  no mesh runs beside the configuration: plans under way end with their requests, within seconds"
    yield "Lift it with `cutset halt --lift`"


def _lifted_lines(done: Halted, store: Path) -> Iterator[str]:
    if done.order is None:
        yield f"`{escape(str(store))}` was not halted"
    else:
        yield f"[green]Lifted[/]: what {escape(done.order.by)} halted, {_when(done)}{_why(done)}; `--resume` goes on"
    for mesh in done.meshes:
        yield f"  switched on: the mesh at {escape(mesh)}"
    yield from _problems(done)


def _problems(done: Halted) -> Iterator[str]:
    if done.problems:
        yield f"[red]{count(len(done.problems), 'thing')} could not be done:[/]"
    for each in done.problems:
        yield f"  [red]x[/] {escape(each)}"


def _when(done: Halted) -> str:
    return f"{show_moment(round(done.order.at * 1e9))} UTC" if done.order else ""


def _why(done: Halted) -> str:
    return f" (“{escape(done.order.reason)}”)" if done.order and done.order.reason else ""
