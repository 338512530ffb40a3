"""`cutset explore`: find the minimal cuts of a running system's requests."""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings
from cutset.cli.options import DEFAULT_CONFIG, DEFAULT_STORE, ConfigOption, JsonOption, RequestOption, StoreOption
from cutset.cli.progress import show_progress
from cutset.cli.report import (
    AgainstOption,
    ExplainOption,
    ForCi,
    JunitOption,
    SarifOption,
    SourceOption,
    exit_code,
    for_ci,
    run_explain,
    show_campaign,
)
from cutset.cli.run import run_async
from cutset.config.explore import Config, Limits, SearchChoice, load_config, signing_key
from cutset.errors import UsageError
from cutset.experiment.laboratory import MeshLaboratory
from cutset.experiment.trial import Bench
from cutset.lineage.path import Level
from cutset.model.event import Event
from cutset.model.finding import Finding, findings_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.request import Request
from cutset.model.wording import did_you_mean, known_names, sentences
from cutset.report.campaign.summary import summarise
from cutset.report.campaign.terminal import describe_cut
from cutset.search.strategies import STRATEGIES, AcrossRequests, StrategyName
from cutset.search.strategy import Certificates
from cutset.store.codec import outcome_to_dict
from cutset.store.ledger import Ledger, open_ledger
from cutset.store.run_id import new_run_id
from cutset.traces.collector import collect
from cutset.workload.send import open_client

