"""`cutset faults` and `cutset explain`: the agent's library of faults, and the remedies of `cutset harden`."""

import json
from typing import Annotated

import typer
from rich.markup import escape

from cutset.cli.options import JsonOption
from cutset.cli.output import Console
from cutset.errors import UsageError
from cutset.harden.remedies.registry import explanations
from cutset.model.wording import did_you_mean, quoted
from cutset_agent.hooks.library import LibraryFault, fault_library


def faults_command(as_json: JsonOption = False) -> None:
    """List the faults that the agent can cause, and at which libraries.

    Examples:

    - `cutset faults`
    - `cutset faults --json | jq -r '.faults[] | select(.frameworks | index("redis")) | .name'`: those of one library
    - `cutset faults --json | jq -r '.faults[] | select(.contained | not) | .name'`: those that may reach other requests
    """
    library = fault_library()
    if as_json:
        print(json.dumps({"faults": [fault._asdict() for fault in library.values()]}, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    width = max(map(len, library))
    for fault in library.values():
        places = (f"{name}*" if name in fault.reaches else name for name in fault.frameworks)
        console.print(f"{fault.name:<{width}}  [dim]{escape(', '.join(places))}[/]")
    console.print(f"\n{len(library)} faults; `cutset explain NAME` says more of each.", style="dim")
    console.print(
        "* not contained: may reach other requests; refused unless the service was started for that.", style="dim"
    )


def explain_command(
    name: Annotated[
        str, typer.Argument(help="A fault, as `cutset faults` lists them, or a remedy.", metavar="FAULT|REMEDY")
    ],
) -> None:
    """Explain a fault: what happens, what kind of incident it stands for, and what a resilient caller does.

    Or a remedy that `cutset harden` advises: what it does, when it is advised, an example, its risks.

    Examples:

    - `cutset explain lost-answer`
    - `cutset explain timeout`
    """
    library, remedies = fault_library(), explanations()
    console = Console(highlight=False, soft_wrap=True)
    if name not in library and name not in remedies:
        listed = f"Run `cutset faults`. Remedies: {quoted(remedies)}"
        raise UsageError(
            f"`{name}` is no fault and no remedy", hint=did_you_mean(name, [*library, *remedies]) or listed
        )
    if name in library:
        for title, text in _sections(library[name]):
            console.print(f"[bold]{title}[/]\n  {escape(text)}")
    if name in remedies:  # some names are both: a timeout can happen, and can be set
        console.print(f"[bold]The remedy {name}[/]\n{escape(remedies[name])}")


def _sections(fault: LibraryFault) -> list[tuple[str, str]]:
    where = ", ".join(fault.frameworks) or "no hook yet"
    return [
        (fault.name, fault.what),
        ("Stands for", fault.incident),
        ("A resilient caller", fault.resilient),
        ("Where", where + (", at call sites with a timeout" if fault.needs_timeout else "")),
        ("Contained", _containment(fault)),
    ]


def _containment(fault: LibraryFault) -> str:
    if fault.contained:
        return "Yes: it reaches the request that has it in its plan, and no other."
    whom = "\n  ".join(f"{name}: {why}" for name, why in sorted(fault.reaches.items()))
    return f"Not everywhere. Refused where it is not, unless `CUTSET_UNCONTAINED=1`, as in drills:\n  {whom}"
