"""`cutset report`: show a past campaign again."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cutset.cli.options import DEFAULT_STORE, JsonOption, RequestOption, StoreOption
from cutset.config.baseline import load_baseline
from cutset.errors import UsageError
from cutset.model.event import Event
from cutset.model.outcome import Verdict
from cutset.model.wording import known_names
from cutset.report.campaign import baseline, explanation, junit, sarif
from cutset.report.campaign.baseline import Accepted, Comparison
from cutset.report.campaign.json import to_document
from cutset.report.campaign.sarif import IN_CONFIGURATION, Places
from cutset.report.campaign.summary import Summary, summarise
from cutset.report.campaign.terminal import to_lines
from cutset.store.ledger import Ledger, open_ledger

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


@dataclass(frozen=True, slots=True)
class ForCi:
    """What a campaign is compared with, and the files that it leaves besides the report."""

    against: Path | None = None
    accepted: Sequence[Accepted] = ()
    junit_file: Path | None = None
    sarif_file: Path | None = None
    places: Places = IN_CONFIGURATION


def report_command(
    campaign: Annotated[str, typer.Argument(help="The campaign; by default the latest.")] = "",
    explain: ExplainOption = None,
    request: RequestOption = None,
    as_json: JsonOption = False,
    list_campaigns: Annotated[bool, typer.Option("--list", help="List the campaigns instead.")] = False,
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
    if (explain is not None or list_campaigns) and (against or junit_file or sarif_file):
        raise UsageError("`--against`, `--junit` and `--sarif` go with a whole report")
    if explain is not None:
        if list_campaigns:
            raise UsageError("`--explain` and `--list` exclude each other")
        raise typer.Exit(run_explain(store, campaign, explain, request, as_json=as_json))
    if request:
        raise UsageError("`--request` goes with `--explain`")
    wanted = for_ci(against, junit_file, sarif_file, source)
    with open_store(store) as ledger:
        if list_campaigns:
            for record in ledger.campaigns():
                print(f"{record.id}  {'finished' if record.finished else 'unfinished'}")
            return
        campaign = find_campaign(ledger, campaign)
        events = ledger.events(campaign)
    comparison = show_campaign(campaign, events, wanted, as_json=as_json)
    if comparison is not None:
        raise typer.Exit(exit_code(summarise(events), comparison))


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
    places = Places(_from_here(config_file), tuple((service, _from_here(Path(file))) for service, _, file in pairs))
    return ForCi(against, load_baseline(against) if against else (), junit_file, sarif_file, places)


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def show_campaign(campaign: str, events: Sequence[Event], wanted: ForCi, *, as_json: bool) -> Comparison | None:
    """Prints the report and writes the files; returns how it compares with the baseline, if there is one."""
    summary = summarise(events)
    comparison = baseline.compare(wanted.accepted, events) if wanted.against else None
    if wanted.junit_file:
        _write(wanted.junit_file, junit.to_xml(summary, comparison))
    if wanted.sarif_file:
        _write(
            wanted.sarif_file,
            json.dumps(sarif.to_document(summary, campaign, comparison, wanted.places), indent=2) + "\n",
        )
    if as_json:
        document = to_document(summary, campaign)
        if comparison is not None:
            document["against"] = baseline.to_document(comparison, str(wanted.against))
        print(json.dumps(document, indent=2))
        return comparison
    console = Console(highlight=False, soft_wrap=True)
    for line in to_lines(summary):
        console.print(line)
    if comparison is not None:
        console.print()
        for line in baseline.to_lines(comparison, str(wanted.against)):
            console.print(line)
    return comparison


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def exit_code(summary: Summary, comparison: Comparison | None = None) -> int:
    """A call that no plan reaches was not tested, so that nobody can say that the request survives its failure."""
    if comparison.failures if comparison is not None else summary.findings:
        return 1
    return 0 if summary.complete and not any(request.not_reached for request in summary.requests) else 3


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
        raise UsageError(f"There is no campaign `{wanted}`", hint=known_names(known[-5:]))
    return wanted or known[-1]
