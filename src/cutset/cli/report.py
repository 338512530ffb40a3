"""`cutset report`: show a past campaign again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cutset.errors import UsageError
from cutset.model.outcome import Verdict
from cutset.report import explanation
from cutset.report.json import to_document
from cutset.report.summary import summarise
from cutset.report.terminal import to_lines
from cutset.store.ledger import Ledger, open_ledger

RequestOption = Annotated[
    list[str] | None, typer.Option("--request", "-r", help="Only this request class; may be given several times.")
]
ExplainOption = Annotated[
    str | None,
    typer.Option(
        "--explain",
        metavar="CUT",
        help="Which requests fail with this cut, which survive it, and which experiment proves it. Runs nothing.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
STORE_OPTION = typer.Option("--store", help="The folder of the ledger.")
DEFAULT_STORE = Path(".cutset")


def report_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    explain: ExplainOption = None,
    request: RequestOption = None,
    as_json: JsonOption = False,
    list_campaigns: Annotated[bool, typer.Option("--list", help="List the campaigns instead.")] = False,
    store: Annotated[Path, STORE_OPTION] = DEFAULT_STORE,
) -> None:
    """Show what a campaign found: the cuts, what the user would see, evidence, and the command that replays each.

    Examples:

    - `cutset report --json | jq '.requests[].findings[].cut'`: the cuts alone
    - `cutset report --explain "cart/GetCart + ad/GetAds" -r "GET /"`: does it survive these two, and how do we know?
    """
    if explain is not None:
        if list_campaigns:
            raise UsageError("`--explain` and `--list` exclude each other")
        raise typer.Exit(run_explain(store, campaign, explain, request, as_json=as_json))
    if request:
        raise UsageError("`--request` goes with `--explain`")
    with open_store(store) as ledger:
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


def run_explain(store: Path, campaign: str, cut: str, requests: list[str] | None, *, as_json: bool) -> int:
    """Prints what is known of the cut; returns the exit code."""
    with open_store(store) as ledger:
        campaign = find_campaign(ledger, campaign)
        found = explanation.answers(cut, ledger.events(campaign), requests or ())
    if as_json:
        print(json.dumps(explanation.to_document(found, campaign), indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in explanation.to_lines(found):
            console.print(line)
    verdicts = {answer.explanation.verdict for answer in found}
    if Verdict.FAILED in verdicts:
        return 1
    return 3 if Verdict.UNKNOWN in verdicts else 0


@contextmanager
def open_store(store: Path) -> Iterator[Ledger]:
    """A ledger to read from: what is not there is not created."""
    if not (store / "ledger.sqlite").exists():
        raise UsageError(f"There is no ledger in `{store}`", hint="Run `cutset explore` or `cutset demo` first")
    with open_ledger(store) as ledger:
        yield ledger


def find_campaign(ledger: Ledger, wanted: str) -> str:
    known = [record.id for record in ledger.campaigns()]
    if not known:
        raise UsageError("The ledger holds no campaign", hint="Run `cutset explore` or `cutset demo` first")
    if wanted and wanted not in known:
        raise UsageError(f"There is no campaign `{wanted}`", hint=f"Known: {', '.join(known[-5:])}")
    return wanted or known[-1]
