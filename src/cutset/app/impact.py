"""Measures what a fault at a rate does to a share of requests: live ones, a load of our own, or a recording."""

import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from cutset.app.bench import open_bench
from cutset.app.explore import mesh_beside
from cutset.app.guarding import guarded, shown_as_active
from cutset.app.impact_learning import KnownCalls, calls_of_flows, calls_of_requests, calls_of_users
from cutset.app.impact_live import live_traffic, markable_mesh, users_told_apart
from cutset.app.impact_subject import cut_of_named, faults_named, is_known
from cutset.app.traffic import read_flows
from cutset.config.explore import Config
from cutset.errors import InputError, PlanError, TargetError, UsageError
from cutset.experiment.gate import Gate
from cutset.experiment.mesh_checks import MeshSituation, mesh_checks
from cutset.experiment.preflight import preflight
from cutset.experiment.trial import Bench, new_trace_id, plan_for
from cutset.guards.settings import GuardSettings, where_users_are
from cutset.impact.driven import FLOW_STEP_SECONDS, MOST_UNDER_WAY, DrivenTraffic, User, driven, replaying, requesting
from cutset.impact.observe import observing
from cutset.impact.run import run_impact
from cutset.impact.settings import ImpactSettings
from cutset.impact.traffic import MarkedTraffic
from cutset.inject.signing import seal_of
from cutset.model.cluster import IstioPlace
from cutset.model.fault import BASELINE, Cut, Fault, format_cut
from cutset.model.impact import Group, ImpactEvent, ImpactStarted, ImpactWindow, Mark, TrafficSource
from cutset.model.run import Loop, RunStarted
from cutset.process.whom import user_at_host
from cutset.store.active import active_injections
from cutset.store.ledger import Ledger, open_ledger
from cutset.store.runs import fingerprint, impact_events, new_run
from cutset.workload.templates.template import Template

LOOKUPS = 8  # of traces in a server of the team's own, at once


@dataclass(frozen=True, slots=True)
class ImpactPlan:
    """What the user asked for."""

    parts: tuple[tuple[str, ...], ...]  # one run each: faults that happen together, as they are written
    traffic: TrafficSource = TrafficSource.LIVE
    recording: Path | None = None
    workflow: int = 0  # of which the parts are; 0: of none. What cannot be injected there is left out, with a note


@dataclass(frozen=True, slots=True)
class ImpactForecast:
    """What will happen to users, as far as their requests of the last seconds tell."""

    what: str
    per_second: float
    seconds: float
    marked: int
    faulted: int
    guards: GuardSettings


Approve = Callable[[ImpactForecast], Awaitable[None]]  # raises if it is not to happen


async def measure(
    config: Config,
    plan: ImpactPlan,
    *,
    key: bytes,
    store: Path,
    on_note: Callable[[str], None] = lambda _: None,
    approve: Approve | None = None,
) -> AsyncGenerator[ImpactEvent, None]:
    """Every event of the run, or of all runs of a workflow one after the other, each after it was recorded.

    The settings are those of the configuration. Raises HaltedError if a guard ends it, after the last event.
    """
    faults = [faults_named(part, config.impact) for part in plan.parts]  # before anything is opened
    flows = _flows(plan)
    _refuse_a_second_one(config, store)
    guards = where_users_are(config.guards) if plan.traffic is TrafficSource.LIVE else config.guards
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(guarded(store, guards, Loop.IMPACT, config.target.environment))
        mesh = mesh_beside(config)
        if plan.traffic is TrafficSource.LIVE:
            user, note = users_told_apart(config.impact.user, mesh, at_gateway=config.istio is not None)
            config = replace(config, impact=replace(config.impact, user=user))
            if note:
                on_note(note)
        wide = replace(config, limits=replace(config.limits, parallel=max(MOST_UNDER_WAY, config.limits.parallel)))
        bench = await stack.enter_async_context(open_bench(wide, key, mesh))
        bench = await _checked(bench, config, plan, mesh)
        if config.istio:
            await _drained(config.istio, on_note)
        bench.collector.subscribe(gate.spans_arrived)
        known = await _known(bench, config, plan, faults, flows)
        ledger = stack.enter_context(open_ledger(store, key=seal_of(key)))
        runs = _Runs(config, plan, bench, mesh, gate, known, ledger, flows, guards, on_note)
        first = ""
        for part in runs.cuts(faults):
            if approve and not first:
                await approve(runs.forecast(part))
            async with aclosing(runs.one(part, part_of=first)) as events:
                async for event in events:
                    first = first or (event.run if isinstance(event, RunStarted) else "")
                    yield event


