"""`cutset report`: show a past campaign, impact, session of drills or reproduction again."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.impact_results import (
    is_impact,
    list_impacts,
    read_recorded_impact,
    repeat_of,
    write_impact_markdown,
    write_impact_page,
)
from cutset.app.report import (
    ForCi,
    campaign_document,
    compare_with_baseline,
    exit_code,
    list_campaigns,
    loop_of,
    read_campaign,
    replay_of,
    write_for_ci,
)
from cutset.app.report import (
    explain as explain_cut,
)
from cutset.cli.options import DEFAULT_STORE, JsonOption, RequestOption, StoreOption
from cutset.cli.output import Console, notes, print_document, print_lines
from cutset.cli.report_runs import SHOWN, show_run
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
from cutset.report.impact.comparison import compare, comparison_document, comparison_lines
from cutset.report.impact.json import history_document, impact_document
from cutset.report.impact.terminal import history_lines, impact_lines
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
        help="Accepted findings, as `cutset baseline` writes them; of an impact, another run of the same fault. "
        "Exits 1 only on what is new or worse.",
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

HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page that needs nothing else: to mail, keep or print."),
]
MarkdownOption = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Also write a comment for a pull request.")
]
TracesOption = Annotated[
    str,
    typer.Option(
        "--traces",
        metavar="ADDRESS",
        help="Of an impact: where failed traces are looked at, `jaeger+http://host:16686`, or any address with "
        "`{trace}` in it.",
    ),
]


def report_command(
    campaign: Annotated[
        str, typer.Argument(metavar="RUN", help="A run of any kind; by default the latest campaign.")
    ] = "",
    explain: ExplainOption = None,
    request: RequestOption = None,
    as_json: JsonOption = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the campaigns instead, or the impacts.")] = False,
    against: AgainstOption = None,
    junit_file: JunitOption = None,
    sarif_file: SarifOption = None,
    source: SourceOption = None,
    impact: Annotated[bool, typer.Option("--impact", help="An impact instead of a campaign; the latest.")] = False,
    html: HtmlOption = None,
    markdown: MarkdownOption = None,
    traces: TracesOption = "",
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Show what a campaign found: the cuts, what the user would see, evidence, and the command that replays each.

    With `--impact`, or the run of one: what a fault at a rate did to each API upstream. A run of drills or of a
    reproduction is shown as it was when it ended.

    Exits 0 whatever was found, unless `--against` asks for a judgement.

    Examples:

    - `cutset report --against baseline.yaml --junit junit.xml --sarif cutset.sarif`: what CI wants to know
    - `cutset report --html report.html --markdown comment.md`: for people elsewhere, and for a pull request
    - `cutset report --json | jq '.requests[].findings[].cut'`: the cuts alone
    - `cutset report --explain "cart/GetCart + ad/GetAds" -r "GET /"`: does it survive these two, and how do we know?
    - `cutset report --impact --html impact.html`: what the latest impact did, with timelines
    - `cutset report 20261117-041612-3fb2 --markdown drills.md`: a session of drills, for a comment
    - `cutset report --impact --list`: all impacts, with what was done and what came of it
    """
    of_campaigns = bool(explain is not None or request or junit_file or sarif_file or source)
    loop = loop_of(store, campaign) if campaign and not impact else None
    if loop in SHOWN and not (of_campaigns or list_all or against or traces):
        raise typer.Exit(show_run(store, campaign, loop, html=html, markdown=markdown, as_json=as_json))
    if _is_of_impact(store, campaign, impact, of_campaigns=of_campaigns, of_impacts=bool(traces)):
        raise typer.Exit(
            show_impacts(store, as_json=as_json)
            if list_all
            else show_impact(store, campaign, str(against or ""), html, traces, markdown, as_json=as_json)
        )
    if (explain is not None or list_all) and any((against, junit_file, sarif_file, html, markdown)):
        raise UsageError("`--against`, `--junit`, `--sarif`, `--html` and `--markdown` go with a whole report")
    if explain is not None:
        if list_all:
            raise UsageError("`--explain` and `--list` exclude each other")
        raise typer.Exit(show_explanation(store, campaign, explain, request, as_json=as_json))
    if request:
        raise UsageError("`--request` goes with `--explain`")
    wanted = for_ci(against, junit_file, sarif_file, source, html=html, markdown=markdown)
    if list_all:
        for run in list_campaigns(store):
            serves = f"  for {run.started.part_of}" if run.started.part_of else ""
            print(visible(f"{run.id}  {'finished' if run.finished else 'unfinished'}{serves}"))
        return
    known = read_campaign(store, campaign)
    comparison = show_campaign(known, store, wanted, as_json=as_json)
    if comparison is not None:
        raise typer.Exit(exit_code(known.summary, comparison))


def _is_of_impact(store: Path, run: str, asked: bool, *, of_campaigns: bool, of_impacts: bool) -> bool:
    """A run tells by itself what it is. Options that go with the other kind are refused."""
    found = asked or bool(run and is_impact(store, run))
    if found and of_campaigns:
        raise UsageError("`--explain`, `--request`, `--junit`, `--sarif` and `--source` are for campaigns")
    if of_impacts and not found:
        raise UsageError("`--traces` is for impacts", hint="Add `--impact`, or name an impact's run")
    return found


def show_impacts(store: Path, *, as_json: bool) -> int:
    impacts = list_impacts(store)
    if as_json:
        print_document(history_document(impacts))
    else:
        print_lines(history_lines(impacts))
    return 0


def show_impact(
    store: Path, run: str, against: str, html: Path | None, traces: str, markdown: Path | None, *, as_json: bool
) -> int:
    """Prints what it did, and how that compares; returns the exit code."""
    recorded = read_recorded_impact(store, run)
    impact, repeat = recorded.impact, repeat_of(recorded, store)
    comparison = compare(read_recorded_impact(store, against).impact, impact) if against else None
    if html:
        write_impact_page(html, recorded, links=traces, repeat=repeat)
        notes().print(f"[dim]page: {escape(str(html))}[/]")
    if markdown:
        write_impact_markdown(markdown, recorded, repeat=repeat)
    if as_json:
        document = impact_document(impact, traces, repeat)
        print_document(document | ({"against": comparison_document(comparison)} if comparison else {}))
    else:
        print_lines(impact_lines(impact, repeat))
        print_lines(["", *comparison_lines(comparison)] if comparison else [])
    return comparison.exit_code if comparison else 0


def for_ci(
    against: Path | None,
    junit_file: Path | None,
    sarif_file: Path | None,
    sources: Sequence[str] | None,
    config_file: Path = Path("cutset.yaml"),
    *,
    html: Path | None = None,
    markdown: Path | None = None,
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
    accepted = load_baseline(against) if against else ()
    return ForCi(against, accepted, junit_file, sarif_file, places, html, markdown)


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
