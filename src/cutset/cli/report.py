"""`cutset report`: show a past campaign again."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.report import (
    ForCi,
    campaign_document,
    compare_with_baseline,
    exit_code,
    list_campaigns,
    read_campaign,
    replay_of,
    write_for_ci,
)
from cutset.app.report import (
    explain as explain_cut,
)
from cutset.cli.options import DEFAULT_STORE, JsonOption, RequestOption, StoreOption
from cutset.cli.output import Console
from cutset.config.baseline import load_baseline
from cutset.errors import UsageError
from cutset.model.campaign import Campaign
from cutset.model.outcome import Verdict
from cutset.model.proof import CheckedCampaign
from cutset.model.wording import visible
from cutset.report.campaign import baseline, explanation, proof
from cutset.report.campaign.baseline import Comparison
from cutset.report.campaign.sarif import Places
from cutset.report.campaign.terminal import to_lines
from cutset.report.replaying import from_here

ExplainOption = Annotated[
    str | None,
    typer.Option(
        "--explain",
        metavar="CUT",
        help="Which requests fail with this cut, which survive it, and which experiment proves it. Runs nothing.",
    ),
]
AgainstOption = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="BASELINE",
        help="Accepted findings, as `cutset baseline` writes them. Exits 1 only on what is new or worse.",
    ),
]
JunitOption = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")]
SarifOption = Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Also write SARIF 2.1.0.")]
SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="SERVICE=FILE",
        help="With `--sarif`: the file, from the root of the repository, in which a service's findings are shown. "
        "Else that is the configuration.",
    ),
]


def report_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    explain: ExplainOption = None,
    request: RequestOption = None,
    as_json: JsonOption = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the campaigns instead.")] = False,
    against: AgainstOption = None,
    junit_file: JunitOption = None,
    sarif_file: SarifOption = None,
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Show what a campaign found: the cuts, what the user would see, evidence, and the command that replays each.

    Exits 0 whatever was found, unless `--against` asks for a judgement.

    Examples:

    - `cutset report --against baseline.yaml --junit junit.xml --sarif cutset.sarif`: what CI wants to know
    - `cutset report --json | jq '.requests[].findings[].cut'`: the cuts alone
    - `cutset report --explain "cart/GetCart + ad/GetAds" -r "GET /"`: does it survive these two, and how do we know?
    """
    if (explain is not None or list_all) and (against or junit_file or sarif_file):
        raise UsageError("`--against`, `--junit` and `--sarif` go with a whole report")
    if explain is not None:
        if list_all:
            raise UsageError("`--explain` and `--list` exclude each other")
        raise typer.Exit(show_explanation(store, campaign, explain, request, as_json=as_json))
    if request:
        raise UsageError("`--request` goes with `--explain`")
    wanted = for_ci(against, junit_file, sarif_file, source)
    if list_all:
        for run in list_campaigns(store):
            serves = f"  for {run.started.part_of}" if run.started.part_of else ""
            print(visible(f"{run.id}  {'finished' if run.finished else 'unfinished'}{serves}"))
        return
    known = read_campaign(store, campaign)
    comparison = show_campaign(known, store, wanted, as_json=as_json)
    if comparison is not None:
        raise typer.Exit(exit_code(known.summary, comparison))


def for_ci(
    against: Path | None,
    junit_file: Path | None,
    sarif_file: Path | None,
    sources: Sequence[str] | None,
    config_file: Path = Path("cutset.yaml"),
) -> ForCi:
    """Reads the baseline now: a campaign is too long to learn at its end that the file is wrong."""
    if sources and sarif_file is None:
        raise UsageError("`--source` goes with `--sarif`")
    pairs = [source.partition("=") for source in sources or ()]
    for service, _, file in pairs:
        if not service or not file:
            raise UsageError(
                f"`--source {service}`: expected `SERVICE=FILE`", hint="As in `cart=services/cart/main.py`"
            )
    files = tuple((service, from_here(Path(file)).as_posix()) for service, _, file in pairs)
    places = Places(from_here(config_file).as_posix(), files)
    return ForCi(against, load_baseline(against) if against else (), junit_file, sarif_file, places)


def show_campaign(
    campaign: Campaign,
    store: Path,
    wanted: ForCi = ForCi(),
    *,
    as_json: bool,
    checked: CheckedCampaign | None = None,
) -> Comparison | None:
    """Prints the report and writes the files; returns how it compares with the baseline, if there is one."""
    comparison = compare_with_baseline(campaign, wanted)
    write_for_ci(campaign, store, wanted, comparison)
    if as_json:
        document = campaign_document(campaign, store, wanted, comparison)
        print(json.dumps(document | ({"check": proof.to_document(checked)} if checked else {}), indent=2))
        return comparison
    console = Console(highlight=False, soft_wrap=True)
    for line in to_lines(campaign.summary, replay_of(campaign, store)):
        console.print(line)
    if comparison is not None:
        console.print()
        for line in baseline.to_lines(comparison, str(wanted.against)):
            console.print(line)
    if checked is not None:
        console.print(proof.verdict_line(checked))
    return comparison


def show_explanation(store: Path, campaign: str, cut: str, requests: list[str] | None, *, as_json: bool) -> int:
    """Prints what is known of the cut; returns the exit code."""
    campaign, answers = explain_cut(store, campaign, cut, requests or ())
    if as_json:
        print(json.dumps(explanation.to_document(answers, campaign), indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in explanation.to_lines(answers):
            console.print(line)
    verdicts = {answer.explanation.verdict for answer in answers}
    if Verdict.FAILED in verdicts:
        return 1
    return 3 if Verdict.UNKNOWN in verdicts else 0