def _flows(plan: ImpactPlan) -> Sequence[Template]:
    if plan.recording is None:
        return ()
    _, templates = read_flows(plan.recording)
    if not templates:
        raise InputError(
            f"The recording `{plan.recording}` has no request that can be sent again",
            hint="`cutset record show` says what is in it, and why it cannot be sent",
        )
    return templates


def _refuse_a_second_one(config: Config, store: Path) -> None:
    """Two faults at once in the requests of the same users: neither could be told from the other."""
    for other in active_injections(store):
        if other.loop == Loop.IMPACT and other.environment == config.target.environment:
            raise UsageError(
                f"The impact `{other.run}` of {other.by} is under way in `{other.environment}`: {other.what}",
                hint="Wait for it, or end it with `cutset halt`; `cutset status` shows it",
            )


async def _checked(bench: Bench, config: Config, plan: ImpactPlan, mesh: MeshSituation | None) -> Bench:
    """Raises TargetError if nothing can be measured. Requests of our own tell how soon spans arrive, too."""
    if plan.traffic is TrafficSource.LIVE and config.istio:
        from cutset.app.impact_istio import refuse_unmarkable  # noqa: PLC0415 -- loads the client of Kubernetes

        await refuse_unmarkable(config.istio, config.target.environment)
        found = await preflight(bench, config.requests, config.collector, mesh) if config.requests else None
        checks = list(found.wrong) if found else []
    elif plan.traffic is TrafficSource.LIVE:
        markable_mesh(mesh)
        checks = list(mesh_checks(mesh, bench.target, config.collector)) if mesh else []
        found = None
    elif config.requests:
        found = await preflight(bench, config.requests, config.collector, mesh)
        checks = list(found.wrong)
    else:
        checks, found = list(mesh_checks(mesh, bench.target, config.collector)) if mesh else [], None
    if fatal := [check for check in checks if check.fatal]:
        raise TargetError("; ".join(check.text for check in fatal), hint=fatal[0].remedy)
    return replace(bench, export_interval=found.export_interval) if found else bench


async def _drained(place: IstioPlace, on_note: Callable[[str], None]) -> None:
    from cutset.app.draining import wait_until_drained  # noqa: PLC0415 -- loads the client of Kubernetes

    await wait_until_drained(place, on_note)


async def _known(
    bench: Bench, config: Config, plan: ImpactPlan, faults: Sequence[Sequence[Fault]], flows: Sequence[Template]
) -> KnownCalls:
    if plan.traffic is TrafficSource.REPLAY:
        return await calls_of_flows(bench, flows, os.environ)
    # In a cluster, requests of users are not traced unless they are marked.
    watched = not config.collector.server and not (config.istio and config.requests)
    if plan.traffic is TrafficSource.LIVE and watched:
        wanted = [fault for part in faults for fault in part]
        try:
            return await calls_of_users(bench, lambda known: all(is_known(fault, known) for fault in wanted))
        except TargetError as error:
            if not config.istio:
                raise
            hint = "Without `install --trace-all` users' requests leave no spans: give `requests` in the configuration"
            raise TargetError(error.message, hint=hint) from None
    if not config.requests:  # a server is asked for traces by their ids, which only who sends knows
        raise UsageError(
            "Which calls there are cannot be learnt from users while spans are looked up in a server",
            hint="Give `requests` in the configuration: each is sent twice, without a fault",
        )
    return await calls_of_requests(bench, config.requests)


