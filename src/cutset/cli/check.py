"""`cutset check`: verify what a campaign claims, from its ledger alone."""

import json
import os
from typing import Annotated

import typer

from cutset.app.check import check_campaign, exit_code
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import Console
from cutset.config.key import KEY_VARIABLE
from cutset.report.campaign.proof import to_document, to_lines


def check_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Prove again what a campaign claims, from its ledger alone, by code that shares nothing with the search.

    It verifies the chain of records; that each finding failed, repeatedly, with faults that fired, and the request
    worked right after; that nothing smaller inside it fails; and that each other set of calls, up to the size that is
    claimed, was decided by a run. It says what was assumed and what is not covered (docs/explanation/proof.md).
    It runs nothing, and writes nothing: a copy on a read-only disk will do.

    Where `CUTSET_KEY` is set, the record must have been sealed with it: then nobody without the key has changed it.

    Exits 0 if all that was asked for is proven, 3 if what is claimed holds but is less, 5 if a claim does not hold.

    Examples:

    - `cutset check`: the latest campaign
    - `cutset check 20261116-101500-7f --json | jq '.requests[] | {name, proven_up_to, open}'`: which size is proven
    - `cutset check --store ~/downloads/.cutset`: what somebody else has found
    """
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    key = os.environ.get(KEY_VARIABLE, "").encode(errors="surrogateescape")
    with errors.status("Checking …") as status:
        checked = check_campaign(store, campaign, key=key, tell=lambda name: status.update(f"Checking {name} …"))
    if as_json:
        print(json.dumps(to_document(checked), indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in to_lines(checked):
            console.print(line)
    raise typer.Exit(exit_code(checked))
