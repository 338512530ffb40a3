"""`cutset demo`: the whole story on the embedded shop."""

import secrets
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.check import check_campaign, require
from cutset.app.demo import (
    REPLICA_REQUEST,
    AnswerCheck,
    Boutique,
    answer_key,
    check_answers,
    free_ports,
    run_boutique,
    with_more_effects,
)
from cutset.app.explore import explore, replay_finding
from cutset.cli.explore import (
    AcrossRequestsOption,
    CertificatesOption,
    EffectOption,
    MaxExperimentsOption,
    MaxMinutesOption,
    MaxRoundsOption,
    MaxSizeOption,
    ParallelOption,
    PointsOption,
    StrategyOption,
    run_campaign,
    show_retrial,
)
from cutset.cli.options import DEFAULT_STORE, JsonOption, RequestOption, StoreOption
from cutset.cli.output import Console, notes
from cutset.cli.report import show_campaign
from cutset.cli.run import run_async
from cutset.cli.ui import dashboard_beside, until_stopped
from cutset.config.explore import adjusted, load_config
from cutset.config.key import KEY_VARIABLE
from cutset.errors import UsageError
from cutset.lineage.path import Level
from cutset.model.summary import CampaignSummary
from cutset_demo.ports import HOST


def demo_command(
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
    replicas: Annotated[int, typer.Option("--replicas", min=1, max=5, help="Replicas of each service.")] = 2,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the shop running, with a page to break it.")] = False,
    ui: Annotated[
        bool, typer.Option("--ui", help="With the dashboard: to watch it, and to experiment on the shop afterwards.")
    ] = False,
    replay: Annotated[str, typer.Option("--replay", help="Run one finding again.", metavar="ID")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Start a real shop behind a real Envoy mesh, find every minimal cut, and compare with the shop's answer key.

    Twelve services on Redis, PostgreSQL and NATS, all from Python wheels, all on this machine. Exits 0 when exactly the
    known weaknesses were found.

    Examples:

    - `cutset demo`: six request classes, cuts of up to three calls answered 503; then two of them with slow and
      unreadable answers, lost first attempts and dead data stores, in cuts of up to two
    - `cutset demo -e timeout -e garbled -r "GET /cart"`: other effects
    - `cutset demo --points replica`: one request, down to single replicas
    - `cutset demo --strategy fastfi`: what the published algorithm finds of it
    - `cutset demo --ui`: in the dashboard, live; then start experiments on the shop from there
    - `cutset demo --keep`: then click through the shop and break it yourself
    """
    if ui and replay:
        raise UsageError("`--ui` and `--replay` exclude each other")
    if points is Level.REPLICA and not request:
        request = [REPLICA_REQUEST]
    key = secrets.token_hex(32).encode()
    with ExitStack() as stack:
        with Console(stderr=True).status("Starting 12 services, Redis, PostgreSQL, NATS and Envoy …"):
            agents = points is not Level.REPLICA  # calls of data stores know no replicas
            boutique = stack.enter_context(run_boutique(replicas, key, store, agents=agents))
        config = adjusted(
            load_config(boutique.config_file),
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
        config = replace(config, mesh=boutique.mesh.spec)
        if replay:
            retrial = run_async(replay_finding(config, replay, key=key, store=store))
            raise typer.Exit(show_retrial(retrial, as_json=as_json))
        # The campaigns run as without it, in this thread and terminal; the dashboard reads what they record.
        dashboard = stack.enter_context(dashboard_beside(store)) if ui else None
        if dashboard:
            dashboard.not_yet = "The demo explores its shop: as soon as that has ended, more can be started from here."
        asked = (request, points, effect, max_size, strategy, certificates, across_requests, max_experiments)
        whole_story = not (any(asked) or max_rounds or max_minutes or as_json)
        code = 0
        for each in (config, with_more_effects(config)) if whole_story else (config,):
            events = explore(each, key=key, store=store, command="demo")
            campaign = run_campaign(events, store, resumable=False)
            checked = check_campaign(store, campaign.id, key=key)
            show_campaign(campaign, store, as_json=as_json, checked=checked)
            require(checked)
            summary = campaign.summary
            expected = answer_key(summary, each.points, replicas, agents=agents)
            code = show_check(summary, check_answers(summary, expected)) or code
        if dashboard:
            dashboard.key, dashboard.config_file, dashboard.not_yet = key, boutique.config_file, ""
        if keep:
            _keep_open(boutique, summary, key)
        elif dashboard:
            notes().print(f"The shop   {boutique.mesh.edge_url}\nExperiment on it in the dashboard; Ctrl-C stops both")
            run_async(until_stopped())
    raise typer.Exit(code)


def show_check(summary: CampaignSummary, check: AnswerCheck) -> int:
    """Says on standard error how the findings and the answer key differ; returns the exit code."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for difference in check.wrong:
        console.print(f"[red]{escape(difference)}[/]")
    for gap in check.unfinished:
        console.print(f"[magenta]{escape(gap)}[/]")
    if check.wrong:
        console.print("[red]This is not what the answer key says[/]")
        return 1
    if not summary.complete:
        return 3
    console.print(f"[green]Exactly the {check.expected} minimal cuts of the answer key[/]")
    return 0


def _keep_open(boutique: Boutique, summary: CampaignSummary, key: bytes) -> None:
    from cutset.inject.local.playground import playground, serve_playground

    (port,) = free_ports(1)
    key_file = boutique.config_file.with_name("key")  # of this shop only, which ends with this process
    key_file.touch(mode=0o600)
    key_file.write_bytes(key)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"\nThe shop     {boutique.mesh.edge_url}")
    console.print(f"Break it     http://{HOST}:{port}/_cutset")
    console.print(f"Explore it   {KEY_VARIABLE}=$(cat {key_file}) cutset explore -c {boutique.config_file}")
    console.print(
        f"Harden it    {KEY_VARIABLE}=$(cat {key_file}) cutset harden -c {boutique.config_file} --apply local --verify"
    )
    console.print("Press Ctrl-C to stop")
    mesh = boutique.mesh
    points = frozenset(replace(point, replica="") for request in summary.requests for point in request.calls)
    app = playground(mesh.entry_url, points, key=key, environment=mesh.spec.environment)
    serve_playground(app, host=HOST, port=port)