@dataclass(frozen=True, slots=True)
class _Runs:
    config: Config
    plan: ImpactPlan
    bench: Bench
    mesh: MeshSituation | None
    gate: Gate
    known: KnownCalls
    ledger: Ledger
    flows: Sequence[Template]
    guards: GuardSettings
    on_note: Callable[[str], None]

    @property
    def settings(self) -> ImpactSettings:
        return self.config.impact

    def cuts(self, parts: Sequence[Sequence[Fault]]) -> list[Cut]:
        """Of a workflow, those that can be injected; else the one that was named, or why it cannot be."""
        cuts = []
        for faults in parts:
            try:
                cut = cut_of_named(faults, self.known)
                plan_for(self.bench, cut, new_trace_id(), "1" * 16, seconds=1.0, catalogue=self.known.all)
            except (UsageError, PlanError) as error:
                if not self.plan.workflow:
                    raise
                self.on_note(f"left out: {error.message}")
                continue
            cuts.append(cut)
        if not cuts:
            raise UsageError(
                f"Nothing of workflow {self.plan.workflow} can be injected",
                hint="Services need a sidecar, and calls an agent at the caller: see `cutset doctor`",
            )
        return cuts

    def started(self, cut: Cut) -> ImpactStarted:
        return self.settings.started(
            cut,
            self.plan.traffic,
            entries=self._entries,
            workflow=self.plan.workflow,
            by=user_at_host(),
        )

    @property
    def _entries(self) -> tuple[str, ...]:
        sent = self.plan.traffic is TrafficSource.LOAD
        return tuple(request.name for request in self.config.requests) if sent else ()

    def forecast(self, cut: Cut) -> ImpactForecast:
        started, rate = self.started(cut), self.known.per_second
        before, during = (started.seconds[each] for each in (ImpactWindow.BEFORE, ImpactWindow.DURING))
        faulted = rate * sum(share * during for share in started.shares)
        return ImpactForecast(
            what=format_cut(cut),
            per_second=rate,
            seconds=before + during * len(started.shares),
            marked=round(2 * faulted + 2 * rate * started.shares[0] * before),
            faulted=round(faulted),
            guards=self.guards,
        )

    async def one(self, cut: Cut, *, part_of: str) -> AsyncGenerator[ImpactEvent, None]:
        started, gate, store = self.started(cut), self.gate, self.ledger.folder
        begun = RunStarted(
            loop=Loop.IMPACT,
            fingerprint=fingerprint(target=(self.config.target.url, self.config.target.environment)),
            command="impact",
            config=str(self.config.path or ""),
            part_of=part_of,
        )
        most = sum(started.seconds.values()) + started.seconds[ImpactWindow.DURING] * (len(started.shares) - 1)
        what = f"{format_cut(cut)} in {', then '.join(f'{100 * share:.3g} %' for share in started.shares)} of requests"
        slow, lookups = self.guards.latency or inf, LOOKUPS if self.config.collector.server else 0
        with new_run(self.ledger, begun) as run:
            active = shown_as_active(gate, store, run, what, until=time.time() + most, config=self.config.path)
            for event in impact_events(self.ledger, run):
                yield event
            with active:
                async with (
                    self._traffic(cut, started, run) as traffic,
                    observing(self.bench, cut, slow_seconds=slow, lookups=lookups) as observer,
                    aclosing(
                        run_impact(
                            run,
                            started,
                            traffic=traffic,
                            observer=observer,
                            ledger=self.ledger,
                            brake=gate.brake,
                            signs=gate.signs,
                            stop_when_decided=self.settings.stop_when_decided,
                        )
                    ) as events,
                ):
                    async for event in events:
                        yield event

    @asynccontextmanager
    async def _traffic(self, cut: Cut, started: ImpactStarted, run: str) -> AsyncIterator[MarkedTraffic]:
        def may_mark() -> bool:
            return self.gate.brake.pulled is None

        def on_mark(mark: Mark) -> None:
            self.gate.permit(format_cut(cut if mark.group is Group.FAULT else BASELINE), mark.trace_id, mark.group)

        if self.plan.traffic is TrafficSource.LIVE:
            async with self._live(started, run, may_mark, on_mark) as traffic:
                yield traffic
            return
        own = DrivenTraffic(
            self.bench,
            self._users(cut),
            cut,
            rate=self.settings.load,
            may_mark=may_mark,
            on_mark=on_mark,
            catalogue=self.known.all,
            on_note=self.on_note,
        )
        async with driven(own):
            yield own
            if own.left_out:
                self.on_note(f"{own.left_out} requests were left out: {MOST_UNDER_WAY} were under way already")

    def _live(
        self, started: ImpactStarted, run: str, may_mark: Callable[[], bool], on_mark: Callable[[Mark], None]
    ) -> AbstractAsyncContextManager[MarkedTraffic]:
        bench, known, place = self.bench, self.known, self.config.istio
        if not place:
            return live_traffic(bench, self.mesh, started, known, run, may_mark=may_mark, on_mark=on_mark)
        from cutset.app.impact_istio import gateway_traffic  # noqa: PLC0415 -- loads the client of Kubernetes

        return gateway_traffic(place, bench, started, known, run, may_mark=may_mark, on_mark=on_mark)

    def _users(self, cut: Cut) -> list[User]:
        if self.plan.traffic is TrafficSource.REPLAY:
            return [replaying(self.bench, flow, os.environ, seconds=FLOW_STEP_SECONDS) for flow in self.flows]
        return [requesting(self.bench, request, cut) for request in self.config.requests]
