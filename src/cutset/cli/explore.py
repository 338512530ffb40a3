"""`cutset explore`: find the minimal cuts of a running system's requests."""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.check import check_campaign, require
from cutset.app.explore import Retrial, explore, replay_finding
from cutset.app.report import exit_code
from cutset.app.served_run import serve_run
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, RequestOption, StoreOption
from cutset.cli.output import Console
from cutset.cli.progress import show_progress
from cutset.cli.report import (
    AgainstOption,
    ExplainOption,
    HtmlOption,
    JunitOption,
    MarkdownOption,
    SarifOption,
    SourceOption,
    for_ci,
    show_campaign,
    show_explanation,
)
from cutset.cli.run import run_async
from cutset.config.explore import Config, adjusted, load_config, plan_key
from cutset.errors import UsageError
from cutset.lineage.path import Level
from cutset.model.campaign import Campaign, campaign_of
from cutset.model.event import CampaignEvent
from cutset.model.outcome import Verdict
from cutset.report.campaign.terminal import describe_cut
from cutset.report.replaying import resume_command
from cutset.search.strategies import STRATEGIES, AcrossRequests, StrategyName
from cutset.search.strategy import Certificates
from cutset.store.codec import to_jsonable

PointsOption = Annotated[Level | None, typer.Option("--points", help="How finely faults are told apart.")]
EffectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--effect",
        "-e",
        metavar="EFFECT",
        help="What happens to a call, instead of `effects` in the configuration; may be given several times: "
        "`abort(503)`, `grpc(14)`, `delay(2s)`, `timeout`, `connection-refused`, `connection-reset`, `empty`, "
        "`truncated`, `garbled`; `,attempts=1` for the first attempt only, `,call=2` for the second call only.",
    ),
]
MaxSizeOption = Annotated[
    int | None,
    typer.Option(
        "--max-size",
        "-k",
        min=1,
        max=9,
        help="Largest cut to look for; by default 3, or 2 where several effects are tried.",
    ),
]
ParallelOption = Annotated[int | None, typer.Option("--parallel", "-p", min=1, max=512, help="Experiments in flight.")]
MaxExperimentsOption = Annotated[
    int | None, typer.Option("--max-experiments", min=0, help="Stop after so many experiments; 0: no limit.")
]
MaxRoundsOption = Annotated[
    int | None, typer.Option("--max-rounds", min=0, help="Stop each request class after so many rounds; 0: no limit.")
]
MaxMinutesOption = Annotated[
    float | None, typer.Option("--max-minutes", min=0, help="Start no experiment after so many minutes; 0: no limit.")
]
StrategyOption = Annotated[
    StrategyName | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="How to search. " + " ".join(f"*{name}*: {each.description}." for name, each in STRATEGIES.items()),
    ),
]
CertificatesOption = Annotated[
    Certificates | None,
    typer.Option(
        "--certificates",
        help="What a surviving experiment proves. *exact* assumes only that behaviour depends on which faults fire; "
        "*independent* also that failures which do together what they do alone do not upset each other unseen, "
        "which takes fewer experiments; *classes* besides that effects of a call which look alike by themselves do so "
        "along with others, which takes fewer still where several effects are tried.",
    ),
]
AcrossRequestsOption = Annotated[
    AcrossRequests | None,
    typer.Option(
        "--across-requests",
        help="What failed another request class: *verify* tries it early, *trust* takes it to fail this one too.",
    ),
]


