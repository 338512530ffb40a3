"""`cutset report`: show a past campaign again."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cutset.errors import UsageError
from cutset.report.json import to_document
from cutset.report.summary import summarise
from cutset.report.terminal import to_lines
from cutset.store.ledger import Ledger, open_ledger

STORE_OPTION = typer.Option("--store", help="The folder of the ledger.")
DEFAULT_STORE = Path(".cutset")


def report_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    list_campaigns: Annotated[bool, typer.Option("--list", help="List the campaigns instead.")] = False,
    store: Annotated[Path, STORE_OPTION] = DEFAULT_STORE,
) -> None:
    """Show what a campaign found: the cuts, what the user would see, evidence, and the command that replays each.

    Example: `cutset report --json | jq '.requests[].findings[].cut'`
    """
    if not (store / "ledger.sqlite").exists():
        raise UsageError(f"There is no ledger in `{store}`", hint="Run `cutset explore` or `cutset demo` first")
    with open_ledger(store) as ledger:
        if list_campaigns:
            for record in ledger.campaigns():
                print(f"{record.id}  {'finished' if record.finished else 'unfinished'}")
            return
        campaign = find_campaign(ledger, campaign)
        summary = summarise(ledger.events(campaign))
    if as_json:
        print(json.dumps(to_document(summary, campaign), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in to_lines(summary):
        console.print(line)


def find_campaign(ledger: Ledger, wanted: str) -> str:
    known = [record.id for record in ledger.campaigns()]
    if not known:
        raise UsageError("The ledger holds no campaign", hint="Run `cutset explore` or `cutset demo` first")
    if wanted and wanted not in known:
        raise UsageError(f"There is no campaign `{wanted}`", hint=f"Known: {', '.join(known[-5:])}")
    return wanted or known[-1]