Section = TypeVar("Section", Limits, SearchChoice)
PointsOption = Annotated[Level | None, typer.Option("--points", help="How finely faults are told apart.")]
MaxSizeOption = Annotated[int | None, typer.Option("--max-size", "-k", min=1, max=9, help="Largest cut to look for.")]
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
        help="What a surviving experiment proves. *strict* assumes less about the services and takes more experiments.",
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
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Find every minimal cut, up to a size, of the requests in cutset.yaml, by experiments on the running target.

    The target's mesh must export its spans to the collector that this command opens (4317 and 4318 by default), and
    `CUTSET_KEY` must hold the key of that mesh. When a budget is spent, what is known so far is reported, and
    `--resume` with a larger one goes on.

    Examples:

    - `cutset explore`: all requests of ./cutset.yaml
    - `cutset explore -r "GET /" --max-size 2 --points replica`: one request, down to single replicas
    - `cutset explore --resume`: after an interruption: no completed experiment is repeated
    - `cutset explore --max-minutes 10`: as much as can be known in ten minutes
    - `cutset explore --strategy fastfi --max-experiments 200`: as in the paper, for comparison
    - `cutset explore --replay 1f3a90bc`: is it fixed?
    - `cutset explore --explain "cart/GetCart + ad/GetAds"`: what the latest campaign says of these, and why
    - `cutset explore --against baseline.yaml --junit junit.xml --sarif cutset.sarif`: in CI: only what is new or worse
    """
    chosen = {"--replay": bool(replay), "--resume": resume, "--explain": explain is not None}
    if len(both := [f"`{name}`" for name, given in chosen.items() if given]) > 1:
        raise UsageError(f"{' and '.join(both)} exclude each other")
    if (explain is not None or replay) and (against or junit_file or sarif_file):
        raise UsageError("`--against`, `--junit` and `--sarif` go with a whole campaign")
    if explain is not None:
        raise typer.Exit(run_explain(store, "", explain, request, as_json=as_json))
    config = adjust(
        load_config(config_file),
        request,
        points,
        limits={
            "max_size": max_size,
            "parallel": parallel,
            "experiments": max_experiments,
            "rounds": max_rounds,
            "minutes": max_minutes,
        },
        search={"strategy": strategy, "certificates": certificates, "across_requests": across_requests},
    )
    wanted = for_ci(against, junit_file, sarif_file, source, config_file)
    key = signing_key(os.environ)
    if replay:
        raise typer.Exit(run_replay(config, key, store, replay, as_json=as_json))
    options = {"-c": (config_file, DEFAULT_CONFIG), "--store": (store, DEFAULT_STORE)}
    command = replay_command("cutset explore", options)
    replicas = {service.name: len(service.replicas) for service in config.mesh.services} if config.mesh else {}
    campaign, events = run_campaign(config, key, store, replay=command, replicas=replicas, resume=resume)
    raise typer.Exit(conclude(campaign, events, wanted, as_json=as_json))


def adjust(
    config: Config,
    names: list[str] | None,
    points: Level | None,
    *,
    limits: Mapping[str, float | None],
    search: Mapping[str, str | None],
) -> Config:
    """What the command line says wins over the file; None stands for an option that was not given."""
    return replace(
        config,
        limits=_override(config.limits, limits),
        search=_override(config.search, search),
        requests=tuple(_request_named(name, config.requests) for name in names) if names else config.requests,
        points=points or config.points,
    )


def _override(section: Section, options: Mapping[str, Any]) -> Section:
    return replace(section, **{name: value for name, value in options.items() if value is not None})


def replay_command(command: str, options: Mapping[str, tuple[Path, Path]]) -> str:
    """With the options whose values are not the default ones."""
    given = [f" {name} {value}" for name, (value, default) in options.items() if value != default]
    return f"{command}{''.join(given)} --replay"


def run_campaign(
    config: Config,
    key: bytes,
    store: Path,
    *,
    replay: str,
    replicas: Mapping[str, int] | None = None,
    resume: bool = False,
) -> tuple[str, list[Event]]:
    """Runs to the end, with progress on standard error; returns the campaign's name and all its events.

    `replicas` says how many each service has, as far as known; the others are learnt from traces.
    """
    settings = CampaignSettings(
        max_size=config.limits.max_size,
        effect=config.effect,
        parallel=config.limits.parallel,
        max_experiments=config.limits.experiments,
        max_rounds=config.limits.rounds,
        max_minutes=config.limits.minutes,
        strategy=config.search.strategy,
        certificates=config.search.certificates,
        across_requests=config.search.across_requests,
        replicas=replicas or {},
        repeats=config.limits.failures_needed,
        flake_rate=config.limits.flake_rate,
        fingerprint=_fingerprint(config),
        replay=replay,
    )

    async def run(ledger: Ledger, campaign: str) -> None:
        async with open_laboratory(config, key) as laboratory:
            events = explore(campaign, config.requests, laboratory, ledger, settings)
            await show_progress(events, past=ledger.events(campaign))

    with open_ledger(store) as ledger:
        campaign = _unfinished(ledger, settings) if resume else new_run_id()
        try:
            run_async(run(ledger, campaign))
        except KeyboardInterrupt:
            done = len(summarise(ledger.events(campaign)).findings)
            Console(stderr=True).print(
                f"Stopped; {done} findings so far are kept. Go on with `cutset explore --resume`", highlight=False
            )
            raise
        return campaign, ledger.events(campaign)


def conclude(campaign: str, events: Sequence[Event], wanted: ForCi = ForCi(), *, as_json: bool) -> int:
    """Prints the report; returns the exit code."""
    return exit_code(summarise(events), show_campaign(campaign, events, wanted, as_json=as_json))


@asynccontextmanager
async def open_laboratory(config: Config, key: bytes) -> AsyncIterator[MeshLaboratory]:
    async with (
        collect(
            host=config.collector.host, http_port=config.collector.http_port, grpc_port=config.collector.grpc_port
        ) as collector,
        open_client(config.limits.parallel) as client,
    ):
        bench = Bench(
            target=config.target,
            key=key,
            collector=collector,
            client=client,
            level=config.points,
            trace_timeout=config.limits.trace_timeout,
            export_interval=config.collector.export_interval,
        )
        yield MeshLaboratory(bench, repeats=config.limits.failures_needed)


def run_replay(config: Config, key: bytes, store: Path, finding_id: str, *, as_json: bool) -> int:
    with open_ledger(store) as ledger:
        finding = _find(ledger, finding_id)
    request = _request_named(finding.request, config.requests)

    async def run() -> Outcome:
        async with open_laboratory(config, key) as laboratory:
            audited = await laboratory.audit(request)
            if not audited.healthy:
                return Outcome(finding.cut, Verdict.UNKNOWN, audited.reason)
            return await laboratory.run(request, finding.cut)

    outcome = run_async(run())
    words, code = {
        Verdict.FAILED: ("[red]x still fails[/]", 1),
        Verdict.UNKNOWN: ("[magenta]! could not tell[/]", 3),
        Verdict.DEGRADED: ("[green]+ no longer fails[/], but is degraded", 0),
        Verdict.SURVIVED: ("[green]+ no longer fails[/]", 0),
    }[outcome.verdict]
    if as_json:
        print(json.dumps({"id": finding.id, "request": finding.request} | outcome_to_dict(outcome), indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"{words}  {escape(finding.request)}  [bold]{escape(describe_cut(finding.cut))}[/]")
        console.print(f"  user sees  {escape(outcome.reason)}")
        console.print(f"  evidence   [dim]{' '.join(outcome.trace_ids)}[/]")
    return code


def _fingerprint(config: Config) -> str:
    """What outcomes depend on. Limits may change between an interruption and the resumption."""
    relevant: dict[str, Any] = {
        "requests": [repr(request) for request in config.requests],
        "effect": str(config.effect),
        "points": str(config.points),
        "environment": config.target.environment,
    }
    return json.dumps(relevant, sort_keys=True)


def _unfinished(ledger: Ledger, settings: CampaignSettings) -> str:
    unfinished = [record for record in ledger.campaigns() if not record.finished]
    if not unfinished:
        raise UsageError("There is no unfinished campaign to resume", hint="Start one with `cutset explore`")
    if unfinished[-1].settings != settings.fingerprint:
        raise UsageError(
            f"Campaign `{unfinished[-1].id}` ran with other requests, points or effect, so it cannot be resumed",
            hint="Undo the change of configuration, or start anew without `--resume`",
        )
    return unfinished[-1].id


def _find(ledger: Ledger, finding_id: str) -> Finding:
    known: dict[str, Finding] = {}
    for record in ledger.campaigns():
        known |= {finding.id: finding for finding in findings_of(ledger.events(record.id))}
    if finding_id not in known:
        raise UsageError(f"There is no finding `{finding_id}`", hint="`cutset report` lists them")
    return known[finding_id]


def _request_named(name: str, requests: Sequence[Request]) -> Request:
    for request in requests:
        if request.name == name:
            return request
    names = [request.name for request in requests]
    raise UsageError(f"There is no request `{name}`", hint=sentences(did_you_mean(name, names), known_names(names)))
