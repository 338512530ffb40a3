"""`cutset replay`: send a recording's requests again, and say how many came back as recorded."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cutset.cli.options import JsonOption
from cutset.cli.record import report_losses
from cutset.errors import InputError, UsageError
from cutset.workload.recording.folder import read_recording
from cutset.workload.replay import Tally, replay
from cutset.workload.templates.rules import RULES_FILE, rules_for
from cutset.workload.templates.template import Template, entry_exchanges, templates_of, verbatim

MAX_REASONS = 3  # shown of each request class

Tallies = Mapping[str, Tally]


def replay_command(
    recording: Annotated[Path, typer.Argument(help="What `cutset record` wrote.", metavar="RECORDING")],
    url: Annotated[
        str, typer.Option("--url", help="Where the service under test is: it gets all requests, also writes.")
    ],
    naive: Annotated[bool, typer.Option("--naive", help="Send what was recorded, byte for byte.")] = False,
    both: Annotated[bool, typer.Option("--both", help="Naively first, then as templates, to compare.")] = False,
    variables: Annotated[
        Path | None, typer.Option(help=f"Variables by hand; else `{RULES_FILE}` in the folder.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Flows side by side.")] = 8,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds for each request.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Send recorded flows again, with fresh ids, present times, and tokens from the answers of this very replay.

    A request succeeds if it is answered with the same class of status as when it was recorded, and if what it needs
    from earlier answers is there. Exit code 1 if one does not.

    Example: `cutset replay recording --url http://127.0.0.1:8080 --both`
    """
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url: expected a URL as `http://127.0.0.1:8080`, found `{url}`")
    recorded = read_recording(recording)
    templates = templates_of(entry_exchanges(recorded.exchanges), rules_for(recording, variables))
    if not templates:
        raise InputError(f"The recording `{recording}` has no request that can be sent again")

    def results(sent: Sequence[Template]) -> Tallies:
        return asyncio.run(replay(sent, base_url=url, values=os.environ, parallel=parallel, timeout=timeout))

    outcomes: dict[str, Tallies] = {}
    if naive or both:
        outcomes["naive"] = results([verbatim(template) for template in templates])
    if both or not naive:
        outcomes["templated"] = results(templates)
    if as_json:
        print(json.dumps({kind: _as_json(tallies) for kind, tallies in outcomes.items()}))
    else:
        _print(outcomes)
    report_losses(recorded, Console(stderr=True, highlight=False, markup=False, soft_wrap=True))
    last = list(outcomes.values())[-1]
    raise typer.Exit(0 if all(tally.succeeded == tally.tried for tally in last.values()) else 1)


def _as_json(tallies: Tallies) -> dict[str, object]:
    return {
        "tried": sum(tally.tried for tally in tallies.values()),
        "succeeded": sum(tally.succeeded for tally in tallies.values()),
        "classes": {
            name: {"tried": tally.tried, "succeeded": tally.succeeded, "failures": dict(tally.failures)}
            for name, tally in tallies.items()
        },
    }


def _print(outcomes: Mapping[str, Tallies]) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    table = Table("request", *(f"{kind}: as recorded" for kind in outcomes), "because", box=box.SIMPLE)
    names = sorted({name for tallies in outcomes.values() for name in tallies})
    for name in names:
        shown = [_share(tallies[name].succeeded, tallies[name].tried) for tallies in outcomes.values()]
        table.add_row(name, *shown, "\n".join(_reasons(name, outcomes)))
    totals = [
        _share(sum(tally.succeeded for tally in tallies.values()), sum(tally.tried for tally in tallies.values()))
        for tallies in outcomes.values()
    ]
    table.add_section()
    table.add_row("all", *totals, "")
    console.print(table)


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})"


def _reasons(name: str, outcomes: Mapping[str, Tallies]) -> list[str]:
    return [
        f"{kind}: {reason} ({number})" if len(outcomes) > 1 else f"{reason} ({number})"
        for kind, tallies in outcomes.items()
        for reason, number in tallies[name].failures.most_common(MAX_REASONS)
    ]
