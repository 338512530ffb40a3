"""`cutset replay`: send a recording's requests again, and say how many came back as recorded."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.traffic import read_flows, replay_flows
from cutset.cli.options import JsonOption
from cutset.cli.output import notes, print_document, print_lines
from cutset.errors import InputError, UsageError
from cutset.report.traffic.recording import loss_lines
from cutset.report.traffic.replay import to_document, to_lines
from cutset.workload.templates.rules import RULES_FILE


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
    recorded, templates = read_flows(recording, variables)
    if not templates:
        raise InputError(
            f"The recording `{recording}` has no request that can be sent again",
            hint="`cutset record show` says what is in it, and why it cannot be sent",
        )
    sending = replay_flows(
        templates, url, naive=naive or both, templated=both or not naive, parallel=parallel, timeout=timeout
    )
    outcomes = asyncio.run(sending)
    if as_json:
        print_document(to_document(outcomes))
    else:
        print_lines(to_lines(outcomes))
    for line in loss_lines(recorded):
        notes().print(line)
    last = list(outcomes.values())[-1]
    raise typer.Exit(0 if all(tally.succeeded == tally.tried for tally in last.values()) else 1)
