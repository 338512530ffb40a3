"""`cutset baseline`: accept what a campaign found, in a file that people review."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.report import exit_code, read_campaign
from cutset.cli.options import DEFAULT_STORE, StoreOption
from cutset.cli.output import Console
from cutset.config.baseline import load_baseline
from cutset.errors import UsageError
from cutset.report.campaign.baseline import Accepted, accept, compare, merge, to_yaml

DEFAULT_BASELINE = Path("baseline.yaml")


def baseline_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = DEFAULT_BASELINE,
    update: Annotated[
        bool,
        typer.Option(
            "--merge", help="Bring an existing file up to date: add what is new, drop what is proven to be gone."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write an existing file anew, with what this campaign found alone.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the findings of a campaign to a file, as accepted: from then on CI fails only on what is new or worse.

    Say in the file why each is acceptable, and have it reviewed like code. Reasons that it has already are kept.

    Examples:

    - `cutset baseline`: the latest campaign into ./baseline.yaml
    - `cutset baseline --merge`: after something was fixed, or something new is acceptable
    - `cutset explore --against baseline.yaml`: in CI
    """
    if update and force:
        raise UsageError("`--merge` and `--force` exclude each other")
    if output.exists() and not (update or force):
        raise UsageError(
            f"`{output}` exists",
            hint="`--merge` brings it up to date, `--force` writes it anew, `-o` names another file",
        )
    known = read_campaign(store, campaign)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    old = _known(output, console, force=force)
    accepted = merge(old, known.events) if update else accept(known.summary, old)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(to_yaml(accepted), encoding="utf-8")
    _tell(console, output, old, accepted)
    if exit_code(known.summary, compare(accepted, known.events)):
        console.print("[yellow]The campaign left something open, so there may be more to find: see `cutset report`[/]")


def _known(path: Path, console: Console, *, force: bool) -> list[Accepted]:
    """What the file holds already. Force is also for a file that is beyond repair, say after a bad merge."""
    if not path.exists():
        return []
    try:
        return load_baseline(path)
    except UsageError as error:
        if not force:
            raise
        console.print(f"[yellow]warning:[/] reasons that were given before are lost: {escape(error.message)}")
        return []


def _tell(console: Console, path: Path, old: Sequence[Accepted], accepted: Sequence[Accepted]) -> None:
    before, after = ({each.finding.id for each in entries} for entries in (old, accepted))
    unexplained = sum(not each.because.strip() for each in accepted)
    console.print(
        f"{escape(str(path))}: {len(accepted)} accepted, {len(after - before)} added, {len(before - after)} removed, "
        f"{unexplained} without a reason"
    )
