"""Explores the requests of a configuration, and tries what was found again."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.app.bench import open_bench
from cutset.app.guarding import guarded, shown_as_active
from cutset.app.mesh import mesh_file_of, mesh_situation
from cutset.campaign.explore import explore as run_campaign
from cutset.config.explore import Config, request_named
from cutset.errors import CutsetError, TargetError, UsageError
from cutset.experiment.gate import Gate
from cutset.experiment.mesh_checks import MeshSituation
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.experiment.preflight import preflight
from cutset.inject.signing import seal_of
from cutset.model.event import CampaignEvent
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import format_cut
from cutset.model.finding import Finding, degradations_of, findings_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import Loop, RunStarted
from cutset.model.wording import count
from cutset.store.ledger import Ledger, open_existing_ledger, open_ledger
from cutset.store.runs import campaign_events, fingerprint, new_run, resumed_run, unfinished_run
from cutset.traces.collector import not_received

SHOWN_REQUESTS = 3  # names of them tell enough
UNSEEN = (
    "calls that services make without the context of a request are seen only if all requests are traced: "
    "`cutset install --trace-all`"
)


async def explore(
    config: Config,
    *,
    key: bytes,
    store: Path,
    resume: bool = False,
    command: str = "explore",
    part_of: str = "",
    on_note: Callable[[str], None] | None = None,
) -> AsyncGenerator[CampaignEvent, None]:
    """Every event of the campaign from its beginning on, each after it was recorded; the first one tells its id.

    `command` is what replays findings later: `cutset explore`, or `cutset demo` if the system ends with that.
    `on_note` is told what is worth knowing and keeps nothing from going on.
    """
    started = RunStarted(
        loop=Loop.CAMPAIGN,
        fingerprint=fingerprint_of(config),
        command=command,
        config=str(config.path) if config.path and command == "explore" else "",
        part_of=part_of,
    )
    settings = config.campaign  # refuses what does not go together before anything is sent
    async with AsyncExitStack() as stack:
        guards = guarded(store, config.guards, Loop.CAMPAIGN, config.target.environment)
        gate = await stack.enter_async_context(guards)
        ledger = stack.enter_context(open_ledger(store, key=seal_of(key)))
        if resume:
            unfinished_run(ledger, started)  # raises before anything is sent, if there is none
        laboratory = await stack.enter_async_context(open_laboratory(config, key, on_note, gate))
        run = stack.enter_context((resumed_run if resume else new_run)(ledger, started))
        until = time.time() + 60 * config.limits.minutes if config.limits.minutes else 0.0
        stack.enter_context(shown_as_active(gate, store, run, tried_in(config), until=until, config=config.path))
        for event in campaign_events(ledger, run):
            yield event
        settings = replace(settings, replicas=laboratory.replicas or settings.replicas)
        campaign = run_campaign(run, config.requests, laboratory, ledger, settings)
        async with aclosing(campaign) as events:
            async for event in events:
                yield event


def fingerprint_of(config: Config) -> dict[str, str]:
    """Of what outcomes depend on. Limits may change between an interruption and the resumption."""
    return fingerprint(
        requests=config.requests,
        effects=config.effects,
        points=config.points,
        target=(config.target.url, config.target.environment, *sorted(config.target.stores.items())),
    )


def tried_in(config: Config) -> str:
    """For whoever asks what is being injected."""
    effects = ", ".join(map(str, config.effects.all))
    names = [request.name for request in config.requests]
    shown = ", ".join(names[:SHOWN_REQUESTS]) + (", …" if len(names) > SHOWN_REQUESTS else "")
    return f"cuts of up to {count(config.campaign.max_size, 'fault')} ({effects}) in requests of our own: {shown}"


@asynccontextmanager
async def open_laboratory(
    config: Config, key: bytes, on_note: Callable[[str], None] | None = None, gate: Gate | None = None
) -> AsyncIterator[MeshLaboratory]:
    """Raises TargetError if a check-up before any experiment finds that none can be made. All that is injected passes
    the gate.
    """
    mesh = mesh_beside(config)
    async with open_bench(config, key, mesh) as bench:
        if on_note and (deaf := bench.collector.not_received):
            on_note(f"{not_received(deaf)}; `collector` in the configuration takes others")
        if on_note and (config.istio or config.collector.server):
            on_note(UNSEEN)
        found = await preflight(bench, config.requests, config.collector, mesh)
        if fatal := [check for check in found.wrong if check.fatal]:
            raise TargetError("; ".join(check.text for check in fatal), hint=fatal[0].remedy)
        if config.istio:
            from cutset.app.draining import wait_until_drained  # noqa: PLC0415 -- loads the client of Kubernetes

            await wait_until_drained(config.istio, on_note)
        measured = replace(bench, export_interval=found.export_interval, gate=gate)
        if gate:
            bench.collector.subscribe(gate.spans_arrived)
        limits = config.limits
        yield MeshLaboratory(
            measured,
            repeats=limits.failures_needed,
            flake_rate=limits.flake_rate,
            trials=limits.trials,
            answered=found.answered,
            keep_answers=config.keep_answers,
        )


def mesh_beside(config: Config) -> MeshSituation | None:
    """The mesh of the configuration, or of the `mesh.yaml` beside it."""
    with suppress(CutsetError):  # a file that nobody named may be anything
        if config.path and (file := mesh_file_of(config.path)):
            return mesh_situation(file)
    return None


@dataclass(frozen=True, slots=True)
class Retrial:
    """A finding, and what came of it now."""

    finding: Finding
    outcome: Outcome
    faulted: EvidenceKept | None = None  # of a request that failed again, or was degraded
    healthy: EvidenceKept | None = None  # of one without the fault


async def replay_finding(config: Config, finding_id: str, *, key: bytes, store: Path) -> Retrial:
    with open_existing_ledger(store) as ledger:
        finding = find_finding(ledger, finding_id)
    request = request_named(finding.request, config.requests)
    async with (
        guarded(store, config.guards, Loop.CAMPAIGN, config.target.environment) as gate,
        open_laboratory(config, key, gate=gate) as laboratory,
    ):
        with shown_as_active(gate, store, f"replay-{finding.id}", format_cut(finding.cut), config=config.path):
            audited = await laboratory.audit(request)
            if not audited.healthy:
                return Retrial(finding, Outcome(finding.cut, Verdict.UNKNOWN, audited.reason))
            healthy = laboratory.evidence(audited.trace_ids)
            outcome = await laboratory.run(request, finding.cut)
            return Retrial(finding, outcome, laboratory.evidence(outcome.trace_ids), healthy)


def find_finding(ledger: Ledger, finding_id: str) -> Finding:
    """A cut that fails or degrades a request, in all campaigns, also in those that verified a hardening."""
    known: dict[str, Finding] = {}
    for run in ledger.runs(Loop.CAMPAIGN):
        events = campaign_events(ledger, run.id)
        known |= {finding.id: finding for finding in (*degradations_of(events), *findings_of(events))}
    if finding_id not in known:
        raise UsageError(f"There is no finding `{finding_id}`", hint="`cutset report` lists them")
    return known[finding_id]