def explore_command(
    config_file: ConfigOption = DEFAULT_CONFIG,
    request: RequestOption = None,
    points: PointsOption = None,
    effect: EffectOption = None,
    max_size: MaxSizeOption = None,
    parallel: ParallelOption = None,
    strategy: StrategyOption = None,
    certificates: CertificatesOption = None,
    across_requests: AcrossRequestsOption = None,
    max_experiments: MaxExperimentsOption = None,
    max_rounds: MaxRoundsOption = None,
    max_minutes: MaxMinutesOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the latest unfinished campaign.")] = False,
    replay: Annotated[str, typer.Option("--replay", help="Run one finding again.", metavar="ID")] = "",
    explain: ExplainOption = None,
    against: AgainstOption = None,
    junit_file: JunitOption = None,
    sarif_file: SarifOption = None,
    source: SourceOption = None,
    html: HtmlOption = None,
    markdown: MarkdownOption = None,
    in_cluster: Annotated[
        bool, typer.Option("--in-cluster", help="Run as a Job in the cluster, and fetch what it finds.")
    ] = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="With `--in-cluster`: to the Job that is there already.")
    ] = False,
    image: Annotated[
        str, typer.Option("--image", help="With `--in-cluster`: by default that of the collector there.")
    ] = "",
    print_only: Annotated[
        bool,
        typer.Option("--print", help="With `--in-cluster`: the Job as a manifest, but for the key."),
    ] = False,
    serve_port: Annotated[int, typer.Option("--serve-port", hidden=True, help="Where the Job is fetched.")] = 0,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Find every minimal cut, up to a size, of the requests in cutset.yaml, by experiments on the running target.

    The target's mesh must export its spans to the collector that this command opens (4317 and 4318 by default), and
    `CUTSET_KEY` must hold the key of that mesh. In Istio (`istio:` in cutset.yaml) all of that is where
    `cutset install` put it, and is reached with the kubeconfig. When a budget is spent, what is known is reported, and
    `--resume` with a larger one goes on. At the end all that is claimed is proven again from the ledger alone, as
    `cutset check` does; should a claim not hold, the exit code is 5.

    Examples:

    - `cutset explore`: all requests of ./cutset.yaml
    - `cutset explore -r "GET /" --max-size 2 --points replica`: one request, down to single replicas
    - `cutset explore -e "abort(503)" -e timeout -e empty`: also slow and unreadable answers, and mixtures of these
    - `cutset explore --resume`: after an interruption: no completed experiment is repeated
    - `cutset explore --max-minutes 10`: as much as can be known in ten minutes
    - `cutset explore --strategy fastfi --max-experiments 200`: as in the paper, for comparison
    - `cutset explore --in-cluster`: as a Job in the cluster, which goes on if you leave; `--attach` fetches it later
    - `cutset explore --replay 1f3a90bc`: is it fixed?
    - `cutset explore --explain "cart/GetCart:timeout + ad/GetAds"`: what the latest campaign says of these, and why
    - `cutset explore --against baseline.yaml --junit junit.xml --sarif cutset.sarif`: in CI: only what is new or worse
    """
    chosen = {
        "--replay": bool(replay),
        "--resume": resume,
        "--explain": explain is not None,
        "--in-cluster": in_cluster,
    }
    if len(both := [f"`{name}`" for name, given in chosen.items() if given]) > 1:
        raise UsageError(f"{' and '.join(both)} exclude each other")
    if (attach or image or print_only) and not in_cluster:
        raise UsageError("`--attach`, `--image` and `--print` go with `--in-cluster`")
    if (explain is not None or replay) and any((against, junit_file, sarif_file, html, markdown)):
        raise UsageError("`--against`, `--junit`, `--sarif`, `--html` and `--markdown` go with a whole campaign")
    if explain is not None:
        raise typer.Exit(show_explanation(store, "", explain, request, as_json=as_json))
    config = adjusted(
        load_config(config_file),
        requests=request or (),
        points=points,
        effects=effect or (),
        limits={
            "max_size": max_size,
            "parallel": parallel,
            "experiments": max_experiments,
            "rounds": max_rounds,
            "minutes": max_minutes,
        },
        search={"strategy": strategy, "certificates": certificates, "across_requests": across_requests},
    )
    wanted = for_ci(against, junit_file, sarif_file, source, config_file, html=html, markdown=markdown)
    arguments = _as_arguments(
        {
            "--request": request,
            "--points": points,
            "--effect": effect,
            "--max-size": max_size,
            "--parallel": parallel,
            "--strategy": strategy,
            "--certificates": certificates,
            "--across-requests": across_requests,
            "--max-experiments": max_experiments,
            "--max-rounds": max_rounds,
            "--max-minutes": max_minutes,
        }
    )
    if print_only:
        print(_printed_job(config, image, arguments), end="")
        return
    key = plan_key(config, os.environ)
    if replay:
        raise typer.Exit(show_retrial(run_async(replay_finding(config, replay, key=key, store=store)), as_json=as_json))
    events = explore(config, key=key, store=store, resume=resume, on_note=_show_note)
    if in_cluster:
        events = _in_cluster(config, image, arguments, key, store, attach=attach)
    elif serve_port:
        events = serve_run(events, store, serve_port)
    campaign = run_campaign(events, store)
    checked = check_campaign(store, campaign.id, key=key)
    comparison = show_campaign(campaign, store, wanted, as_json=as_json, checked=checked)
    require(checked)
    raise typer.Exit(exit_code(campaign.summary, comparison))


def run_campaign(events: AsyncGenerator[CampaignEvent, None], store: Path, *, resumable: bool = True) -> Campaign:
    """To its end, with progress on standard error."""
    recorded: list[CampaignEvent] = []
    try:
        run_async(show_progress(events, recorded))
    except KeyboardInterrupt:
        if recorded:
            campaign = campaign_of(recorded)
            kept = f"Stopped; findings so far are kept: {len(campaign.findings)}. "
            go_on = f"Go on with `{resume_command(campaign.started, store)}`" if resumable else "See `cutset report`"
            Console(stderr=True, highlight=False, soft_wrap=True).print(kept + go_on)
        raise
    return campaign_of(recorded)


def _in_cluster(
    config: Config, image: str, arguments: tuple[str, ...], key: bytes, store: Path, *, attach: bool
) -> AsyncGenerator[CampaignEvent, None]:
    from cutset.app.in_cluster import JobOptions, explore_in_cluster

    options = JobOptions(image, arguments=arguments, attach=attach)
    return explore_in_cluster(config, options, key=key, store=store, on_note=_show_note)


def _printed_job(config: Config, image: str, arguments: tuple[str, ...]) -> str:
    from cutset.app.in_cluster import JobOptions, printed_job

    return printed_job(config, JobOptions(image, arguments=arguments))


def _as_arguments(said: Mapping[str, object]) -> tuple[str, ...]:
    """Of the same command elsewhere; None stands for what was not said."""
    return tuple(
        text
        for option, value in said.items()
        if value is not None
        for each in (value if isinstance(value, list) else [value])
        for text in (option, str(each))
    )


def _show_note(note: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[dim]note: {escape(note)}[/]")


def show_retrial(retrial: Retrial, *, as_json: bool) -> int:
    """Prints what came of it; returns the exit code."""
    finding, outcome = retrial.finding, retrial.outcome
    failed = finding.outcome.verdict is Verdict.FAILED
    words, code = {
        Verdict.FAILED: ("[red]x still fails[/]" if failed else "[red]x fails[/], and was only degraded", 1),
        Verdict.UNKNOWN: ("[magenta]! could not tell[/]", 3),
        Verdict.DEGRADED: (
            "[green]+ no longer fails[/], but is degraded" if failed else "[yellow]~ is still degraded[/]",
            0,
        ),
        Verdict.SURVIVED: (f"[green]+ {'no longer fails' if failed else 'is answered in full'}[/]", 0),
    }[outcome.verdict]
    if as_json:
        print(json.dumps({"id": finding.id, "request": finding.request} | to_jsonable(outcome), indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"{words}  {escape(finding.request)}  [bold]{escape(describe_cut(finding.cut))}[/]")
        console.print(f"  user sees  {escape(outcome.reason)}")
        console.print(f"  evidence   [dim]{' '.join(outcome.trace_ids)}[/]")
    return code
